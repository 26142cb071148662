"""`socket.socket` in a simulated process: CPython's own class over an endpoint of the machine.

`Simulated` derives from `socket.socket` and replaces what that inherits from C; so `makefile`,
`accept`, `dup`, `sendfile` and the rest are CPython's own, and `isinstance` holds. Its C part is
never initialised: there is no real descriptor. A subclass of `socket.socket`, such as
that of `ssl`, gets `Simulated` put behind it.

All waiting is `process.block`. A thread that waits in a socket keeps it open, as in Linux.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Iterable
from typing import Any

from presage.frontends.real.machine.arguments import (
    ancillary,
    bytes_of,
    check_ancillary,
    descriptor,
    inet_address,
    small,
    unix_path,
    writable,
)
from presage.frontends.real.machine.datagrams import DatagramEnd
from presage.frontends.real.machine.descriptors import failure
from presage.frontends.real.machine.endpoints import (
    CTRUNC,
    DONTWAIT,
    ERRQUEUE,
    OOB,
    PEEK,
    WAITALL,
    Ancillary,
    Endpoint,
)
from presage.frontends.real.machine.inet import INET6, spelled
from presage.frontends.real.machine.originals import AsOriginal, stand_for
from presage.frontends.real.machine.pairs import UnixEnd
from presage.frontends.real.machine.stack import Stack, here
from presage.frontends.real.machine.tcp import StreamEnd

Real = socket.socket
KINDS = (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET)
UNIX = int(socket.AF_UNIX)
FLAG_BITS = int(socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)


def make_endpoint(stack: Stack, family: int, kind: int, proto: int) -> Endpoint:
    """The kernel's side of a new socket."""
    if family == socket.AF_UNIX and kind in KINDS:
        return UnixEnd(kind, stack.names)
    if family not in (socket.AF_INET, socket.AF_INET6):
        raise failure(errno.EAFNOSUPPORT)
    if kind == socket.SOCK_STREAM and proto in (0, socket.IPPROTO_TCP):
        end: Endpoint = StreamEnd(stack, family)
    elif kind == socket.SOCK_DGRAM and proto in (0, socket.IPPROTO_UDP):
        end = DatagramEnd(stack, family)
    elif kind == socket.SOCK_RAW:
        raise failure(errno.EPERM)
    else:
        raise failure(errno.EPROTONOSUPPORT if kind in KINDS else errno.ESOCKTNOSUPPORT)
    end.proto = proto
    return end


