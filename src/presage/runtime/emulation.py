"""A worse network than there is: what leaves a node leaves later, or not at all.

Delay, jitter, loss and rate are computed by `shaping`, as for nodes on a virtual clock. What was
written to a connection is never written to a later one: links send again what was lost.
"""

from __future__ import annotations

import asyncio

from presage.runtime.cluster import Emulated
from presage.runtime.frame import HEADER
from presage.runtime.shaping import Shaper
from presage.runtime.wire import Wire

APART = 1e-7  # seconds between two writes


class Emulation:
    """The wire of one node, seen through a network that is emulated."""

    def __init__(self, wire: Wire, emulated: Emulated) -> None:
        self._wire = wire
        self._name = wire.hello.name
        self._shaper = Shaper(emulated.shape(), emulated.seed)
        self._round_trip = emulated.rtt_ms / 1000
        self._last: dict[str, float] = {}  # when what was written last arrives
        self._loop = asyncio.get_running_loop()

    def open(self, peer: str) -> None:
        """Open a connection, one round trip later."""
        self._loop.call_later(self._round_trip, self._wire.dial, peer)

    def write(self, peer: str, data: bytes) -> None:
        """Write whole frames to the connection that there is now, when they would arrive."""
        write = self._wire.writer(peer)
        if write is not None:
            now = self._loop.time()
            arrives = self._shaper.stream(self._name, peer, len(data), now)
            # A loop calls what is due at one moment in any order.
            arrives = self._last[peer] = max(arrives, self._last.get(peer, 0.0) + APART)
            self._loop.call_at(arrives, write, data)

    def send(self, peer: str, number: int, sequence: int, body: bytes) -> None:
        """Send a datagram, unless it is lost."""
        now, size = self._loop.time(), HEADER.size + len(body)
        arrives = self._shaper.datagram(self._name, peer, size, now)
        if arrives is not None:
            self._loop.call_at(arrives, self._wire.send, peer, number, sequence, body)
