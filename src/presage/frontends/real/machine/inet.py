"""What TCP and UDP sockets have in common: addresses of IPv4 and IPv6, and which they cover.

An address is a text, one of IPv6 has a colon. A socket of IPv6 may hold one of IPv4: a program
sees it as `::ffff:10.0.0.1`, and within the kernel it is `10.0.0.1`. So an end that listens on
`::` hears both, unless `IPV6_V6ONLY` is set.
"""

from __future__ import annotations

import errno
import socket
from typing import TYPE_CHECKING, Any

from presage.frontends.real.machine.descriptors import failure
from presage.frontends.real.machine.endpoints import Endpoint
from presage.frontends.real.machine.names import ANY, ANY6, EVERY
from presage.frontends.real.machine.packets import Address

if TYPE_CHECKING:
    from presage.frontends.real.machine.stack import Stack

ONLY6 = int(socket.IPPROTO_IPV6), int(socket.IPV6_V6ONLY)
INET6 = int(socket.AF_INET6)
MAPPED = "::ffff:"


class InetEnd(Endpoint):
    """The kernel's side of a TCP or UDP socket."""

    __slots__ = ("local", "remote", "stack")

    def __init__(self, stack: Stack, family: int, kind: int, proto: int) -> None:
        super().__init__(family, kind, proto)
        self.stack = stack
        self.local: Address = (ANY6 if family == INET6 else ANY, 0)
        self.remote: Address | None = None

    @property
    def only6(self) -> bool:
        """Whether it has nothing to do with IPv4 though it is of IPv6."""
        return bool(self.options.get(ONLY6))

    def covers(self, address: str) -> bool:
        """Whether what is sent to `address` may be for this end."""
        own = self.local[0]
        if own == address:
            return True
        if own == ANY:
            return ":" not in address
        return own == ANY6 and (":" in address or not self.only6)

    def settle(self, host: str) -> None:
        """Take the address by which `host` is reached, if it has none yet."""
        own = self.local[0]
        if own in EVERY:
            if ":" not in host and self.only6:
                raise failure(errno.ENETUNREACH)
            self.stack.settle(self, host)
        elif (":" in own) != (":" in host):
            raise failure(errno.ENETUNREACH)

    def set_option(self, level: int, option: int, value: int | bytes | None) -> None:
        if level == socket.IPPROTO_IPV6:
            if self.family != INET6:
                raise failure(errno.ENOPROTOOPT)
            if option == socket.IPV6_V6ONLY and self.local[1]:
                raise failure(errno.EINVAL)
        super().set_option(level, option, value)

    def get_option(self, level: int, option: int) -> Any:
        if level == socket.IPPROTO_IPV6 and self.family != INET6:
            raise failure(errno.EOPNOTSUPP)
        return super().get_option(level, option)


def spelled(family: int, address: Any) -> Any:
    """An address as a socket of this family tells it."""
    if family != INET6 or address is None:
        return address
    host, port = address
    return host if ":" in host else MAPPED + host, port, 0, 0


def overlap(host: str, only6: bool, other: str, other_only6: bool) -> bool:
    """Whether two ends with these addresses want the same port."""
    if (":" in host) == (":" in other):
        return host == other or host in EVERY or other in EVERY
    if ":" in host:
        return host == ANY6 and not only6
    return other == ANY6 and not other_only6
