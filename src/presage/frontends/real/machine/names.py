"""Names and addresses: the only name server that a simulated process knows.

Node number i has the address `10.0.0.<i + 1>` and its name as host name. Every other name is
unknown, and no question leaves the process. The answers have the shape and the errors of the
functions of `socket` that ask them.

Invariant: the table is the same in all nodes of a system and does not change.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

NETWORK = "10.0.0."
LOOPBACK = "127.0.0.1"
ANY = "0.0.0.0"
BROADCAST = ("255.255.255.255", f"{NETWORK}255")
NODES_MAX = 254

Found: TypeAlias = tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[str, int]]


class Host:
    """One node's name and address, and those of all nodes."""

    def __init__(self, name: str, names: Sequence[str]) -> None:
        if len(names) > NODES_MAX:
            raise ValueError(f"{len(names)} nodes, at most {NODES_MAX} have an address")
        self.name = name
        self.names = tuple(names)
        self.addresses = {each: f"{NETWORK}{at}" for at, each in enumerate(self.names, 1)}
        self._names = {address: each for each, address in self.addresses.items()}
        self._resolved: dict[str, str] = {}
        self.address = self.addresses[name]
        self.others = {address: each for address, each in self._names.items() if each != name}

    @property
    def peers(self) -> tuple[str, ...]:
        return tuple(each for each in self.names if each != self.name)

    def name_at(self, address: str) -> str | None:
        """The node that has this address; its own for the loopback."""
        if address.startswith("127.") or address == ANY:
            return self.name
        return self._names.get(address)

    def is_own(self, address: str) -> bool:
        return self.name_at(address) == self.name

    def resolve(self, name: str) -> str:
        """The address of a host name; `gaierror` for one that no node has."""
        address = self._resolved.get(name)
        if address is None:
            address = self._resolved[name] = self._look_up(name)
        return address

    def _look_up(self, name: str) -> str:
        if name == "":
            return ANY
        if name == "<broadcast>":
            return BROADCAST[0]
        if is_numeric(name):
            return socket.inet_ntoa(socket.inet_aton(name))
        if name in self.addresses:
            return self.addresses[name]
        if name in ("localhost", "localhost.localdomain", "ip4-localhost"):
            return LOOPBACK
        stem = name.split(".", 1)[0].lower()
        for each, address in self.addresses.items():
            if name.lower() == each.lower() or (stem == each.lower() and name.endswith(".local")):
                return address
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def is_numeric(name: str) -> bool:
    try:
        socket.inet_aton(name)
    except OSError:
        return False
    return True


def _text(value: bytes | str) -> str:
    return value.decode("idna") if isinstance(value, bytes) else value


SERVICES = {"http": 80, "https": 443, "domain": 53, "ssh": 22, "smtp": 25, "ftp": 21, "redis": 6379}
TRANSPORTS = (
    (socket.SOCK_STREAM, socket.IPPROTO_TCP),
    (socket.SOCK_DGRAM, socket.IPPROTO_UDP),
    (socket.SOCK_RAW, 0),
)


def _port(service: Any, flags: int) -> int:
    if service is None:
        return 0
    if isinstance(service, int):
        return service & 0xFFFF
    text = _text(service)
    if text.lstrip("-").isdigit():
        return int(text) & 0xFFFF
    if not text:
        return 0
    if flags & socket.AI_NUMERICSERV or text not in SERVICES:
        raise socket.gaierror(socket.EAI_SERVICE, "Servname not supported for ai_socktype")
    return SERVICES[text]


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
    if family not in (0, socket.AF_INET):
        error = socket.EAI_ADDRFAMILY if family == socket.AF_INET6 else socket.EAI_FAMILY
        raise socket.gaierror(error, "Address family for hostname not supported")
    number = _port(port, flags)
    if host is None:
        address = ANY if flags & socket.AI_PASSIVE else LOOPBACK
    else:
        text = _text(host)
        if flags & socket.AI_NUMERICHOST and not is_numeric(text):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        address = here.resolve(text or "localhost")
    found = list(_transports(type & 0xF, proto))
    if not found:
        raise socket.gaierror(socket.EAI_SOCKTYPE, "ai_socktype not supported")
    official = _text(host) if flags & socket.AI_CANONNAME and host else ""
    return [
        (socket.AF_INET, each, usual, official if not at else "", (address, number))
        for at, (each, usual) in enumerate(found)
    ]


def gethostname(here: Host) -> str:
    return here.name


def gethostbyname(here: Host, hostname: str) -> str:
    return here.resolve(hostname)


def gethostbyname_ex(here: Host, hostname: str) -> tuple[str, list[str], list[str]]:
    return hostname, [], [here.resolve(hostname)]


def gethostbyaddr(here: Host, ip_address: str) -> tuple[str, list[str], list[str]]:
    address = here.resolve(ip_address)
    name = "localhost" if address.startswith("127.") else here.name_at(address)
    if name is None or address == ANY:
        raise socket.herror(1, "Unknown host")
    return name, [], [address]


def getnameinfo(here: Host, sockaddr: tuple[Any, ...], flags: int) -> tuple[str, str]:
    address, port = here.resolve(sockaddr[0]), int(sockaddr[1])
    name = "localhost" if address.startswith("127.") else here.name_at(address)
    if name is None or flags & socket.NI_NUMERICHOST:
        if flags & socket.NI_NAMEREQD:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        name = address
    services = {number: each for each, number in SERVICES.items()}
    service = str(port) if flags & socket.NI_NUMERICSERV else services.get(port, str(port))
    return name, service
