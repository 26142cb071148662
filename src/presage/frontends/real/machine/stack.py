"""The network stack of one simulated process: its sockets by port, and what comes and goes.

A packet for another node is handed to the process, which gives it to the network of the system; so
it arrives as an event. A packet for the node itself arrives at once, as over a real loopback.

Invariant: a segment is either for a connection that `connections` knows, for a listener, or it gets
the `answer_for_nobody`.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Protocol

from presage.frontends.real.machine.datagrams import DatagramEnd
from presage.frontends.real.machine.descriptors import Descriptors, failure
from presage.frontends.real.machine.inet import InetEnd
from presage.frontends.real.machine.names import (
    BROADCAST,
    EVERY,
    LOOPBACKS,
    NETWORK,
    NETWORK6,
    Host,
    is_loopback,
)
from presage.frontends.real.machine.packets import (
    Address,
    Datagram,
    Flow,
    Kind,
    Packet,
    Segment,
)
from presage.frontends.real.machine.ports import Ports
from presage.frontends.real.machine.tcp import (
    CONNECTING,
    LISTENING,
    OPEN,
    StreamEnd,
    answer_for_nobody,
    reverse,
)
from presage.frontends.real.machine.unixnames import UnixNames
from presage.process.context import running

LOOPS = socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP
LOOPS6 = socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_LOOP
CUTS_MAX = 16  # places tried in one segment that arrives in pieces


class Owner(Protocol):
    """The process, as far as its network stack needs it."""

    host: Host
    life: int
    now: float
    dead: bool
    steps: int  # stimuli given to it so far
    turns: int  # how often a thread gave the processor back
    thread: Any  # that runs now, or is about to
    threads: list[Any]

    def send(self, to: str, packet: Packet) -> None: ...

    def choose(self, n: int) -> int: ...

    def block(self, ready: Any, deadline: float | None, what: str) -> bool: ...

    def preempt(self) -> None: ...

    def note_poll(self) -> None: ...


class Stack:
    """All sockets of one process."""

    def __init__(self, process: Owner, *, split: int = 1, coalesce: bool = False) -> None:
        self.process = process
        self.host = process.host
        self.split = split  # pieces in which one segment may arrive
        self.coalesce = coalesce  # whether a segment may wait for the next one of its connection
        self.descriptors = Descriptors()
        self.default_timeout: float | None = None
        self.datagrams: Ports[DatagramEnd] = Ports(process.life, shared=True)
        self.streams: Ports[StreamEnd] = Ports(process.life, shared=False)
        self.connections: dict[Flow, StreamEnd] = {}
        self.names = UnixNames(process)

    def is_live(self) -> bool:
        """Whether its process runs now."""
        stack: list[Any] = running.stack
        return bool(stack) and stack[-1] is self.process and not self.process.dead

    def marks(self) -> tuple[list[int], int, int]:
        """The open descriptors, and the ports that come next: what is made from now on."""
        return list(self.descriptors.open), self.datagrams.next, self.streams.next

    # Ports and addresses.

    def bind(self, end: DatagramEnd | StreamEnd, address: Address) -> None:
        host, port = address
        group = isinstance(end, DatagramEnd) and (is_group(host) or host in BROADCAST)
        if not (self.host.is_own(host) or group):
            raise failure(errno.EADDRNOTAVAIL)
        if isinstance(end, DatagramEnd):
            self.datagrams.hold(end, host, port)
        else:
            self.streams.hold(end, host, port)

    def unbind(self, end: DatagramEnd | StreamEnd) -> None:
        if isinstance(end, DatagramEnd):
            self.datagrams.drop(end)
        else:
            self.streams.drop(end)

    def adopt(self, end: StreamEnd) -> None:
        """An accepted connection holds the port of its listener."""
        self.streams.holders.setdefault(end.local[1], []).append(end)

    def settle(self, end: InetEnd, host: str) -> None:
        """Take the address by which `host` is reached."""
        end.local = (self._source(end.local[0], host), end.local[1])

    def _source(self, bound: str, host: str) -> str:
        if bound not in EVERY and not is_group(bound):
            return bound
        if is_loopback(host) or host in EVERY:
            return LOOPBACKS["::" if ":" in host else "0.0.0.0"]
        return self.host.own_address(six=":" in host)

    def may_listen(self, end: StreamEnd) -> None:
        host, port = end.local
        for other in self.streams.at(port):
            if other.is_listening() and self.streams.conflict(end, host, other):
                raise failure(errno.EADDRINUSE)

    def route(self, host: str, port: int) -> str:
        """The node that has this address."""
        name = self.host.name_at(host)
        if name is None:
            near = host.startswith((NETWORK, NETWORK6))
            raise failure(errno.EHOSTUNREACH if near else errno.ENETUNREACH)
        return name

    # Datagrams.

    def send_datagram(self, end: DatagramEnd, host: str, port: int, data: bytes) -> None:
        other = self.host.others.get(host)
        if other is not None and not is_loopback(end.local[0]):
            self.process.send(other, Datagram(end.local[1], port, data, "", ":" in host))
        else:
            self._send_elsewhere(end, host, port, data)

    def _send_elsewhere(self, end: DatagramEnd, host: str, port: int, data: bytes) -> None:
        """To a group, to all, to this node, or where nobody is."""
        if is_group(host) or host in BROADCAST:
            six = ":" in host
            packet, own = Datagram(end.local[1], port, data, host, six), self.host.own_address(six)
            loops = end.get_option(*(LOOPS6 if six else LOOPS))
            for name in self.host.names:
                if name != self.host.name:
                    self.process.send(name, packet)
                elif loops or not is_group(host):
                    self._deliver(own, own, packet)
            return
        name, source = self.route(host, port), self._source(end.local[0], host)
        packet = Datagram(end.local[1], port, data, "", ":" in host)
        if name == self.host.name:
            target = LOOPBACKS.get(host, host)
            if not self._deliver(source, target, packet) and end.remote == (target, port):
                end.error = errno.ECONNREFUSED
        elif is_loopback(source):
            raise failure(errno.EINVAL)
        else:
            self.process.send(name, packet)

    def _deliver(self, source: str, address: str, packet: Datagram) -> bool:
        sender, holders = (source, packet.sport), self.datagrams.at(packet.dport)
        if len(holders) == 1:
            end = holders[0]
            wants = end.wants(address, sender, packet)
            if wants:
                end.arrive(packet.data, sender, packet.group or address)
            return wants
        ends = [end for end in holders if end.wants(address, sender, packet)]
        if packet.group or len(ends) == 1:
            for end in ends:
                end.arrive(packet.data, sender, packet.group or address)
        elif ends:
            best = max(ends, key=lambda end: (end.remote is not None, end.local[0] not in EVERY))
            last = [e for e in ends if (e.remote, e.local) == (best.remote, best.local)][-1]
            last.arrive(packet.data, sender, address)
        return bool(ends)

    # Segments.

    def is_direct(self, flow: Flow) -> bool:
        """Whether both ends are in this process."""
        return self.host.is_own(flow[2])

    def register(self, end: StreamEnd, flow: Flow) -> None:
        end.flow = flow
        self.connections[flow] = end

    def forget(self, end: StreamEnd) -> None:
        if end.flow is not None:
            self.connections.pop(end.flow, None)
            end.flow = None

    def transmit(self, segment: Segment) -> None:
        if self.is_direct(segment.flow):
            self._arrive(segment)
        else:
            self.process.send(self.route(segment.flow[2], segment.flow[3]), segment)

    def answer(self, flow: Flow, kind: Kind) -> None:
        """Send a segment that belongs to no connection of ours."""
        self.transmit(Segment(flow, kind))

    def _arrive(self, segment: Segment) -> None:
        key = reverse(segment.flow)
        end = self.connections.get(key)
        if segment.kind == "syn" and not (end is not None and end.is_connecting()):
            if end is not None:  # left from an older life of its sender
                end.fail(errno.ECONNRESET)
            self._request(segment)
        elif end is not None:
            end.arrive(segment.kind, segment.data)
        else:
            answer = answer_for_nobody(segment.kind)
            if answer is not None:
                self.answer(key, answer)

    def _request(self, segment: Segment) -> None:
        host, port = segment.flow[2:]
        listeners = [e for e in self.streams.at(port) if e.state is LISTENING]
        found = [e for e in listeners if e.local[0] == host] or [
            e for e in listeners if e.covers(host)
        ]
        if found:
            found[0].request(segment.flow)
        else:
            self.answer(reverse(segment.flow), "rst")

    def take_in(self, end: StreamEnd, data: bytes) -> None:
        """Data has come: whole, or in pieces, or to wait for the next, by choices of the step."""
        end.held.append(data)
        if end.flow is None or self.is_direct(end.flow):
            end.show()
        elif self.coalesce and self.process.choose(2):
            return
        elif self.split > 1 and len(end.held) == 1:
            end.held.popleft()
            self._show_piece(end, data, self.split)
        else:
            end.show()

    def _show_piece(self, end: StreamEnd, data: bytes, pieces: int) -> None:
        places = cuts(len(data))
        chosen = self.process.choose(len(places) + 1) if pieces > 1 and places else 0
        if not chosen:
            end.inbox += data
            end.changes += 1
            return
        at = places[chosen - 1]
        end.inbox += data[:at]
        end.changes += 1
        end.held.append(data[at:])

    # What the process asks, gives and ends.

    def receive(self, source: str, packet: Packet) -> None:
        """A packet has come from another node."""
        if isinstance(packet, Segment):
            self._arrive(packet)
        elif packet.six:
            host = self.host
            self._deliver(host.address_of(source, six=True), host.own_address(six=True), packet)
        else:
            self._deliver(self.host.addresses[source], self.host.address, packet)

    def refuse(self, source: str, packet: Segment) -> None:
        """A request for a connection has come, and is refused even if somebody listens."""
        self.answer(reverse(packet.flow), "rst")

    def own_events(self) -> list[tuple[str, str]]:
        """What can happen to the connections of this process without another node's doing."""
        events: list[tuple[str, str]] = []
        for end in self.connections.values():
            if end.choked:
                events.append(("drained", label(end)))
            if end.held:
                events.append(("arrive", label(end)))
        return events

    def go(self, event: tuple[str, str]) -> None:
        """One of `own_events` happens."""
        kind, name = event
        end = self._labelled(name)
        if kind == "drained":
            end.drain()
        else:
            end.inbox += end.held.popleft()
            end.changes += 1

    def open_connections(self) -> list[str]:
        """The connections to other nodes that may break, by their labels."""
        return [label(end) for end in self._remote() if end.state is OPEN]

    def cut(self, name: str) -> None:
        """The connection with this label breaks; both ends learn of it, data may be lost."""
        self._labelled(name).cut()

    def shut(self, *, silent: bool = False) -> None:
        """The process has ended: its kernel closes every socket, or, if `silent`, is gone too."""
        for end in list(self.connections.values()):
            if silent:
                end.abandon()
            elif end.state is not CONNECTING:
                end.refs = 0
                end.release()
        for port in list(self.streams.holders.values()):
            for end in [each for each in port if each.state is LISTENING]:
                end.refs = 0
                if not silent:
                    end.release()
        self.connections.clear()

    def _remote(self) -> Iterator[StreamEnd]:
        for flow, end in self.connections.items():
            if not self.is_direct(flow):
                yield end

    def _labelled(self, name: str) -> StreamEnd:
        return next(end for end in self.connections.values() if label(end) == name)


def here() -> Stack:
    """The stack of the process that runs; asked only where there is one."""
    return running.stack[-1].stack  # type: ignore[attr-defined,no-any-return]


def label(end: StreamEnd) -> str:
    """A connection for people, the same in every run."""
    assert end.remote is not None
    return f"{end.local[0]}:{end.local[1]}>{end.remote[0]}:{end.remote[1]}"


@lru_cache(1024)
def is_group(host: str) -> bool:
    """Whether this is a multicast address."""
    if ":" in host:
        return host.startswith("ff")
    first = host.split(".", 1)[0]
    return first.isdigit() and 224 <= int(first) <= 239


def cuts(size: int) -> tuple[int, ...]:
    """Places where data of this size may be torn: all if it is short, else some."""
    if size <= CUTS_MAX + 1:
        return tuple(range(1, size))
    return tuple(sorted({1, 2, size // 4, size // 2, size - size // 4, size - 2, size - 1}))
