"""TCP: connections made of segments, each of which is one event of the network.

`connect` sends `syn`; the listener's kernel answers `ack` or `rst` when the segment comes, whether
or not the program has called `accept`. One `send` is one segment. What arrives is kept until it is
read. `close` sends `fin`, or `rst` if something was not read. Segments for nobody are answered by
`rst`, so a connection of an older life ends as it does with a real kernel. But an `ack` for nobody
is answered by `fin`: the listener's program may have seen the connection already, which a real one
sees only if the other end still wanted it; so it is as if that had closed it just afterwards.

Flow control is always on: after 64 segments or 64 KiB in one step the socket is not writable. It is
again after the own event `drained`; so a program that writes for ever does leave its step.

Not modelled: acknowledgements beyond the first, urgent data, and TIME_WAIT, which would need a
kernel that outlives its process.
"""

from __future__ import annotations

import errno
import socket
import struct
from collections import deque
from typing import TYPE_CHECKING, Any

from presage.frontends.real.machine.descriptors import ERR, HUP, RDHUP, READABLE, WRITABLE, failure
from presage.frontends.real.machine.endpoints import PEEK, Endpoint
from presage.frontends.real.machine.inet import InetEnd
from presage.frontends.real.machine.names import LOOPBACKS
from presage.frontends.real.machine.packets import Flow, Kind, Segment

if TYPE_CHECKING:
    from presage.frontends.real.machine.stack import Stack

SEGMENTS_MAX, BYTES_MAX = 64, 65_536  # of one socket in one step
BACKLOG_MAX = 4096

CLOSED, LISTENING, CONNECTING, OPEN = "closed", "listening", "connecting", "open"
FAILED = "failed"
SHUTS = {
    (True, False): socket.SHUT_RD,
    (False, True): socket.SHUT_WR,
    (True, True): socket.SHUT_RDWR,
}


