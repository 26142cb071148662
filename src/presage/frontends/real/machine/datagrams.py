"""UDP: each datagram goes its own way and may be lost; what arrives waits whole in a queue.

A datagram to a group or to all is one send per node; each node's kernel asks which of its sockets
want it. One that nobody wants is dropped. Within a node, a connected sender learns of it
(`ECONNREFUSED`); between nodes that notice does not travel, as behind most firewalls.
"""

from __future__ import annotations

import errno
import socket
from collections import deque
from struct import pack
from typing import TYPE_CHECKING, Any

from presage.frontends.real.machine.descriptors import ERR, HUP, RDHUP, READABLE, WRITABLE, failure
from presage.frontends.real.machine.endpoints import PEEK, TRUNC, Ancillary
from presage.frontends.real.machine.inet import MAPPED, InetEnd
from presage.frontends.real.machine.names import BROADCAST, EVERY, LOOPBACKS, is_loopback
from presage.frontends.real.machine.packets import Address, Datagram

if TYPE_CHECKING:
    from presage.frontends.real.machine.stack import Stack

SIZE_MAX = 65_507  # bytes of one datagram over IPv4
IP_PKTINFO = 8  # `socket` has no name for it before Python 3.14
LOOPBACK_CARD, CARD = 1, 2  # the numbers of the interfaces
MEMBERSHIP = {  # option -> whether it joins, the family of the group, bytes of its address
    (socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP): (True, socket.AF_INET, 4),
    (socket.IPPROTO_IP, socket.IP_DROP_MEMBERSHIP): (False, socket.AF_INET, 4),
    (socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP): (True, socket.AF_INET6, 16),
    (socket.IPPROTO_IPV6, socket.IPV6_LEAVE_GROUP): (False, socket.AF_INET6, 16),
}
QUEUE_MAX = 256  # datagrams that wait in a socket; more are dropped, as a full buffer does


class DatagramEnd(InetEnd):
    """The kernel's side of a UDP socket."""

    __slots__ = ("groups", "queue", "target")

    def __init__(self, stack: Stack, family: int = socket.AF_INET) -> None:
        super().__init__(stack, family, socket.SOCK_DGRAM, socket.IPPROTO_UDP)
        self.queue: deque[tuple[bytes, Address, str]] = deque()  # data, source, target
        self.target = ""  # of the datagram that was received last
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
        super().set_option(level, option, value)
        way = MEMBERSHIP.get((level, option))
        if way is not None and isinstance(value, bytes):
            del self.options[level, option]
            joins, family, size = way
            group = socket.inet_ntop(family, value[:size])
            if joins:
                self.groups.add(group)
            elif group in self.groups:
                self.groups.remove(group)
            else:
                raise failure(errno.EADDRNOTAVAIL)

    def connect(self, address: Any) -> bool:
        self._autobind()
        host, port = address
        self.settle(host)
        self.remote = (LOOPBACKS.get(host, host), port)
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
        if self.only6 and ":" not in host:
            raise failure(errno.ENETUNREACH)
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
            return wanted and self.covers(packet.group)
        if not self.covers(address):
            return False
        return self.remote is None or self.remote == source

    def arrive(self, data: bytes, source: Address, target: str) -> None:
        if len(self.queue) < QUEUE_MAX:
            self.queue.append((data, source, target))
            self.changes += 1

    def recv(self, size: int, flags: int) -> tuple[bytes, Any, int]:
        if self.error:
            self.raise_error()
        if not self.queue:
            raise failure(errno.EAGAIN)
        data, source, self.target = self.queue[0] if flags & PEEK else self.queue.popleft()
        return data[:size], source, TRUNC if len(data) > size else 0

    def about_last(self) -> list[Ancillary]:
        items: list[Ancillary] = []
        if not self.target:
            return items
        target, card = self.target, LOOPBACK_CARD if is_loopback(self.target) else CARD
        if ":" not in target and self.options.get((socket.IPPROTO_IP, IP_PKTINFO)):
            packed = socket.inet_aton(target)
            items.append((socket.IPPROTO_IP, IP_PKTINFO, pack("=I4s4s", card, packed, packed)))
        if self.options.get((socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO)):
            text = target if ":" in target else MAPPED + target
            data = pack("=16sI", socket.inet_pton(socket.AF_INET6, text), card)
            items.append((socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, data))
        return items

    def check_sent(self, items: list[Ancillary]) -> None:
        """The address of the sender may be named; it has to be one of the node."""
        for level, kind, data in items:
            if (level, kind) == (socket.IPPROTO_IP, IP_PKTINFO) and len(data) >= 12:
                host = socket.inet_ntoa(data[4:8])
            elif (level, kind) == (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO) and len(data) >= 20:
                host = socket.inet_ntop(socket.AF_INET6, data[:16]).removeprefix(MAPPED)
            else:
                raise failure(errno.EINVAL)
            if host not in EVERY and not self.stack.host.is_own(host):
                raise failure(errno.EINVAL)

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
