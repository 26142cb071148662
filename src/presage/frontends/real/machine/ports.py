"""The ports of one transport in one process: who holds which, and which is free.

Two sockets may hold one port if their addresses differ, or if both said that they may
(`SO_REUSEADDR`, `SO_REUSEPORT`), by the rules of Linux. A port that nobody names is the next of a
row. The row of each life begins elsewhere: a process that restarts uses fresh ports.
"""

from __future__ import annotations

import errno
import socket
from typing import Generic, Protocol, TypeVar

from presage.frontends.real.machine.descriptors import failure
from presage.frontends.real.machine.inet import overlap
from presage.frontends.real.machine.packets import Address

LOWEST, COUNT = 32_768, 28_232  # the row, as Linux has it
STRIDE = 512  # ports between the first of two lives


class Holder(Protocol):
    """A socket that may hold a port."""

    local: Address

    @property
    def only6(self) -> bool: ...

    def flag(self, option: int) -> bool: ...

    def is_listening(self) -> bool: ...


H = TypeVar("H", bound=Holder)


class Ports(Generic[H]):
    """Who holds which port."""

    def __init__(self, life: int, *, shared: bool) -> None:
        self.holders: dict[int, list[H]] = {}
        self.next = (life * STRIDE) % COUNT
        self._shared = shared  # UDP: holders that listen may share a port, too

    def hold(self, holder: H, host: str, port: int) -> None:
        """Give a port to `holder`, any free one if `port` is 0."""
        if not port:
            port = self._free(holder, host)
        elif self._is_taken(holder, host, port):
            raise failure(errno.EADDRINUSE)
        holder.local = (host, port)
        self.holders.setdefault(port, []).append(holder)

    def drop(self, holder: H) -> None:
        """Let go of its port."""
        held = self.holders.get(holder.local[1])
        if held is not None and holder in held:
            held.remove(holder)
            if not held:
                del self.holders[holder.local[1]]

    def at(self, port: int) -> list[H]:
        return self.holders.get(port, [])

    def _free(self, holder: H, host: str) -> int:
        for _ in range(COUNT):
            port = LOWEST + self.next
            self.next = (self.next + 1) % COUNT
            if port not in self.holders:
                return port
        raise failure(errno.EADDRINUSE)

    def _is_taken(self, holder: H, host: str, port: int) -> bool:
        return any(self.conflict(holder, host, other) for other in self.at(port))

    def conflict(self, holder: H, host: str, other: H) -> bool:
        """Whether `other` keeps `holder` from its port."""
        if other is holder or not overlap(host, holder.only6, other.local[0], other.only6):
            return False
        if holder.flag(socket.SO_REUSEPORT) and other.flag(socket.SO_REUSEPORT):
            return False
        both = holder.flag(socket.SO_REUSEADDR) and other.flag(socket.SO_REUSEADDR)
        return not (both and (self._shared or not other.is_listening()))
