"""UDP: each datagram goes its own way and may be lost; what arrives waits whole in a queue.

A datagram to a group or to all is one send per node; each node's kernel asks which of its sockets
want it. One that nobody wants is dropped. Within a node, a connected sender learns of it
(`ECONNREFUSED`); between nodes that notice does not travel, as behind most firewalls.
"""

from __future__ import annotations

import errno
import socket
from collections import deque
from typing import TYPE_CHECKING, Any

from presage.frontends.real.machine.descriptors import ERR, HUP, RDHUP, READABLE, WRITABLE, failure
from presage.frontends.real.machine.endpoints import PEEK, TRUNC, Endpoint
from presage.frontends.real.machine.names import ANY, BROADCAST
from presage.frontends.real.machine.packets import Address, Datagram

if TYPE_CHECKING:
    from presage.frontends.real.machine.stack import Stack

SIZE_MAX = 65_507  # bytes of one datagram over IPv4
QUEUE_MAX = 256  # datagrams that wait in a socket; more are dropped, as a full buffer does


class DatagramEnd(Endpoint):
    """The kernel's side of a UDP socket."""

    __slots__ = ("groups", "local", "queue", "remote", "stack")

    def __init__(self, stack: Stack) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_UDP)
        self.stack = stack
        self.local: Address = (ANY, 0)
        self.remote: Address | None = None
        self.queue: deque[tuple[bytes, Address]] = deque()
        self.groups: set[str] = set()

    def mask(self) -> int:
        mask = WRITABLE
        if self.error:
            mask |= ERR
        if self.queue or self.read_shut:
            mask |= READABLE
        if self.read_shut:
            mask |= RDHUP | (HUP if self.write_shut else 0)
        return mask

    def release(self) -> None:
        self.stack.unbind(self)

    def bind(self, address: Any) -> None:
        if self.local[1]:
            raise failure(errno.EINVAL)
        self.stack.bind(self, address)

    def set_option(self, level: int, option: int, value: int | bytes | None) -> None:
        if level == socket.IPPROTO_IP and isinstance(value, bytes):
            if option == socket.IP_ADD_MEMBERSHIP:
                self.groups.add(socket.inet_ntoa(value[:4]))
                return
            if option == socket.IP_DROP_MEMBERSHIP:
                group = socket.inet_ntoa(value[:4])
                if group not in self.groups:
                    raise failure(errno.EADDRNOTAVAIL)
                self.groups.remove(group)
                return
        super().set_option(level, option, value)

    def connect(self, address: Any) -> bool:
        self._autobind()
        host, port = address
        if self.local[0] == ANY:
            self.stack.settle(self, host)
        self.remote = (host if host != ANY else self.local[0], port)
        return True

    def disconnect(self) -> None:
        """What `connect` to AF_UNSPEC does."""
        self.remote = None

    def can_read(self) -> bool:
        return bool(self.queue or self.read_shut or self.error)

    def _autobind(self) -> None:
        if not self.local[1]:
            self.stack.bind(self, (self.local[0], 0))

    def send(self, data: bytes, address: Any = None) -> int:
        if not self.local[1]:
            self._autobind()
        target = address or self.remote
        if target is None:
            raise failure(errno.EDESTADDRREQ)
        host, port = target
        if not port:
            raise failure(errno.EINVAL)
        if host in BROADCAST and not self.flag(socket.SO_BROADCAST):
            raise failure(errno.EACCES)
        if len(data) > SIZE_MAX:
            raise failure(errno.EMSGSIZE)
        if self.error:
            self.raise_error()
        if self.write_shut:
            raise failure(errno.EPIPE)
        self.stack.send_datagram(self, host, port, bytes(data))
        return len(data)

    def wants(self, address: str, source: Address, packet: Datagram) -> bool:
        """Whether a datagram for `address` is for this socket."""
        if packet.group:
            wanted = packet.group in BROADCAST or packet.group in self.groups
            return wanted and self.local[0] in (ANY, packet.group)
        if self.local[0] not in (ANY, address):
            return False
        return self.remote is None or self.remote == source

    def arrive(self, data: bytes, source: Address) -> None:
        if len(self.queue) < QUEUE_MAX:
            self.queue.append((data, source))
            self.changes += 1

    def recv(self, size: int, flags: int) -> tuple[bytes, Any, int]:
        if self.error:
            self.raise_error()
        if not self.queue:
            raise failure(errno.EAGAIN)
        data, source = self.queue[0] if flags & PEEK else self.queue.popleft()
        return data[:size], source, TRUNC if len(data) > size else 0

    def shutdown(self, how: int) -> None:
        self.read_shut |= how != socket.SHUT_WR
        self.write_shut |= how != socket.SHUT_RD
        self.changes += 1
        if self.remote is None:  # an error, and yet it is shut
            raise failure(errno.ENOTCONN)

    def sockname(self) -> Any:
        return self.local

    def peername(self) -> Any:
        if self.remote is None:
            raise failure(errno.ENOTCONN)
        return self.remote