class StreamEnd(InetEnd):
    """The kernel's side of a TCP socket."""

    __slots__ = (
        "_bytes",
        "_segments",
        "_step",
        "backlog",
        "bound",
        "choked",
        "fin_received",
        "flow",
        "held",
        "inbox",
        "phase",
        "queue",
        "state",
        "waiting",
    )

    def __init__(self, stack: Stack, family: int = socket.AF_INET) -> None:
        super().__init__(stack, family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self.bound = ""  # how it got its port: "named" or "given"
        self.state = CLOSED
        self.phase = CLOSED  # what `connect` says of it: closed, connecting, open, failed
        self.flow: Flow | None = None  # while the stack knows it as a connection
        self.inbox = bytearray()
        self.held: deque[bytes] = deque()  # pieces that are still under way
        self.fin_received = False
        self.backlog = 0
        self.queue: deque[StreamEnd] = deque()  # connections that nobody has accepted
        self.waiting: deque[Flow] = deque()  # requests for which the queue has no room
        self.choked = False
        self._step = self._segments = self._bytes = 0

    # What callers ask before they do something.

    def is_listening(self) -> bool:
        return self.state is LISTENING

    def is_connecting(self) -> bool:
        return self.state is CONNECTING

    def is_orphan(self) -> bool:
        """Closed by its program; the kernel finishes it."""
        return not self.refs

    def mask(self) -> int:
        if self.state is LISTENING:
            return READABLE if self.queue else 0
        ended = self.read_shut or self.fin_received
        mask = HUP if self.state is CLOSED or (ended and self.write_shut) else 0
        if ended:
            mask |= READABLE | RDHUP
        if self.state is not CONNECTING:
            if self.inbox:
                mask |= READABLE
            if self.write_shut or self._room():
                mask |= WRITABLE
        return mask | ERR if self.error else mask

    def can_read(self) -> bool:
        return self.state is LISTENING or super().can_read()

    def can_write(self) -> bool:
        return self.state is LISTENING or super().can_write()

    def can_accept(self) -> bool:
        return self.state is not LISTENING or bool(self.queue)

    def _room(self) -> int:
        """Bytes that a send may take now."""
        if self.choked:
            return 0
        if self.flow is not None and self.stack.is_direct(self.flow):
            peer = self.stack.connections.get(reverse(self.flow))
            return BYTES_MAX - len(peer.inbox) if peer is not None else BYTES_MAX
        if self._step != self.stack.process.steps:
            self._step, self._segments, self._bytes = self.stack.process.steps, 0, 0
        return BYTES_MAX - self._bytes if self._segments < SEGMENTS_MAX else 0

    # What programs do.

    def bind(self, address: Any) -> None:
        if self.bound:
            raise failure(errno.EINVAL)
        self.stack.bind(self, address)
        self.bound = "named" if address[1] else "given"

    def _autobind(self) -> None:
        if not self.bound:
            self.bind((self.local[0], 0))

    def listen(self, backlog: int) -> None:
        if self.state not in (CLOSED, LISTENING) or self.phase is not CLOSED:
            raise failure(errno.EINVAL)
        self._autobind()
        self.stack.may_listen(self)
        self.backlog = min(max(backlog, 0), BACKLOG_MAX)
        self.state = LISTENING

    def accept(self) -> tuple[Endpoint, Any]:
        if self.state is not LISTENING:
            raise failure(errno.EINVAL)
        if not self.queue:
            raise failure(errno.EAGAIN)
        made = self.queue.popleft()
        made.refs -= 1
        if self.waiting:
            self._admit(self.waiting.popleft())
        return made, made.remote

    def connect(self, address: Any) -> bool:
        if self.phase is OPEN or self.state is LISTENING:
            raise failure(errno.EISCONN)
        if self.state is CONNECTING:
            raise failure(errno.EALREADY)
        if self.phase is FAILED:
            raise failure(errno.EINVAL)
        if self.phase is CONNECTING:
            return self._connected()
        host, port = address
        host = LOOPBACKS.get(host, host)
        self.stack.route(host, port)
        self.settle(host)
        self._autobind()
        self.remote = (host, port)
        self.state = self.phase = CONNECTING
        self.stack.register(self, (*self.local, *self.remote))
        self._transmit("syn")
        return False

    def _connected(self) -> bool:
        """The connection was made, or the attempt failed, since `connect` was called."""
        if self.state is CLOSED:
            number = self.take_error() or errno.ECONNABORTED
            self._disconnect()
            raise failure(number)
        self.phase = OPEN
        return True

    def _disconnect(self) -> None:
        """As if it had never been connected; its port stays."""
        self._end()
        self.phase = CLOSED
        self.read_shut = self.write_shut = self.fin_received = False
        self.inbox.clear()
        self.held.clear()
        self.remote = None

    def send(self, data: bytes, address: Any = None) -> int:
        self.raise_error()
        if self.write_shut or self.state in (CLOSED, LISTENING):
            raise failure(errno.EPIPE)
        room = self._room()
        if self.state is CONNECTING or not room:
            raise failure(errno.EAGAIN)
        data = bytes(data[:room])
        if data:
            self._count(len(data))
            self._transmit("data", data)
        return len(data)

    def _count(self, size: int) -> None:
        assert self.flow is not None
        if self.stack.is_direct(self.flow):
            return
        self._segments += 1
        self._bytes += size
        self.choked = self._segments >= SEGMENTS_MAX or self._bytes >= BYTES_MAX

    def drain(self) -> None:
        """The network has taken what was sent."""
        self.choked = False
        self._segments = self._bytes = 0
        self.changes += 1

    def recv(self, size: int, flags: int) -> tuple[bytes, Any, int]:
        if self.state is LISTENING:
            raise failure(errno.ENOTCONN)
        if self.inbox:
            data = bytes(self.inbox[:size])
            if not flags & PEEK:
                del self.inbox[:size]
            return data, None, 0
        if not self.fin_received:
            self.raise_error()
            if not self.read_shut:
                raise failure(errno.ENOTCONN if self.state is CLOSED else errno.EAGAIN)
        return b"", None, 0

    def shutdown(self, how: int) -> None:
        if self.state in (CONNECTING, LISTENING):
            if self.state is CONNECTING or how != socket.SHUT_WR:
                self._close_queue()
                self._disconnect()
            return
        if self.phase is CONNECTING:
            self.phase = OPEN if self.state is OPEN else FAILED
        unconnected = self.state is CLOSED
        self.read_shut |= how != socket.SHUT_WR
        if how != socket.SHUT_RD and not self.write_shut:
            self.write_shut = True
            if self.state is OPEN:
                self._transmit("fin")
                self._finish()
        self.changes += 1
        if unconnected:
            raise failure(errno.ENOTCONN)

    def release(self) -> None:
        if self.state is LISTENING:
            self._close_queue()
        elif self.state is OPEN:
            if self.inbox or self.held or self._is_abrupt():
                self._transmit("rst")
            else:
                if not self.write_shut:
                    self.write_shut = True
                    self._transmit("fin")
                if not self.fin_received:
                    return  # an orphan until the other end has closed, too
        self._end()

    def _is_abrupt(self) -> bool:
        linger = self.options.get((socket.SOL_SOCKET, socket.SO_LINGER))
        if not isinstance(linger, bytes) or len(linger) < 8:
            return False
        on, seconds = struct.unpack("ii", linger[:8])
        return bool(on) and not seconds

    def _close_queue(self) -> None:
        while self.waiting:
            self.stack.answer(reverse(self.waiting.popleft()), "rst")
        while self.queue:
            made = self.queue.popleft()
            if made.state is OPEN:
                made._transmit("rst")
            made.refs = 0
            made._end()

    def sockname(self) -> Any:
        return self.local

    def peername(self) -> Any:
        if self.remote is None or self.state is not OPEN:
            raise failure(errno.ENOTCONN)
        return self.remote

    # What the network does.

    def _transmit(self, kind: Kind, data: bytes = b"", *, cut: bool = False) -> None:
        assert self.flow is not None
        self.stack.transmit(Segment(self.flow, kind, data, cut))

    def request(self, flow: Flow) -> None:
        """A `syn` has come to this listener; `flow` is as its sender sees it."""
        if len(self.queue) > self.backlog:
            self.waiting.append(flow)
        else:
            self._admit(flow)

    def _admit(self, flow: Flow) -> None:
        made = StreamEnd(self.stack, self.family)
        made.options = dict(self.options)
        made.local, made.remote = flow[2:], flow[:2]
        made.state = made.phase = OPEN
        made.bound = "given"
        made.refs = 1  # held by the queue
        self.stack.adopt(made)
        self.stack.register(made, reverse(flow))
        self.queue.append(made)
        self.changes += 1
        made._transmit("ack")
        if self.read_shut or self.write_shut:  # as a clone has it in Linux
            made.shutdown(SHUTS[self.read_shut, self.write_shut])

    def arrive(self, kind: Kind, data: bytes) -> None:
        """A segment of this connection has come."""
        self.changes += 1
        if kind in ("ack", "syn"):  # a `syn`: both ends have called `connect`
            if self.state is CONNECTING:
                self.state = OPEN
                if kind == "syn" and self.write_shut:
                    self._transmit("fin")
        elif kind == "data":
            if self.is_orphan():
                self._transmit("rst")
                self._end()
            elif self.read_shut and self.write_shut:  # nobody will ever read it
                self._transmit("rst")
                self.fail(errno.ECONNRESET)
            else:
                self.stack.take_in(self, data)
        elif kind == "fin":
            self.show()
            self.fin_received = True
            self._finish()
        elif kind == "rst":
            self.fail(errno.ECONNRESET)

    def show(self) -> None:
        """Let the program see what is held back."""
        while self.held:
            self.inbox += self.held.popleft()
        self.changes += 1

    def fail(self, number: int) -> None:
        """The connection, or the attempt to make it, was refused or broke."""
        self.show()
        if self.state is CONNECTING:
            number = errno.ECONNREFUSED
        elif self.fin_received:
            number = errno.EPIPE
        self.error = number
        self.read_shut = self.write_shut = True
        self._end()

    def cut(self) -> None:
        """The connection breaks here, and the other end hears of it."""
        self._transmit("rst", cut=True)
        self.fail(errno.ECONNRESET)

    def abandon(self) -> None:
        """The process ends without a word."""
        self.held.clear()
        self.state = CLOSED

    def _finish(self) -> None:
        if self.fin_received and self.write_shut:
            self._end()

    def _end(self) -> None:
        """No segment will be sent on it any more."""
        self.state = CLOSED
        self.stack.forget(self)
        if self.is_orphan() or self.bound == "given":
            self.stack.unbind(self)
            self.bound = ""


def reverse(flow: Flow) -> Flow:
    """The flow as the other end sees it."""
    return flow[2:] + flow[:2]


def answer_for_nobody(kind: Kind) -> Kind | None:
    """How a kernel answers a segment that is for none of its sockets."""
    if kind == "rst":
        return None
    return "fin" if kind == "ack" else "rst"
