"""IPv6: calls on the real loopback and in a simulated process, and nodes that talk over it."""

import errno
import select
import socket
import struct
from collections.abc import Callable
from typing import Any

import pytest
from unit.frontends.real.machine.eager import Eager

PKTINFO = socket.IPPROTO_IPV6, socket.IPV6_PKTINFO
STREAM, DGRAM = socket.SOCK_STREAM, socket.SOCK_DGRAM


def bound(host: str, port: int = 0, kind: int = STREAM, *, only6: bool | None = None) -> Any:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, kind)
    made.settimeout(5)
    if only6 is not None:
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, only6)
    made.bind((host, port))
    return made


def ends_of_connections(listen: str, call: str) -> Any:
    """How both ends see a connection, with ports by their names."""
    with bound(listen) as listener:
        listener.listen()
        port = listener.getsockname()[1]
        family = socket.AF_INET6 if ":" in call else socket.AF_INET
        with socket.socket(family) as client:
            client.connect((call, port))
            server, peer = listener.accept()
            with server:
                mine = client.getsockname()[1]
                seen = [client.getsockname(), client.getpeername(), server.getsockname(), peer]
                server.sendall(b"hello")
                data = client.recv(10)
    names = {port: "port", mine: "mine"}
    return data, [(host, names[number], *more) for host, number, *more in seen]


def who_keeps_a_port(first: str, second: str, only6: bool, kind: int) -> bool:
    with bound(first, 0, kind, only6=only6 if ":" in first else None) as one:
        if kind == STREAM:
            one.listen()
        bound(second, one.getsockname()[1], kind, only6=only6 if ":" in second else None).close()
    return True


def only_ipv6_hears_nothing_else() -> None:
    with bound("::", only6=True) as listener:
        listener.listen()
        socket.create_connection(("127.0.0.1", listener.getsockname()[1]), 5)


def set_too_late() -> None:
    with bound("::") as end:
        end.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)


def option_of_the_other_family() -> None:
    with socket.socket(socket.AF_INET) as end:
        end.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)


def calls_ipv4_though_only_ipv6(kind: int) -> None:
    with socket.socket(socket.AF_INET6, kind) as end:
        end.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        end.connect(("::ffff:127.0.0.1", 9))


def where_a_datagram_went(call: str) -> Any:
    with bound("::", kind=DGRAM) as server, bound(call, kind=DGRAM) as client:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
        client.sendto(b"question", (call, server.getsockname()[1]))
        data, items, _, source = server.recvmsg(100, socket.CMSG_SPACE(20))
        seen = [
            (level, kind, socket.inet_ntop(socket.AF_INET6, d[:16])) for level, kind, d in items
        ]
        server.sendmsg([b"answer"], [(*PKTINFO, items[0][2][:16] + struct.pack("I", 0))], 0, source)
        return data, seen, source[0], source[2:], client.recvfrom(100)[0]


def ancillary_data_without_room() -> Any:
    with bound("::1", kind=DGRAM) as end:
        end.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
        end.sendto(b"x", end.getsockname())
        data, items, flags, _ = end.recvmsg(10)
        return data, items, bool(flags & socket.MSG_CTRUNC)


def dual_stack_by_the_library() -> Any:
    with socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True) as listener:
        socket.create_connection(("127.0.0.1", listener.getsockname()[1]), 5).close()
        return socket.has_dualstack_ipv6(), listener.accept()[1][0]


def who_is(*args: Any) -> Any:
    return [found[:2] + found[4:] for found in socket.getaddrinfo(*args)]


def wrong_address(address: Any) -> None:
    with socket.socket(socket.AF_INET6) as end:
        end.bind(address)


