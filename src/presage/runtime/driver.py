"""The loop of one node: what its sockets see goes to the host, what the host lets leave to them.

All that happens in one turn of the event loop shares one `turn` of the host, and so one write to
disk. The next turn is at the node's next timer, if nothing happens before.

Reading from a peer pauses while the head of its stream waits for a guard. Where queues are bounded,
as many messages as fit into one are read first: acknowledgements come behind them.

Invariant: `turn` runs after everything that may have changed what the node can do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from presage.runtime.cluster import Cluster
from presage.runtime.emulation import Emulation
from presage.runtime.frame import BadFrame, Frame, Hello, Kind, Messages, encode, hello, pack
from presage.runtime.host import Host
from presage.runtime.listening import Sockets
from presage.runtime.node import LiveNode
from presage.runtime.step import Reply
from presage.runtime.wire import Wire
from presage.search.checkpoint.code_digest import Definition

OUTBOX_MAX = 16 << 20  # bytes that a peer has not acknowledged
INBOX_MAX = 1024  # messages of one peer that were read and not handled
TAKEN = (Kind.MESSAGE, Kind.ALIVE, Kind.LIFE)
ABOUT_CHECKPOINTS = (Kind.GATHER, Kind.CHECKPOINT, Kind.PATH)


class StreamHost(Host):
    """A host whose connections end by a reset when a handler closes a stream.

    The peer then loses what is under way, and hears of the end even where it does not read.
    """

    def __init__(self, make: Callable[[Host], LiveNode], driver: Driver) -> None:
        self._closed: list[str] = []
        self._driver = driver
        super().__init__(make, driver)
        self._decode = self.node.automaton.codec.decode_plain

    def close(self, to: str) -> None:
        link = self.links.get(to)
        life = link.life if link is not None else 0
        super().close(to)
        if link is not None and link.life != life:
            self._closed.append(to)

    def release(self) -> None:
        while self._closed:
            self._driver.wire.reset(self._closed.pop())
        super().release()


class Driver:
    """The `Carrier` of a host, and what is near to a wire."""

    def __init__(
        self,
        make: Callable[[Host], LiveNode],
        cluster: Cluster,
        say: Callable[[str], None],
    ) -> None:
        self.host = StreamHost(make, self)
        self.messages = self.host.messages
        self.node = self.host.node
        self.failure: str | None = None
        self.ended = asyncio.Event()  # the node has failed
        self._cluster = cluster
        self._say = say
        self._loop = asyncio.get_running_loop()
        self.wire: Wire  # once the node has booted
        self._emulated: Emulation | None = None
        self._soon = False
        self._turning = False
        self._eager = not (self.node.automaton.durables or self.node.automaton.disks)
        self._closed = False
        self._alarm: asyncio.TimerHandle | None = None
        self._rings_at = 0.0  # by the node's clock
        streams = self.node.system.streams
        self._room = (streams and streams.queue_size) or 1

    async def start(self, definition: Definition, sockets: Sockets) -> None:
        """Boot the node, then let peers connect."""
        self.host.boot()
        said = hello(self.node.name, definition, self.node.life)
        self.wire = Wire(said, self._cluster, self, self._say, sockets)
        if self._cluster.shape is not None:
            self._emulated = Emulation(self.wire, self._cluster.shape)
        await self.wire.start()
        self.schedule()

    def close(self) -> None:
        """Reset all connections; what was not flushed is lost, and no step follows."""
        self._closed = True
        if self._alarm is not None:
            self._alarm.cancel()
        if hasattr(self, "wire"):
            self.wire.close()

    # -- turns -------------------------------------------------------------------------------

    def schedule(self) -> None:
        """Let there be a turn when all that is ready now was looked at."""
        if not self._soon:
            self._soon = True
            self._loop.call_soon(self._planned)

    def settle(self) -> None:
        """What one read brought was passed on.

        A node that keeps nothing on disk has its turn at once; for others, all that the loop has
        read shares one turn, and so one write to disk.
        """
        if self._eager and not self._turning:
            self._turn()
        else:
            self.schedule()

    def _planned(self) -> None:
        self._soon = False
        self._turn()

    def _turn(self) -> None:
        if self._closed:
            return
        self._turning = True
        try:
            again = self.host.turn()
            if self.wire.paused:
                self.wire.resume()
        finally:
            self._turning = False
        if again is not None and (self._alarm is None or again < self._rings_at):
            self._wake(again)  # an alarm that is too early costs a turn; most never are

    def _wake(self, again: float) -> None:
        """Let there be a turn at that time of the node's clock."""
        wait = again - self.node.clock.now()
        if wait <= 0:
            self.schedule()
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._rings_at = again
        self._alarm = self._loop.call_later(wait, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self.schedule()

    # -- what the wire tells -----------------------------------------------------------------

    def attached(self, peer: str, said: Hello) -> None:
        self.host.attached(peer)
        self.schedule()

    def lost(self, peer: str) -> None:
        self.host.lost(peer)
        self.schedule()

    def refused(self, peer: str) -> None:
        self.host.refused(peer)
        self.schedule()

    def frame(self, peer: str, frame: Frame) -> None:
        kind = frame.kind
        if kind not in TAKEN and (self.host.companion is None or kind not in ABOUT_CHECKPOINTS):
            raise BadFrame(f"`{kind.name.lower()}` is of no use here")
        self.host.frame(peer, frame)

    def caught(self, peer: str, frame: Frame) -> None:
        if frame.kind not in (Kind.MESSAGE, Kind.DATAGRAM):
            self.frame(peer, frame)
            self.schedule()
            return
        try:
            self.host.datagram(peer, frame)
        except ValueError as error:
            raise BadFrame(f"a message cannot be read: {error}") from None
        self.schedule()

    def room(self, peer: str) -> int:
        host = self.host
        link = host.links.get(peer)
        waiting = len(link.inbox) if link is not None else 0
        return (self._room if host.waits(peer) else INBOX_MAX) - waiting

    def sign(self, peer: str) -> bytes:
        link = self.host.links[peer]
        return pack(Kind.ALIVE, self.host.numbers.number, link.life, link.handled)

    def look(self) -> None:
        """Give up peers for which too much is queued."""
        for peer, link in list(self.host.links.items()):
            if peer != self.node.name and sum(map(len, link.log)) > OUTBOX_MAX:
                self._overflow(peer)

    # -- what the host lets leave ------------------------------------------------------------

    def open(self, peer: str) -> None:
        if self._emulated is None:
            self.wire.dial(peer)
        else:
            self._emulated.open(peer)

    def write(self, peer: str, frames: Sequence[Frame | Messages]) -> None:
        data = encode(frames[0]) if len(frames) == 1 else b"".join(map(encode, frames))
        if self._emulated is not None:
            self._emulated.write(peer, data)
        elif self.wire.write(peer, data) > OUTBOX_MAX:
            self._loop.call_soon(self._overflow, peer)

    def datagram(self, peer: str, frame: Frame) -> None:
        if peer == self.node.name:
            self._loop.call_soon(self.caught, peer, frame)
        elif self._emulated is not None:
            self._emulated.send(peer, frame.number, frame.handled, frame.body)
        else:
            self.wire.send(peer, frame.number, frame.handled, frame.body)

    def replied(self, request: Any, reply: Reply) -> None:
        if isinstance(request, asyncio.Future) and not request.done():
            request.set_result(reply)

    def failed(self, failure: str) -> None:
        self.failure = failure
        self.ended.set()

    def garbled(self, peer: str, reason: str) -> None:
        """The head of a stream is no message: its connection is reset, after this turn."""
        self._loop.call_soon(self._garbled, peer, reason)

    # ----------------------------------------------------------------------------------------

    def _garbled(self, peer: str, reason: str) -> None:
        self.wire.blame(peer, f"a message cannot be read: {reason}")
        self.wire.reset(peer)

    def _overflow(self, peer: str) -> None:
        self.wire.blame(peer, f"it does not handle messages: more than {OUTBOX_MAX:,} bytes wait")
        self.wire.reset(peer)
        self.refused(peer)
