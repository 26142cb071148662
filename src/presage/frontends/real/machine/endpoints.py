"""What all kinds of sockets have in common: options, a pending error, the two ways to shut.

An endpoint is the kernel's side of a socket. It never waits: the caller asks whether an operation
would wait, waits if it likes, and then does it. Errors are those of Linux.
"""

from __future__ import annotations

import errno
import socket
from typing import Any, TypeAlias

from presage.frontends.real.machine.descriptors import Description, failure

BUFFER = 212_992  # what Linux says of SO_RCVBUF and SO_SNDBUF at first

PEEK = int(socket.MSG_PEEK)
DONTWAIT = int(socket.MSG_DONTWAIT)
WAITALL = int(socket.MSG_WAITALL)
TRUNC = int(socket.MSG_TRUNC)
OOB = int(socket.MSG_OOB)
CTRUNC = int(socket.MSG_CTRUNC)
ERRQUEUE = int(getattr(socket, "MSG_ERRQUEUE", 0x2000))

Ancillary: TypeAlias = tuple[int, int, bytes]  # level, type, data

DEFAULTS: dict[tuple[int, int], int] = {
    (socket.SOL_SOCKET, socket.SO_RCVBUF): BUFFER,
    (socket.SOL_SOCKET, socket.SO_SNDBUF): BUFFER,
    (socket.SOL_SOCKET, socket.SO_RCVLOWAT): 1,
    (socket.SOL_SOCKET, socket.SO_SNDLOWAT): 1,
    (socket.IPPROTO_IP, socket.IP_TTL): 64,
    (socket.IPPROTO_IP, socket.IP_MULTICAST_TTL): 1,
    (socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP): 1,
    (socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS): 64,
    (socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS): 1,
    (socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_LOOP): 1,
    (socket.IPPROTO_TCP, socket.TCP_MAXSEG): 536,
}
FLAGS = (socket.SO_REUSEADDR, socket.SO_BROADCAST, socket.SO_KEEPALIVE, socket.SO_REUSEPORT)


class Endpoint(Description):
    """The kernel's side of a socket."""

    __slots__ = ("error", "family", "kind", "options", "proto", "read_shut", "write_shut")

    def __init__(self, family: int, kind: int, proto: int) -> None:
        super().__init__()
        self.family, self.kind, self.proto = family, kind, proto
        self.options: dict[tuple[int, int], Any] = {}
        self.error = 0  # pending; reported once
        self.read_shut = self.write_shut = False

    def take_error(self) -> int:
        """The pending error, which is none from now on."""
        number, self.error = self.error, 0
        return number

    def raise_error(self) -> None:
        if self.error:
            raise failure(self.take_error())

    def flag(self, option: int) -> bool:
        return bool(self.options.get((socket.SOL_SOCKET, option)))

    def set_option(self, level: int, option: int, value: int | bytes | None) -> None:
        if level == socket.SOL_SOCKET:
            if option in FLAGS:
                value = int(bool(_number(value)))
            elif option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
                value = max(2304, 2 * _number(value))  # as Linux does
            elif option in (socket.SO_ERROR, socket.SO_TYPE, socket.SO_ACCEPTCONN):
                raise failure(errno.ENOPROTOOPT)
        self.options[level, option] = value

    def get_option(self, level: int, option: int) -> Any:
        if level == socket.SOL_SOCKET:
            if option == socket.SO_ERROR:
                return self.take_error()
            known = {
                socket.SO_TYPE: self.kind,
                socket.SO_DOMAIN: self.family,
                socket.SO_PROTOCOL: self.proto,
                socket.SO_ACCEPTCONN: int(self.is_listening()),
            }
            if option in known:
                return known[option]
        return self.options.get((level, option), DEFAULTS.get((level, option), 0))

    def is_listening(self) -> bool:
        return False

    def bind(self, address: Any) -> None:
        raise failure(errno.EINVAL)

    def listen(self, backlog: int) -> None:
        raise failure(errno.EOPNOTSUPP)

    def can_accept(self) -> bool:
        return True

    def accept(self) -> tuple[Endpoint, Any]:
        """The next connection and its peer's address."""
        raise failure(errno.EOPNOTSUPP)

    def connect(self, address: Any) -> bool:
        """Whether the connection is made; False if that is still to come."""
        raise failure(errno.EOPNOTSUPP)

    def is_connecting(self) -> bool:
        return False

    def recv(self, size: int, flags: int) -> tuple[bytes, Any, int]:
        """Bytes, the sender's address if each message has its own, and the flags of `recvmsg`."""
        raise failure(errno.EOPNOTSUPP)

    def send(self, data: bytes, address: Any = None) -> int:
        """How many bytes were taken."""
        raise failure(errno.EOPNOTSUPP)

    def about_last(self) -> list[Ancillary]:
        """What there is to say of the message that was received last."""
        return []

    def check_sent(self, items: list[Ancillary]) -> None:
        """Raise unless a message may be sent with this ancillary data."""
        if items:
            raise failure(errno.EOPNOTSUPP)

    def shutdown(self, how: int) -> None:
        raise failure(errno.ENOTCONN)

    def sockname(self) -> Any:
        raise NotImplementedError

    def peername(self) -> Any:
        raise failure(errno.ENOTCONN)

    def read(self, size: int) -> bytes:
        return self.recv(size, 0)[0]

    def write(self, data: bytes) -> int:
        return self.send(data)


def _number(value: int | bytes | None) -> int:
    if isinstance(value, bytes | bytearray):
        return int.from_bytes(value[:4], "little", signed=True)
    return int(value or 0)
