"""Names of services and of protocols: those that every host knows, whatever its files say."""

from __future__ import annotations

from typing import Any

from presage.frontends.real.machine.arguments import small

_TCP = (
    "ftp-data 20 ftp 21 ssh 22 telnet 23 smtp 25 whois 43 gopher 70 finger 79 http 80 pop3 110"
    " nntp 119 imap2 143 bgp 179 irc 194 ldap 389 https 443 microsoft-ds 445 submissions 465"
    " submission 587 ldaps 636 ftps 990 telnets 992 imaps 993 pop3s 995 socks 1080 openvpn 1194"
    " ms-sql-s 1433 mysql 3306 svn 3690 sip 5060 sip-tls 5061 xmpp-client 5222 xmpp-server 5269"
    " postgresql 5432 amqps 5671 amqp 5672 x11 6000 redis 6379 http-alt 8080"
)
_UDP = "tftp 69 bootps 67 bootpc 68 syslog 514 mdns 5353"
_BOTH = "echo 7 discard 9 daytime 13 time 37 domain 53 kerberos 88 sunrpc 111 ntp 123 snmp 161"
_BOTH += " snmp-trap 162 radius 1812 nfs 2049"
TCP, UDP = "tcp", "udp"
PROTOCOLS = {"ip": 0, "icmp": 1, "igmp": 2, TCP: 6, UDP: 17, "ipv6": 41, "ipv6-icmp": 58}


def _table(text: str) -> dict[str, int]:
    words = text.split()
    return {name: int(port) for name, port in zip(words[::2], words[1::2], strict=True)}


SERVICES = {TCP: _table(f"{_TCP} {_BOTH}"), UDP: _table(f"{_UDP} {_BOTH}")}
PORTS = {name: {port: each for each, port in table.items()} for name, table in SERVICES.items()}


def port_of(service: str, protocol: str | None = None) -> int | None:
    """The port of a service; None if nobody knows it."""
    for each in SERVICES if protocol is None else (protocol,):
        found = SERVICES.get(each, {}).get(service)
        if found is not None:
            return found
    return None


def service_at(port: int, protocol: str | None = None) -> str | None:
    """The service that has a port; None if nobody knows it."""
    for each in SERVICES if protocol is None else (protocol,):
        found = PORTS.get(each, {}).get(port)
        if found is not None:
            return found
    return None


def getservbyname(name: str, protocol: str | None = None, /) -> int:
    """As `socket.getservbyname`."""
    found = port_of(name, protocol)
    if found is None:
        raise OSError("service/proto not found")
    return found


def getservbyport(port: int, protocol: str | None = None, /) -> str:
    """As `socket.getservbyport`."""
    if not 0 <= small(port) <= 0xFFFF:
        raise OverflowError("getservbyport: port must be 0-65535.")
    found = service_at(port, protocol)
    if found is None:
        raise OSError("port/proto not found")
    return found


def getprotobyname(name: str, /) -> int:
    """As `socket.getprotobyname`."""
    if name not in PROTOCOLS:
        raise OSError("protocol not found")
    return PROTOCOLS[name]


ANSWERS: dict[str, Any] = {
    "getservbyname": getservbyname,
    "getservbyport": getservbyport,
    "getprotobyname": getprotobyname,
}