class Simulated(socket.socket, metaclass=AsOriginal):
    """A socket of a simulated process."""

    _end: Endpoint
    _fd: int
    _stack: Stack
    _limit: float | None  # the timeout; 0.0 is non-blocking

    def __init__(
        self, family: int = -1, type: int = -1, proto: int = -1, fileno: int | None = None
    ) -> None:
        self._io_refs, self._closed, self._fd = 0, True, -1
        stack = self._stack = here()
        self._limit = stack.default_timeout
        if fileno is None:
            kind = int(socket.SOCK_STREAM if type == -1 else type)
            self._end = make_endpoint(
                stack,
                int(socket.AF_INET if family == -1 else family),
                kind & ~FLAG_BITS,
                0 if proto == -1 else proto,
            )
            self._fd = stack.descriptors.add(self._end)
            if kind & socket.SOCK_NONBLOCK:
                self._limit = 0.0
            self._end.nonblocking = self._limit is not None
        else:
            end = stack.descriptors.get(descriptor(fileno))
            if not isinstance(end, Endpoint):
                raise failure(errno.ENOTSOCK)
            self._end, self._fd = end, fileno
        self._closed = False

    @property
    def family(self) -> socket.AddressFamily:
        return socket.AddressFamily(self._end.family)

    @property
    def type(self) -> socket.SocketKind:
        return socket.SocketKind(self._end.kind)

    @property
    def proto(self) -> int:
        return self._end.proto

    # Its descriptor.

    def fileno(self) -> int:
        return self._fd

    def detach(self) -> int:
        number, self._fd, self._closed = self._fd, -1, True
        return number

    def _real_close(self, *_: Any) -> None:
        number, self._fd = self._fd, -1
        if number >= 0 and self._stack.is_live():
            self._stack.descriptors.close(number)

    def __del__(self) -> None:
        """Close it, as CPython does; nothing comes of it if its process does not run."""
        if getattr(self, "_fd", -1) >= 0:
            self._real_close()

    def get_inheritable(self) -> bool:
        return False

    def set_inheritable(self, inheritable: bool) -> None:
        self._open()

    # Waiting.

    def gettimeout(self) -> float | None:
        return self._limit

    timeout = property(gettimeout)

    def settimeout(self, value: float | None) -> None:
        if value is not None:
            value = float(value)
            if value < 0:
                raise ValueError("Timeout value out of range")
        self._limit = value
        self._open().nonblocking = value is not None

    def getblocking(self) -> bool:
        return self._limit != 0.0

    def setblocking(self, flag: bool) -> None:
        self.settimeout(None if flag else 0.0)

    def _open(self) -> Endpoint:
        if self._stack.descriptors.open.get(self._fd) is not self._end:
            raise failure(errno.EBADF)
        return self._end

    def _deadline(self) -> float | None:
        limit = self._limit
        return self._stack.process.now + limit if limit else None

    def _wait(
        self, ready: Callable[[], bool], what: str, deadline: float | None, flags: int = 0
    ) -> None:
        """Return once `ready`; raise if that takes too long for this socket."""
        process = self._stack.process
        if len(process.threads) > 1:
            process.preempt()
        while not ready():
            if self._limit == 0.0 or flags & DONTWAIT:
                process.note_poll()
                raise failure(errno.EAGAIN)
            end = self._end
            end.refs += 1
            try:
                if not process.block(ready, deadline, what):
                    raise TimeoutError("timed out")
            finally:
                end.forget()

    # Addresses.

    def _address(self, address: Any, what: str) -> Any:
        family = self._end.family
        if family == UNIX:
            return unix_path(address)
        host, port = inet_address(address, what, six=family == INET6)
        return self._stack.host.resolve(host, family), port

    def bind(self, address: Any, /) -> None:
        self._open().bind(self._address(address, "bind"))

    def listen(self, backlog: int = 128, /) -> None:
        self._open().listen(small(backlog))

    def getsockname(self) -> Any:
        return spelled(self._end.family, self._open().sockname())

    def getpeername(self) -> Any:
        return spelled(self._end.family, self._open().peername())

    def getsockopt(self, level: int, option: int, size: int = 0, /) -> Any:
        value = self._open().get_option(level, option)
        if not size:
            return int.from_bytes(value[:4], "little") if isinstance(value, bytes) else value
        return value[:size] if isinstance(value, bytes) else value.to_bytes(4, "little")[:size]

    def setsockopt(self, level: int, option: int, value: Any, size: int = 0, /) -> None:
        if value is not None and not isinstance(value, int):
            value = bytes(value)
        self._open().set_option(level, option, value)

    # Connections.

    def _accept(self) -> tuple[int, Any]:
        end = self._open()
        self._wait(end.can_accept, "accept", self._deadline())
        made, address = end.accept()
        return self._stack.descriptors.add(made), spelled(end.family, address)

    def accept(self) -> tuple[socket.socket, Any]:
        number, address = self._accept()
        made = Real(fileno=number)
        if self._stack.default_timeout is None and self._limit:
            made.setblocking(True)
        return made, address

    def connect(self, address: Any, /) -> None:
        end = self._open()
        if end.connect(self._address(address, "connect")):
            return
        if self._limit == 0.0:
            raise failure(errno.EINPROGRESS)
        self._wait(lambda: not end.is_connecting(), "connect", self._deadline())
        end.connect(None)

    def connect_ex(self, address: Any, /) -> int:
        try:
            self.connect(address)
        except TimeoutError as error:
            return error.errno or errno.EAGAIN
        except socket.gaierror:
            raise
        except OSError as error:
            if error.errno is None:
                raise
            return error.errno
        return 0

    def shutdown(self, how: int, /) -> None:
        end = self._open()
        if small(how) not in (socket.SHUT_RD, socket.SHUT_WR, socket.SHUT_RDWR):
            raise failure(errno.EINVAL)
        end.shutdown(how)

    # Sending.

    def send(self, data: Any, flags: int = 0, /) -> int:
        return self._send(bytes_of(data), flags, None, self._deadline())

    def sendall(self, data: Any, flags: int = 0, /) -> None:
        left, deadline = bytes_of(data), self._deadline()
        self._open()
        while left:
            left = left[self._send(left, flags, None, deadline) :]

    def sendto(self, data: Any, *rest: Any) -> int:
        if not 1 <= len(rest) <= 2:
            raise TypeError(f"sendto() takes 2 or 3 arguments ({1 + len(rest)} given)")
        flags, address = rest[0] if len(rest) == 2 else 0, self._address(rest[-1], "sendto")
        return self._send(bytes_of(data), flags, address, self._deadline())

    def _send(self, data: bytes, flags: int, address: Any, deadline: float | None) -> int:
        end, sent = self._open(), 0
        if flags & OOB:
            raise failure(errno.EOPNOTSUPP)
        process = self._stack.process
        if len(process.threads) > 1:
            process.preempt()
        if self._limit == 0.0:
            sent = end.send(data, address)
            if sent or not data:
                return sent
        while True:
            if not end.is_connecting() or self._limit == 0.0:
                try:
                    sent += end.send(data[sent:], address)
                except OSError as error:
                    if sent and error.errno != errno.EAGAIN:
                        return sent
                    if error.errno != errno.EAGAIN or self._limit == 0.0 or flags & DONTWAIT:
                        raise
                if sent == len(data) or self._limit is not None and sent:
                    return sent
            self._wait(end.can_write, "send", deadline, flags)

    def sendmsg(
        self,
        buffers: Iterable[Any],
        ancdata: Iterable[Any] = (),
        flags: int = 0,
        address: Any = None,
        /,
    ) -> int:
        data = b"".join([bytes_of(each) for each in buffers])
        self._open().check_sent(ancillary(ancdata))
        target = None if address is None else self._address(address, "sendmsg")
        return self._send(data, flags, target, self._deadline())

    # Receiving.

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        if size < 0:
            raise ValueError("negative buffersize in recv")
        return self._recv(size, flags)[0] if size else b""

    def recvfrom(self, size: int, flags: int = 0, /) -> tuple[bytes, Any]:
        if size < 0:
            raise ValueError("negative buffersize in recvfrom")
        return self._recv(size, flags)[:2]

    def _recv(self, size: int, flags: int) -> tuple[bytes, Any, int]:
        end, deadline = self._open(), self._deadline()
        if flags & OOB:
            raise failure(errno.EINVAL)
        if flags & ERRQUEUE:  # where there is never anything
            raise failure(errno.EAGAIN)
        self._wait(end.can_read, "recv", deadline, flags)
        try:
            data, source, seen = end.recv(size, flags)
        except BlockingIOError:
            if self._limit is not None or flags & DONTWAIT or not end.read_shut:
                raise
            return b"", None, 0  # a shut socket for datagrams
        if flags & WAITALL and not flags & PEEK and end.kind == socket.SOCK_STREAM:
            while data and len(data) < size and self._limit is None:
                self._wait(end.can_read, "recv", deadline, flags)
                more = end.recv(size - len(data), flags)[0]
                if not more:
                    break
                data += more
        return data, spelled(end.family, source), seen

    def recv_into(self, buffer: Any, size: int = 0, flags: int = 0) -> int:
        if not size and not memoryview(buffer).nbytes:
            return 0
        return self.recvfrom_into(buffer, size, flags)[0]

    def recvfrom_into(self, buffer: Any, size: int = 0, flags: int = 0) -> tuple[int, Any]:
        view = writable(buffer)
        if size < 0:
            raise ValueError("negative buffersize in recvfrom_into")
        if size > len(view):
            raise ValueError("nbytes is greater than the length of the buffer")
        data, source, _ = self._recv(size or len(view), flags)
        view[: len(data)] = data
        return len(data), source

    def recvmsg(self, size: int, ancsize: int = 0, flags: int = 0, /) -> tuple[Any, ...]:
        if size < 0:
            raise ValueError("negative buffer size in recvmsg()")
        check_ancillary(ancsize)
        data, source, seen = self._recv(size, flags)
        items, lost = self._told(ancsize)
        return data, items, seen | lost, source

    def _told(self, room: int) -> tuple[list[Ancillary], int]:
        """The ancillary data that has room, and a flag if some has not."""
        items: list[Ancillary] = []
        for each in self._end.about_last():
            room -= socket.CMSG_SPACE(len(each[2]))
            if room < 0:
                return items, CTRUNC
            items.append(each)
        return items, 0

    def recvmsg_into(
        self, buffers: Iterable[Any], ancsize: int = 0, flags: int = 0, /
    ) -> tuple[Any, ...]:
        views = [writable(each) for each in buffers]
        check_ancillary(ancsize)
        data, source, seen = self._recv(sum(len(view) for view in views), flags)
        at = 0
        for view in views:
            piece = data[at : at + len(view)]
            view[: len(piece)] = piece
            at += len(piece)
        items, lost = self._told(ancsize)
        return len(data), items, seen | lost, source


stand_for(Real, Simulated)
