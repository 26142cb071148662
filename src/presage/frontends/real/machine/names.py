"""Names and addresses: the only name server that a simulated process knows.

Node number i has the addresses `10.0.0.<i + 1>` and `fd00::<i + 1>`, and its name as host name. Who
asks for any address of a name gets that of IPv4, who asks for IPv6 the other one. Every other name
is unknown, and no question leaves the process. The answers have the shape and the errors of the
functions of `socket` that ask them.

Invariant: the table is the same in all nodes of a system and does not change.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from presage.frontends.real.machine.arguments import FLOW_MAX
from presage.frontends.real.machine.assigned import TCP, UDP, port_of, service_at
from presage.frontends.real.machine.descriptors import failure

NETWORK = "10.0.0."
NETWORK6 = "fd00::"
LOOPBACK, LOOPBACK6 = "127.0.0.1", "::1"
ANY, ANY6 = "0.0.0.0", "::"
EVERY = (ANY, ANY6)
LOOPBACKS = {ANY: LOOPBACK, ANY6: LOOPBACK6}  # where one gets who calls any address
BROADCAST = ("255.255.255.255", f"{NETWORK}255")
NODES_MAX = 254

Found: TypeAlias = tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[Any, ...]]
CARDS = {1: "lo", 2: "eth0"}  # the interfaces


class Host:
    """One node's name and address, and those of all nodes."""

    def __init__(self, name: str, names: Sequence[str]) -> None:
        if len(names) > NODES_MAX:
            raise ValueError(f"{len(names)} nodes, at most {NODES_MAX} have an address")
        self.name = name
        self.names = tuple(names)
        self.addresses = {each: f"{NETWORK}{at}" for at, each in enumerate(self.names, 1)}
        self._addresses6 = {each: f"{NETWORK6}{at:x}" for at, each in enumerate(self.names, 1)}
        self._names = {
            address: each
            for table in (self.addresses, self._addresses6)
            for each, address in table.items()
        }
        self._resolved: dict[int, dict[str, str]] = {socket.AF_INET: {}, socket.AF_INET6: {}}
        self.address = self.addresses[name]
        self.others = {address: each for address, each in self._names.items() if each != name}

    @property
    def peers(self) -> tuple[str, ...]:
        return tuple(each for each in self.names if each != self.name)

    def name_at(self, address: str) -> str | None:
        """The node that has this address; its own for the loopback."""
        if is_loopback(address) or address in EVERY:
            return self.name
        return self._names.get(address)

    def address_of(self, name: str, six: bool) -> str:
        return self._addresses6[name] if six else self.addresses[name]

    def own_address(self, six: bool) -> str:
        return self.address_of(self.name, six)

    def is_own(self, address: str) -> bool:
        return self.name_at(address) == self.name

    def resolve(self, name: str, family: int = socket.AF_INET) -> str:
        """The address of a host name; `gaierror` for one that no node has."""
        known = self._resolved[family]
        address = known.get(name)
        if address is None:
            address = known[name] = self._look_up(name, family == socket.AF_INET6)
        return address

    def _look_up(self, name: str, six: bool) -> str:
        if name == "":
            return ANY6 if six else ANY
        if name == "<broadcast>" and not six:
            return BROADCAST[0]
        number = numeric(name)
        if number is not None:
            if (":" in name) != six:
                raise socket.gaierror(socket.EAI_ADDRFAMILY, OTHER_FAMILY)
            return number
        addresses = self._addresses6 if six else self.addresses
        if name in addresses:
            return addresses[name]
        if name in ("localhost", "localhost.localdomain", f"ip{6 if six else 4}-localhost"):
            return LOOPBACK6 if six else LOOPBACK
        stem = name.split(".", 1)[0].lower()
        for each, address in addresses.items():
            if name.lower() == each.lower() or (stem == each.lower() and name.endswith(".local")):
                return address
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


OTHER_FAMILY = "Address family for hostname not supported"


def is_loopback(address: str) -> bool:
    return address.startswith("127.") or address == LOOPBACK6


def numeric(name: str) -> str | None:
    """The address that is written in numbers, as the kernel has it; None if this is a name."""
    try:
        if ":" not in name:
            return socket.inet_ntoa(socket.inet_aton(name))
        packed = socket.inet_pton(socket.AF_INET6, name.partition("%")[0])
        return socket.inet_ntop(socket.AF_INET6, packed).removeprefix("::ffff:")
    except OSError:
        return None


def _text(value: bytes | str) -> str:
    return value.decode("idna") if isinstance(value, bytes) else value


PROTOCOLS = {int(socket.SOCK_STREAM): TCP, int(socket.SOCK_DGRAM): UDP}
TRANSPORTS = (
    (socket.SOCK_STREAM, socket.IPPROTO_TCP),
    (socket.SOCK_DGRAM, socket.IPPROTO_UDP),
    (socket.SOCK_RAW, 0),
)


def _port(service: Any, kind: int, flags: int) -> int:
    if service is None:
        return 0
    if isinstance(service, int):
        return service & 0xFFFF
    text = _text(service)
    if text.lstrip("-").isdigit():
        return int(text) & 0xFFFF
    if not text:
        return 0
    found = port_of(text, PROTOCOLS.get(kind))
    if flags & socket.AI_NUMERICSERV or found is None:
        raise socket.gaierror(socket.EAI_SERVICE, "Servname not supported for ai_socktype")
    return found


