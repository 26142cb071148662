"""The network stack alone: what segments and datagrams do, one rule a test."""

import errno
import select
import socket
import struct

import pytest
from unit.frontends.real.machine.hosts import Hosts

from presage.frontends.real.machine.packets import Datagram, Segment


def listener(hosts: Hosts, name: str = "b", port: int = 80, backlog: int = 5) -> socket.socket:
    def make() -> socket.socket:
        made = socket.create_server((name, port), backlog=backlog)
        made.setblocking(False)
        return made

    return hosts.call(name, make)


def connected(hosts: Hosts) -> tuple[socket.socket, socket.socket]:
    """The client's end in `a` and the server's in `b`."""
    server = listener(hosts)
    client = hosts.call("a", socket.socket)
    client.setblocking(False)
    with pytest.raises(BlockingIOError):
        hosts.call("a", client.connect, ("b", 80))
    made, _ = hosts.call("b", server.accept)
    made.setblocking(False)
    return client, made


def error_of(hosts: Hosts, name: str, call, *args) -> int:
    with pytest.raises(OSError) as caught:
        hosts.call(name, call, *args)
    return caught.value.errno


def test_a_connection_that_is_cut_fails_at_both_ends() -> None:
    hosts = Hosts("a", "b")
    client, server = connected(hosts)
    (label,) = hosts.nodes["a"].stack.open_connections()
    hosts.call("a", hosts.nodes["a"].stack.cut, label)
    assert error_of(hosts, "a", client.recv, 1) == errno.ECONNRESET
    assert error_of(hosts, "b", server.recv, 1) == errno.ECONNRESET
    assert not hosts.nodes["a"].stack.open_connections()
    assert not hosts.nodes["b"].stack.open_connections()


def test_the_reset_of_a_cut_connection_may_overtake_its_data() -> None:
    hosts = Hosts("a", "b")
    client, server = connected(hosts)
    with hosts.within("a") as node:
        client.send(b"lost")
        node.stack.cut(node.stack.open_connections()[0])
        data, reset = node.sent
        node.sent.clear()
    assert data[1].lane != reset[1].lane
    hosts.nodes["b"].stack.receive("a", reset[1])
    hosts.nodes["b"].stack.receive("a", data[1])  # answered by a reset that finds nobody
    hosts.deliver()
    assert error_of(hosts, "b", server.recv, 10) == errno.ECONNRESET


def test_a_refused_request_fails_though_somebody_listens() -> None:
    hosts = Hosts("a", "b")
    listener(hosts)
    client = hosts.call("a", socket.socket)
    client.setblocking(False)
    with hosts.within("a") as node, pytest.raises(BlockingIOError):
        client.connect(("b", 80))
    ((_, syn),) = node.sent
    node.sent.clear()
    hosts.nodes["b"].stack.refuse("a", syn)
    hosts.deliver()
    asked = hosts.call("a", client.getsockopt, socket.SOL_SOCKET, socket.SO_ERROR)
    assert asked == errno.ECONNREFUSED


def test_segments_of_an_older_life_are_answered_by_a_reset() -> None:
    hosts = Hosts("a", "b")
    client, _ = connected(hosts)
    hosts.nodes["b"] = type(hosts.nodes["b"])("b", ["a", "b"], 7)  # it knows of no connection
    assert hosts.call("a", client.send, b"hello") == 5
    assert error_of(hosts, "a", client.recv, 1) == errno.ECONNRESET


def given_up(hosts: Hosts) -> socket.socket:
    """What `accept` gives for a connection whose client closed before it was told of it."""
    server, client = listener(hosts), hosts.call("a", socket.socket)
    client.setblocking(False)
    with hosts.within("a"):
        with pytest.raises(BlockingIOError):
            client.connect(("b", 80))
        client.close()
    hosts.deliver()
    made, _ = hosts.call("b", server.accept)
    made.setblocking(False)
    return made


def test_a_connection_that_was_given_up_ends_as_one_that_was_closed() -> None:
    hosts = Hosts("a", "b")
    server = given_up(hosts)
    assert hosts.call("b", server.recv, 1) == b""
    assert hosts.call("b", server.send, b"hello") == 5  # answered by a reset
    assert error_of(hosts, "b", server.send, b"hello") == errno.EPIPE
    assert not hosts.nodes["b"].stack.connections


