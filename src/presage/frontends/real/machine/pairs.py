"""AF_UNIX sockets and pipes: both ends are in one process, so nothing of them is an event.

A write lands in the other end's buffer at once. asyncio wakes itself by such a pair, and so do many
pollers. A name is one within its process only; see `UnixNames`.
"""

from __future__ import annotations

import errno
import socket
from collections import deque
from typing import Any

from presage.frontends.real.machine.descriptors import (
    ERR,
    HUP,
    RDHUP,
    READABLE,
    WRITABLE,
    Description,
    failure,
)
from presage.frontends.real.machine.endpoints import PEEK, TRUNC, Endpoint
from presage.frontends.real.machine.unixnames import UnixNames

ROOM = 65_536  # bytes that wait in one end


class UnixEnd(Endpoint):
    """One end of an AF_UNIX connection, a listener, or a socket for messages."""

    __slots__ = ("backlog", "bound", "messages", "names", "peer", "queue", "size", "stream")

    def __init__(self, kind: int, names: UnixNames) -> None:
        super().__init__(socket.AF_UNIX, kind, 0)
        self.names = names  # of the process
        self.bound: Any = ""
        self.peer: UnixEnd | None = None
        self.stream = kind == socket.SOCK_STREAM
        self.messages: deque[tuple[bytes, Any]] = deque()
        self.size = 0  # of all messages, in bytes
        self.backlog = -1  # not a listener
        self.queue: deque[UnixEnd] = deque()

    def is_listening(self) -> bool:
        return self.backlog >= 0

    def _needs_peer(self) -> bool:
        return self.kind != socket.SOCK_DGRAM

    def mask(self) -> int:
        if self.backlog >= 0:
            return READABLE if self.queue else 0
        peer = self.peer
        mask = WRITABLE if peer is None or peer.size < ROOM else 0
        if self.messages:
            mask |= READABLE
        if self.error:
            mask |= ERR
        if self.read_shut:
            mask |= READABLE | RDHUP | (HUP if self.write_shut else 0)
        elif peer is None and self._needs_peer():
            mask |= HUP
        return mask

    def can_read(self) -> bool:
        return self.is_listening() or super().can_read()

    def room(self) -> int:
        return ROOM - self.size if self.size < ROOM else 0

    def bind(self, address: Any) -> None:
        if self.bound:
            raise failure(errno.EINVAL)
        self.bound = self.names.bind(address, self)

    def listen(self, backlog: int) -> None:
        if not self._needs_peer():
            raise failure(errno.EOPNOTSUPP)
        if not self.bound or self.peer is not None:
            raise failure(errno.EINVAL)
        self.backlog = max(backlog, 0)

    def can_accept(self) -> bool:
        return not self.is_listening() or bool(self.queue)

    def accept(self) -> tuple[Endpoint, Any]:
        if not self.is_listening():
            raise failure(errno.EINVAL)
        if not self.queue:
            raise failure(errno.EAGAIN)
        made = self.queue.popleft()
        made.refs -= 1
        return made, made.peer.bound if made.peer is not None else ""

    def connect(self, address: Any) -> bool:
        other = self.names.find(address)
        if not self._needs_peer():
            self.peer = other
            return True
        if self.peer is not None:
            raise failure(errno.EISCONN)
        if not other.is_listening():
            raise failure(errno.ECONNREFUSED)
        if len(other.queue) > other.backlog:
            raise failure(errno.EAGAIN)
        made = UnixEnd(self.kind, self.names)
        made.bound, made.refs = other.bound, 1
        join(self, made)
        other.queue.append(made)
        other.changes += 1
        return True

    def send(self, data: bytes, address: Any = None) -> int:
        self.raise_error()
        target = self.peer
        if address is not None and not self._needs_peer():
            target = self.names.find(address)
        if self.write_shut:
            raise failure(errno.EPIPE)
        if target is None:
            raise failure(errno.ENOTCONN)
        if target.read_shut:
            raise failure(errno.EPIPE if self._needs_peer() else errno.ECONNREFUSED)
        room = target.room()
        if not room or (len(data) > room and not self.stream):
            raise failure(errno.EAGAIN)
        data = bytes(data[:room])
        if data or not self.stream:
            target.messages.append((data, self.bound or None))
            target.size += len(data)
            target.changes += 1
        return len(data)

    def recv(self, size: int, flags: int) -> tuple[bytes, Any, int]:
        if self.messages:
            return self._take(size, flags)
        self.raise_error()
        if self._needs_peer() and self.peer is None and not self.read_shut:
            raise failure(errno.EINVAL if self.stream else errno.ENOTCONN)
        if not self.read_shut:
            raise failure(errno.EAGAIN)
        return b"", None, 0

    def _take(self, size: int, flags: int) -> tuple[bytes, Any, int]:
        if not self.stream:
            data, source = self.messages[0] if flags & PEEK else self.messages.popleft()
            self.size -= 0 if flags & PEEK else len(data)
            return data[:size], source, TRUNC if len(data) > size else 0
        data = b"".join(each for each, _ in self.messages)
        if not flags & PEEK:
            self.messages.clear()
            self.size = max(0, len(data) - size)
            if data[size:]:
                self.messages.append((data[size:], None))
            if self.peer is not None:
                self.peer.changes += 1
        return data[:size], None, 0

    def shutdown(self, how: int) -> None:
        if self._needs_peer() and self.peer is None:
            raise failure(errno.ENOTCONN)
        reads, writes = how != socket.SHUT_WR, how != socket.SHUT_RD
        self.read_shut |= reads
        self.write_shut |= writes
        self.changes += 1
        if self.peer is not None and self._needs_peer():
            self.peer.read_shut |= writes
            self.peer.write_shut |= reads
            self.peer.changes += 1

    def release(self) -> None:
        self.names.release(self)
        for made in self.queue:
            made.refs = 0
            made.release()
        peer, self.peer = self.peer, None
        if peer is not None and self._needs_peer():
            if self.messages:
                peer.error = errno.ECONNRESET
            peer.read_shut = peer.write_shut = True
            peer.changes += 1
        self.read_shut = self.write_shut = True

    def sockname(self) -> Any:
        return self.bound

    def peername(self) -> Any:
        if self.peer is None:
            raise failure(errno.ENOTCONN)
        return self.peer.bound


