"""Real sockets: one TCP connection per pair of nodes, and datagrams by UDP.

Which of two connections stays when both ends open one at once is decided by names: that of the
smaller. A process that has started anew is a later one, and its connection replaces what is left
of the earlier one's. A peer that is silent for three signs of life is gone.

With certificates, datagrams travel on the connection, since UDP could not prove who sent them. If
there is none they are lost, as datagrams may be.

Invariant: at most one connection per peer is in use, and the node hears of its end exactly once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from presage.runtime.cluster import Cluster
from presage.runtime.connection import DUPLICATE, Connection
from presage.runtime.frame import (
    BadFrame,
    Frame,
    Hello,
    Kind,
    Messages,
    pack,
    read_datagram,
    refusal,
    short_digest,
)
from presage.runtime.listening import Sockets
from presage.runtime.tls import Contexts, names_of

STRANGERS_MAX = 64  # connections that have not said hello
DIAL_PATIENCE = 5.0  # seconds until a peer must have answered
AGAIN = 0.05  # seconds after which a connection is asked for again
AGAIN_MAX = 100  # times
SIGNS_MISSED = 3  # of life
WATCH_EVERY = 0.05  # seconds, for connections that are not read from
COMPLAIN_EVERY = 60.0  # seconds, per peer
READ_MAX = 1 << 16  # bytes that one read brings


class Near(Protocol):
    """Who makes use of the wire."""

    def attached(self, peer: str, said: Hello) -> None:
        """There is a connection to `peer` now."""

    def lost(self, peer: str) -> None:
        """The connection to `peer` is gone."""

    def refused(self, peer: str) -> None:
        """`peer` cannot be reached."""

    def frame(self, peer: str, frame: Frame) -> None:
        """A frame of `peer`; raises `BadFrame` if it means nothing."""

    def messages(self, peer: str, messages: Messages) -> None:
        """Messages of `peer`, in a row."""

    def settle(self) -> None:
        """All frames that one read brought were given."""

    def caught(self, peer: str, frame: Frame) -> None:
        """A datagram of `peer`; raises `BadFrame` if it means nothing."""

    def room(self, peer: str) -> int:
        """How many more frames of `peer` can be taken for now; not more than none: no matter."""

    def sign(self, peer: str) -> bytes:
        """A frame that says nothing but that this node is alive."""

    def look(self) -> None:
        """Called now and then, to give up what cannot go on."""


class Wire:
    """All sockets of one node."""

    def __init__(
        self,
        hello: Hello,
        cluster: Cluster,
        near: Near,
        say: Callable[[str], None],
        sockets: Sockets,
    ) -> None:
        self.hello = hello
        self.messages = near.messages
        self.settle = near.settle
        self.room = near.room
        self.reading = memoryview(bytearray(READ_MAX))
        self.frame_max = cluster.live.frame_max
        self.keep_alive = cluster.live.keep_alive
        self.bad = 0  # frames and datagrams that meant nothing
        self.paused: set[Connection] = set()  # those that are not read from, for now
        self.bytes_read = 0
        self.bytes_written = 0
        self.dismissed = 0  # connections that were not accepted
        self._cluster = cluster
        self._sockets = sockets
        self._near = near
        self._say = say
        self._complained: dict[str, float] = {}
        self._open: dict[str, Connection] = {}
        self._strangers: dict[Connection, None] = {}  # in the order in which they came
        self._dialling: dict[str, Connection] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._attempts: dict[str, int] = {}
        self._peers = {
            (each.host, each.port): name
            for name, each in cluster.nodes.items()
            if name != hello.name
        }
        self._tls = Contexts(cluster, hello.name) if cluster.tls is not None else None
        self._digest = short_digest(hello.definition)
        self._server: asyncio.Server | None = None
        self._datagrams: asyncio.DatagramTransport | None = None
        self._signs: asyncio.TimerHandle | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._closed = False

    async def start(self) -> None:
        """Accept connections and datagrams."""
        loop = asyncio.get_running_loop()
        tls = self._tls.server if self._tls else None
        sockets = self._sockets
        self._server = await loop.create_server(self._stranger, sock=sockets.stream, ssl=tls)
        if tls is None:
            self._datagrams, _ = await loop.create_datagram_endpoint(
                lambda: _Datagrams(self), sock=sockets.datagrams
            )
        self._signs = loop.call_later(self.keep_alive, self._give_signs)

    def close(self) -> None:
        """Reset everything."""
        self._closed = True
        for timer in (self._signs, self._watch):
            if timer is not None:
                timer.cancel()
        for task in self._tasks:
            task.cancel()
        if self._server is not None:
            self._server.close()
        if self._datagrams is not None:
            self._datagrams.close()
        self._sockets.close()
        for connection in [*self._open.values(), *self._strangers, *self._dialling.values()]:
            connection.reset("the node ends")

    # -- what the node does ------------------------------------------------------------------

    def dial(self, peer: str) -> None:
        """Open a connection to `peer`, unless one is open or under way."""
        if peer not in self._open and peer not in self._dialling and not self._closed:
            connection = self._dialling[peer] = Connection(self, opener=True, peer=peer)
            task = asyncio.get_running_loop().create_task(self._dial(peer, connection))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def write(self, peer: str, data: bytes) -> int:
        """Send bytes of whole frames, lost if there is no connection; how many wait to leave."""
        connection = self._open.get(peer)
        self.bytes_written += len(data)
        return 0 if connection is None else connection.write(data)

    @property
    def connected(self) -> int:
        """How many peers are connected."""
        return len(self._open)

    def writer(self, peer: str) -> Callable[[bytes], int] | None:
        """Writes to the connection that there is now, and to no later one."""
        connection = self._open.get(peer)
        return None if connection is None else connection.write

    def reset(self, peer: str) -> None:
        """End the connection to `peer`, if there is one, with all that is under way."""
        if connection := self._open.get(peer):
            connection.reset("closed")

    def resume(self) -> None:
        """Take frames again of those whose frames the node can take."""
        paused, self.paused = self.paused, set()
        for connection in paused:
            connection.advance()
        if self.paused and self._watch is None:
            loop = asyncio.get_running_loop()
            self._watch = loop.call_later(WATCH_EVERY, self._look_at_paused)

    def _look_at_paused(self) -> None:
        """Who does not read from a connection does not hear of its end, unless it asks."""
        self._watch = None
        for connection in list(self.paused):
            if connection.is_over():
                connection.reset("closed by the peer")
        self.resume()

    def blame(self, peer: str, reason: str) -> None:
        """Count what a peer did wrong, and say so, not too often."""
        self.bad += 1
        self._complain(peer, reason)

    def send(self, peer: str, number: int, sequence: int, body: bytes) -> None:
        """One datagram: `number` is that of checkpoints, `sequence` its own."""
        life = self.hello.life
        if self._tls is not None:
            self.write(peer, pack(Kind.DATAGRAM, number, life, sequence, body))
            self.dial(peer)
        elif self._datagrams is not None:
            address = self._cluster.nodes[peer]
            data = pack(Kind.MESSAGE, number, life, sequence, body, self._digest)
            self._datagrams.sendto(data, (address.host, address.port))

    # -- what connections tell ---------------------------------------------------------------

    def greeted(self, connection: Connection, said: Hello) -> str | None:
        """Accept a peer that is known, runs the same, and has no better connection."""
        refused = self._refusal(connection, said)
        if refused is not None:
            self.dismissed += 1
            if refused != DUPLICATE:
                self._complain(said.name, refused)
            return refused
        self._strangers.pop(connection, None)
        if current := self._open.get(said.name):
            current.reset("replaced")
        dialled = self._dialling.pop(said.name, None)
        if dialled is not None and dialled is not connection:
            dialled.reset("not wanted any more")
        self._open[said.name] = connection
        self._attempts.pop(said.name, None)
        connection.accept(said)
        self._near.attached(said.name, said)
        return None

    def _refusal(self, connection: Connection, said: Hello) -> str | None:
        mine, peer = self.hello, said.name
        if peer not in self._cluster.nodes or peer == mine.name:
            return "no other node of this cluster has that name"
        if connection.peer not in (None, peer):
            return f"`{peer}` answers at the address of `{connection.peer}`"
        if differs := refusal(mine, said):
            return differs
        if self._tls is not None and peer not in names_of(connection.certificate() or {}):
            return f"the certificate is not that of `{peer}`"
        current = self._open.get(peer)
        if current is None or current.said is None:
            rivals = not connection.opener and peer in self._dialling
            return DUPLICATE if rivals and mine.name < peer else None
        if said.life < current.said.life:
            return "a later process of that node is connected"
        same = said.life == current.said.life
        return DUPLICATE if same and self._yields(connection, current) else None

    def _yields(self, newer: Connection, current: Connection) -> bool:
        """Whether a second connection to the same process goes."""
        return newer.opener or (current.opener and self.hello.name < str(current.peer))

    def passed(self, connection: Connection, frame: Frame) -> None:
        """Hand a frame to the node."""
        peer, kind = connection.peer, frame.kind
        assert peer is not None, "it has said hello"
        if kind is Kind.DATAGRAM:
            self._near.caught(peer, frame)
        elif kind is Kind.HELLO or kind is Kind.BYE:
            raise BadFrame(f"`{kind.name.lower()}` in the middle of a connection")
        else:
            self._near.frame(peer, frame)

    def ended(self, connection: Connection, reason: str) -> None:
        """A connection is gone."""
        self._strangers.pop(connection, None)
        peer = connection.peer
        if peer is not None and self._open.get(peer) is connection:
            del self._open[peer]
            self._near.lost(peer)
        elif peer is not None and self._dialling.get(peer) is connection:
            self._unanswered(peer, reason)

    def faulty(self, connection: Connection, reason: str) -> None:
        """Bytes came in that mean nothing."""
        self.blame(connection.peer or "a stranger", reason)

    # -- connections -------------------------------------------------------------------------

    def _stranger(self) -> Connection:
        connection = Connection(self, opener=False)
        self._strangers[connection] = None
        if len(self._strangers) > STRANGERS_MAX:
            next(iter(self._strangers)).reset("too many strangers")
        return connection

    async def _dial(self, peer: str, connection: Connection) -> None:
        address = self._cluster.nodes[peer]
        try:
            async with asyncio.timeout(DIAL_PATIENCE):
                await asyncio.get_running_loop().create_connection(
                    lambda: connection,
                    address.host,
                    address.port,
                    ssl=self._tls.client if self._tls else None,
                )
        except (OSError, TimeoutError) as error:
            if self._dialling.get(peer) is connection:
                self._unanswered(peer, str(error) or "no answer")
            return
        if self._dialling.get(peer) is not connection and connection.said is None:
            connection.reset("not wanted any more")

    def _unanswered(self, peer: str, reason: str) -> None:
        """A peer did not accept a connection, or cannot be reached."""
        del self._dialling[peer]
        if self._closed:
            return
        attempts = self._attempts[peer] = self._attempts.get(peer, 0) + 1
        if reason == DUPLICATE and attempts < AGAIN_MAX:
            asyncio.get_running_loop().call_later(AGAIN, self.dial, peer)
            return
        self._attempts.pop(peer, None)
        self._near.refused(peer)

    def _give_signs(self) -> None:
        """Show every peer that this node is alive, and give up those that do not."""
        loop, every = asyncio.get_running_loop(), self.keep_alive
        self._signs = loop.call_later(every, self._give_signs)
        self._near.look()
        for peer, connection in list(self._open.items()):
            if connection.look() >= SIGNS_MISSED:
                connection.reset("silent for too long")
            elif not connection.wrote and not connection.stuck:
                connection.write(self._near.sign(peer))
            connection.wrote = False

    def _complain(self, peer: str, reason: str) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._complained.get(peer, -COMPLAIN_EVERY) < COMPLAIN_EVERY:
            return
        if len(self._complained) > STRANGERS_MAX:  # names that strangers made up
            self._complained.clear()
        self._complained[peer] = now
        self._say(f"{peer!r:.80}: {reason}")

    # -- datagrams ---------------------------------------------------------------------------

    def arrived(self, data: bytes, source: Any) -> None:
        """A datagram came by UDP."""
        peer = self._peers.get(source[:2])
        try:
            if peer is None:
                raise BadFrame("a datagram of a stranger")
            frame = read_datagram(data)
            if frame.flags != self._digest:
                raise BadFrame("a datagram of another definition of the system")
            self._near.caught(peer, frame)
        except BadFrame as error:
            self.blame(peer or str(source[0]), str(error))


class _Datagrams(asyncio.DatagramProtocol):
    """The UDP socket of a node."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._wire.arrived(data, addr)

    def error_received(self, exc: Exception) -> None:
        """The peer's port is closed: its datagrams are lost, and nobody hears of it."""