def test_a_process_that_restarts_uses_fresh_ports() -> None:
    ports = set()
    for life in range(3):
        hosts = Hosts("a")
        hosts.nodes["a"] = type(hosts.nodes["a"])("a", ["a"], life)
        made = hosts.call("a", socket.socket)
        hosts.call("a", made.bind, ("", 0))
        ports.add(hosts.call("a", made.getsockname)[1])
    assert len(ports) == 3


@pytest.mark.parametrize(("unread", "kinds"), [(False, ["fin"]), (True, ["rst"])])
def test_the_end_of_a_process_closes_its_connections(unread: bool, kinds: list[str]) -> None:
    hosts = Hosts("a", "b")
    client, server = connected(hosts)
    if unread:
        hosts.call("a", client.send, b"never read")
    with hosts.within("b") as node:
        node.stack.shut()
    assert [packet.kind for _, packet in node.sent] == kinds
    hosts.deliver()
    if unread:
        assert error_of(hosts, "a", client.recv, 1) == errno.ECONNRESET
    else:
        assert hosts.call("a", client.recv, 1) == b""


def test_a_silent_end_sends_nothing() -> None:
    hosts = Hosts("a", "b")
    connected(hosts)
    with hosts.within("b") as node:
        node.stack.shut(silent=True)
    assert not node.sent


def test_connections_that_nobody_accepted_are_reset_with_their_listener() -> None:
    hosts = Hosts("a", "b")
    server, client = listener(hosts), hosts.call("a", socket.socket)
    client.setblocking(False)
    with pytest.raises(BlockingIOError):
        hosts.call("a", client.connect, ("b", 80))
    assert hosts.call("a", client.getpeername) == ("10.0.0.2", 80)
    hosts.call("b", server.close)
    assert error_of(hosts, "a", client.recv, 1) == errno.ECONNRESET


def test_a_full_backlog_lets_requests_wait() -> None:
    hosts = Hosts("a", "b")
    server = listener(hosts, backlog=0)
    clients = [hosts.call("a", socket.socket) for _ in range(2)]
    for client in clients:
        client.setblocking(False)
        with pytest.raises(BlockingIOError):
            hosts.call("a", client.connect, ("b", 80))
    hosts.call("a", clients[0].getpeername)
    assert error_of(hosts, "a", clients[1].getpeername) == errno.ENOTCONN
    hosts.call("b", server.accept)
    assert hosts.call("a", clients[1].getpeername) == ("10.0.0.2", 80)


def test_a_socket_is_not_writable_after_64_segments_of_one_step() -> None:
    hosts = Hosts("a", "b")
    client, server = connected(hosts)

    def flood() -> int:
        sent = 0
        try:
            while True:
                sent += client.send(b"x")
        except BlockingIOError:
            return sent

    assert hosts.call("a", flood) == 64
    stack = hosts.nodes["a"].stack
    ((kind, label),) = stack.own_events()
    assert kind == "drained"
    assert hosts.call("a", select.select, [], [client], [], 0) == ([], [], [])
    hosts.call("a", stack.go, (kind, label))
    assert hosts.call("a", select.select, [], [client], [], 0) == ([], [client], [])
    assert not stack.own_events()
    assert len(hosts.call("b", server.recv, 1000)) == 64


def test_a_socket_takes_64_kib_in_one_step() -> None:
    hosts = Hosts("a", "b")
    client, _ = connected(hosts)
    assert hosts.call("a", client.send, bytes(100_000)) == 65_536
    assert error_of(hosts, "a", client.send, b"x") == errno.EAGAIN


def test_what_is_sent_in_other_steps_does_not_count() -> None:
    hosts = Hosts("a", "b")
    client, server = connected(hosts)
    for _ in range(200):
        assert hosts.call("a", client.send, bytes(60_000)) == 60_000
        hosts.call("b", server.recv, 60_000)


def test_a_segment_may_arrive_in_pieces() -> None:
    hosts = Hosts("a", "b")
    client, server = connected(hosts)
    node = hosts.nodes["b"]
    node.stack.split = 2
    node.choices.append(3)
    hosts.call("a", client.send, b"hello")
    assert hosts.call("b", server.recv, 10) == b"hel"
    assert error_of(hosts, "b", server.recv, 10) == errno.EAGAIN
    ((kind, label),) = node.stack.own_events()
    assert kind == "arrive"
    hosts.call("b", node.stack.go, (kind, label))
    assert hosts.call("b", server.recv, 10) == b"lo"