def join(one: UnixEnd, other: UnixEnd) -> None:
    """Make the two ends of a connection of them."""
    one.peer, other.peer = other, one


class PipeEnd(Description):
    """One end of a pipe."""

    __slots__ = ("_data", "_other", "reads")

    def __init__(self, *, reads: bool, data: bytearray) -> None:
        super().__init__()
        self.reads = reads
        self._data = data
        self._other: PipeEnd | None = None

    def mask(self) -> int:
        gone = self._other is None
        if self.reads:
            return (READABLE if self._data else 0) | (HUP if gone else 0)
        if gone:
            return WRITABLE | ERR
        return WRITABLE if len(self._data) < ROOM else 0

    def release(self) -> None:
        other, self._other = self._other, None
        if other is not None:
            other._other = None
            other.changes += 1

    def read(self, size: int) -> bytes:
        if not self.reads:
            raise failure(errno.EBADF)
        data = bytes(self._data[:size])
        if not data and size and self._other is not None:
            raise failure(errno.EAGAIN)
        del self._data[:size]
        return data

    def write(self, data: bytes) -> int:
        if self.reads:
            raise failure(errno.EBADF)
        if self._other is None:
            raise failure(errno.EPIPE)
        taken = bytes(data[: max(0, ROOM - len(self._data))])
        if data and not taken:
            raise failure(errno.EAGAIN)
        self._data += taken
        self._other.changes += 1
        return len(taken)


def pipe() -> tuple[PipeEnd, PipeEnd]:
    """The end to read from, and the end to write to."""
    data = bytearray()
    reader, writer = PipeEnd(reads=True, data=data), PipeEnd(reads=False, data=data)
    reader._other, writer._other = writer, reader
    return reader, writer