NUMERIC, MAPPED = socket.AI_NUMERICHOST, socket.AI_V4MAPPED
SCENES: dict[str, Callable[[], Any]] = {
    **{
        f"{listen} called by {call}": lambda listen=listen, call=call: ends_of_connections(
            listen, call
        )
        for listen, call in (
            ("::1", "::1"),
            ("::", "::1"),
            ("::", "127.0.0.1"),
            ("::", "::ffff:127.0.0.1"),
            ("0.0.0.0", "::ffff:127.0.0.1"),
            ("::ffff:127.0.0.1", "127.0.0.1"),
            ("::", "::"),
            ("::1", "127.0.0.1"),
            ("127.0.0.1", "::1"),
        )
    },
    **{
        f"{first}, then {second}, {only6}, {kind}": (
            lambda first=first, second=second, only6=only6, kind=kind: who_keeps_a_port(
                first, second, only6, kind
            )
        )
        for kind in (STREAM, DGRAM)
        for only6 in (False, True)
        for first, second in (
            ("::", "0.0.0.0"),
            ("0.0.0.0", "::"),
            ("::", "::1"),
            ("::1", "127.0.0.1"),
            ("::", "127.0.0.1"),
        )
    },
    "only6": only_ipv6_hears_nothing_else,
    "too late": set_too_late,
    "of the other family": option_of_the_other_family,
    "calls IPv4, stream": lambda: calls_ipv4_though_only_ipv6(STREAM),
    "calls IPv4, datagram": lambda: calls_ipv4_though_only_ipv6(DGRAM),
    "datagram to ::1": lambda: where_a_datagram_went("::1"),
    "datagram to 127.0.0.1": lambda: where_a_datagram_went("127.0.0.1"),
    "no room": ancillary_data_without_room,
    "dual": dual_stack_by_the_library,
    "passive": lambda: who_is(None, 80, 0, STREAM, 0, socket.AI_PASSIVE),
    "numeric": lambda: who_is("::1", 80, 0, STREAM, 0, NUMERIC),
    "mapped": lambda: who_is("127.0.0.1", 80, socket.AF_INET6, STREAM, 0, NUMERIC | MAPPED),
    "mapped name": lambda: who_is("::ffff:127.0.0.1", 80, 0, STREAM, 0, NUMERIC),
    "not mapped": lambda: who_is("127.0.0.1", 80, socket.AF_INET6, STREAM),
    "other family": lambda: who_is("::1", 80, socket.AF_INET, STREAM),
    "bind of the other family": lambda: wrong_address(("127.0.0.1", 0)),
    "five parts": lambda: wrong_address(("::1", 0, 0, 0, 0)),
    "large flow": lambda: wrong_address(("::1", 0, 1 << 20)),
    "not a tuple": lambda: wrong_address("::1"),
    "nobody's address": lambda: wrong_address(("fd00::77", 0)),
}


def outcome(scene: Callable[[], Any]) -> Any:
    try:
        return scene()
    except (OSError, TypeError, OverflowError) as error:
        return type(error).__name__, error.args


def has_ipv6() -> bool:
    try:
        bound("::1").close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this host has no IPv6 to compare with")
def test_it_is_as_on_the_real_loopback() -> None:
    real = {name: outcome(scene) for name, scene in SCENES.items()}
    seen: dict[str, Any] = {}
    nodes = Eager({"n": lambda: seen.update({n: outcome(each) for n, each in SCENES.items()})})
    nodes.run().close()
    assert seen == real


def test_nodes_talk_over_streams() -> None:
    seen: list[Any] = []

    def server() -> None:
        with socket.create_server(
            ("", 80), family=socket.AF_INET6, dualstack_ipv6=True
        ) as listener:
            for _ in range(2):
                end, peer = listener.accept()
                end.sendall(repr((peer[0], end.getsockname()[0])).encode())
                end.close()

    def client() -> None:
        assert socket.getaddrinfo("server", 80, socket.AF_INET6)[0][4] == ("fd00::1", 80, 0, 0)
        for host in ("fd00::1", "10.0.0.1"):
            with socket.create_connection((host, 80)) as end:
                seen.append(end.recv(100).decode())

    Eager({"server": server, "client": client}).run().close()
    assert seen == ["('fd00::2', 'fd00::1')", "('::ffff:10.0.0.2', '::ffff:10.0.0.1')"]


def test_nodes_talk_over_datagrams_and_groups() -> None:
    seen: list[Any] = []

    def server() -> None:
        end = bound("::", 9, DGRAM)
        group = socket.inet_pton(socket.AF_INET6, "ff02::1234") + struct.pack("I", 0)
        end.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group)
        poller = select.epoll()
        poller.register(end, select.EPOLLIN)
        for _ in range(2):
            poller.poll()
            data, source = end.recvfrom(100)
            end.sendto(data.upper(), source)

    def client() -> None:
        end = bound("::", 0, DGRAM)
        for host in ("fd00::1", "ff02::1234"):
            end.sendto(b"hello", (host, 9))
            seen.append(end.recvfrom(100))
        with pytest.raises(OSError) as caught:
            end.recvmsg(10, 10, socket.MSG_ERRQUEUE)
        assert caught.value.errno == errno.EAGAIN

    Eager({"server": server, "client": client}).run().close()
    assert seen == [(b"HELLO", ("fd00::1", 9, 0, 0))] * 2