def _transports(kind: int, proto: int) -> Iterator[tuple[socket.SocketKind, int]]:
    for each, usual in TRANSPORTS:
        if kind in (0, each) and proto in (0, usual):
            yield each, usual


def getaddrinfo(
    here: Host, host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0
) -> list[Found]:
    """As `socket.getaddrinfo`, from the table."""
    if host is None and port is None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    if family not in (0, *FAMILIES):
        raise socket.gaierror(socket.EAI_FAMILY, "ai_family not supported")
    number = _port(port, type & 0xF, flags)
    found = list(_transports(type & 0xF, proto))
    if not found:
        raise socket.gaierror(socket.EAI_SOCKTYPE, "ai_socktype not supported")
    official = _text(host) if flags & socket.AI_CANONNAME and host else ""
    scope = _scope(_text(host).partition("%")[2]) if host else 0
    return [
        (each, kind, usual, official if not at else "", _sockaddr(each, address, number, scope))
        for each, address in _addresses(here, host, family, flags)
        for at, (kind, usual) in enumerate(found)
    ]


FAMILIES = (socket.AF_INET, socket.AF_INET6)


def _sockaddr(family: int, address: str, number: int, scope: int) -> tuple[Any, ...]:
    return (address, number) if family == socket.AF_INET else (address, number, 0, scope)


def _scope(text: str) -> int:
    """The number of the interface that is written behind the `%` of an address."""
    if text.isdigit():
        return int(text)
    return next((index for index, name in CARDS.items() if name == text), 0)


def _addresses(
    here: Host, host: Any, family: int, flags: int
) -> list[tuple[socket.AddressFamily, str]]:
    """The families and addresses of a host: of both families if it is not a name of a node."""
    wanted = [each for each in FAMILIES if family in (0, each)]
    if host is None:
        if flags & socket.AI_PASSIVE:
            return [(each, ANY6 if each == socket.AF_INET6 else ANY) for each in wanted]
        loopbacks = {socket.AF_INET: LOOPBACK, socket.AF_INET6: LOOPBACK6}
        return [(each, loopbacks[each]) for each in reversed(wanted)]
    text = _text(host) or "localhost"
    address = numeric(text.partition("%")[0])
    if address is None:
        if flags & socket.AI_NUMERICHOST:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(wanted[0], here.resolve(text, wanted[0]))]
    written = socket.AF_INET6 if ":" in text else socket.AF_INET
    mapped = f"::ffff:{address}" if "." in address else address
    if written in wanted:
        return [(written, mapped if ":" in text else address)]
    if flags & socket.AI_V4MAPPED and family == socket.AF_INET6:
        return [(socket.AF_INET6, mapped)]
    raise socket.gaierror(socket.EAI_ADDRFAMILY, OTHER_FAMILY)


def gethostname(here: Host) -> str:
    return here.name


def gethostbyname(here: Host, hostname: str) -> str:
    return here.resolve(hostname)


def gethostbyname_ex(here: Host, hostname: str) -> tuple[str, list[str], list[str]]:
    return hostname, [], [here.resolve(hostname)]


def _resolved(here: Host, address: str) -> str:
    return here.resolve(address, socket.AF_INET6 if ":" in address else socket.AF_INET)


def _name_at(here: Host, address: str) -> str | None:
    if address in EVERY:
        return None
    return "localhost" if is_loopback(address) else here.name_at(address)


def gethostbyaddr(here: Host, ip_address: str) -> tuple[str, list[str], list[str]]:
    address = _resolved(here, ip_address)
    name = _name_at(here, address)
    if name is None:
        raise socket.herror(1, "Unknown host")
    return name, [], [address]


def getnameinfo(here: Host, sockaddr: tuple[Any, ...], flags: int) -> tuple[str, str]:
    if not isinstance(sockaddr, tuple):
        raise TypeError("getnameinfo() argument 1 must be a tuple")
    (host, port), (flow, scope) = sockaddr[:2], (*sockaddr[2:], 0, 0)[:2]
    if not 0 <= flow <= FLOW_MAX:
        raise OverflowError("getnameinfo(): flowinfo must be 0-1048575.")
    address = _resolved(here, host)
    name = _name_at(here, address)
    if name is None or flags & socket.NI_NUMERICHOST:
        if flags & socket.NI_NAMEREQD:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        name = f"{address}%{CARDS.get(scope, scope)}" if scope else address
    known = service_at(port, UDP if flags & socket.NI_DGRAM else TCP)
    return name, str(port) if known is None or flags & socket.NI_NUMERICSERV else known


def if_nameindex(here: Host) -> list[tuple[int, str]]:
    return list(CARDS.items())


def if_indextoname(here: Host, index: int) -> str:
    if not 0 <= index < 1 << 32:
        raise OverflowError("can't convert this value to unsigned int")
    if index not in CARDS:
        raise failure(errno.ENXIO)
    return CARDS[index]


def if_nametoindex(here: Host, name: str) -> int:
    for index, each in CARDS.items():
        if each == os.fsdecode(name):
            return index
    raise OSError("no interface with this name")