def test_a_segment_may_wait_for_the_next_one() -> None:
    hosts = Hosts("a", "b")
    client, server = connected(hosts)
    node = hosts.nodes["b"]
    node.stack.coalesce = True
    node.choices.extend([1, 0])
    hosts.call("a", client.send, b"one ")
    assert error_of(hosts, "b", server.recv, 10) == errno.EAGAIN
    hosts.call("a", client.send, b"two")
    assert hosts.call("b", server.recv, 10) == b"one two"


def test_lingering_for_no_time_sends_a_reset() -> None:
    hosts = Hosts("a", "b")
    client, server = connected(hosts)
    linger = struct.pack("ii", 1, 0)
    hosts.call("a", client.setsockopt, socket.SOL_SOCKET, socket.SO_LINGER, linger)
    hosts.call("a", client.close)
    assert error_of(hosts, "b", server.recv, 1) == errno.ECONNRESET


def test_a_port_is_held_once_unless_both_say_otherwise() -> None:
    hosts = Hosts("a")
    first, second = (hosts.call("a", socket.socket) for _ in range(2))
    hosts.call("a", first.bind, ("", 7))
    assert error_of(hosts, "a", second.bind, ("", 7)) == errno.EADDRINUSE
    for each in first, second:
        hosts.call("a", each.setsockopt, socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    hosts.call("a", second.bind, ("", 7))
    hosts.call("a", first.listen, 1)
    assert error_of(hosts, "a", second.listen, 1) == errno.EADDRINUSE


def test_addresses_of_others_cannot_be_bound_or_reached() -> None:
    hosts = Hosts("a", "b")
    made = hosts.call("a", socket.socket)
    assert error_of(hosts, "a", made.bind, ("b", 7)) == errno.EADDRNOTAVAIL
    assert error_of(hosts, "a", made.connect, ("8.8.8.8", 7)) == errno.ENETUNREACH
    assert error_of(hosts, "a", made.connect, ("10.0.0.9", 7)) == errno.EHOSTUNREACH


def datagram(hosts: Hosts, name: str, port: int = 0) -> socket.socket:
    made = hosts.call(name, socket.socket, socket.AF_INET, socket.SOCK_DGRAM)
    made.setblocking(False)
    hosts.call(name, made.bind, ("", port))
    return made


def test_a_datagram_comes_whole_with_its_sender() -> None:
    hosts = Hosts("a", "b")
    one, other = datagram(hosts, "a", 9), datagram(hosts, "b", 9)
    hosts.call("a", one.sendto, b"hello", ("b", 9))
    assert hosts.call("b", other.recvfrom, 3) == (b"hel", ("10.0.0.1", 9))
    assert error_of(hosts, "b", other.recvfrom, 3) == errno.EAGAIN


def test_a_broadcast_is_one_send_per_node_and_wants_to_be_allowed() -> None:
    hosts = Hosts("a", "b", "c")
    ends = {name: datagram(hosts, name, 9) for name in "abc"}
    assert error_of(hosts, "a", ends["a"].sendto, b"x", ("<broadcast>", 9)) == errno.EACCES
    hosts.call("a", ends["a"].setsockopt, socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    hosts.call("a", ends["a"].sendto, b"x", ("<broadcast>", 9))
    for name, end in ends.items():
        assert hosts.call(name, end.recvfrom, 9) == (b"x", ("10.0.0.1", 9))


def test_only_members_of_a_group_get_its_datagrams() -> None:
    hosts = Hosts("a", "b", "c")
    ends = {name: datagram(hosts, name, 9) for name in "abc"}
    group = socket.inet_aton("224.0.0.7") + socket.inet_aton("0.0.0.0")
    hosts.call("b", ends["b"].setsockopt, socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
    hosts.call("a", ends["a"].sendto, b"x", ("224.0.0.7", 9))
    assert hosts.call("b", ends["b"].recv, 9) == b"x"
    assert error_of(hosts, "c", ends["c"].recv, 9) == errno.EAGAIN
    assert error_of(hosts, "a", ends["a"].recv, 9) == errno.EAGAIN


def test_packets_for_people_are_short() -> None:
    assert str(Datagram(1, 2, b"hello")) == "udp 1>2 'hello'"
    segment = Segment(("10.0.0.1", 5, "10.0.0.2", 80), "data", b"x" * 50)
    assert str(segment) == f"tcp 5>80 data '{'x' * 40}'... (50 bytes)"
    assert str(Segment(segment.flow, "rst", cut=True)) == "tcp 5>80 cut"
