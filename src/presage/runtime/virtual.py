"""All nodes of a system in one process, on a virtual clock and an emulated network.

The hosts are those of real processes; only sockets and time are not. Time passes where nothing
happens, so an hour of a quiet system takes a second, and one seed gives one run, to the byte.

A killed node loses what it did not flush. What it had written before still arrives, then its peers
lose their sockets, as when a kernel closes them. Between nodes that are cut off from each other
datagrams are lost, and sockets stall until the network heals or keep-alives miss.

Invariant: everything that happens has a time not before the last thing that happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from heapq import heappop, heappush
from typing import Any

from presage.model.world.system import System
from presage.runtime.clock import Clock
from presage.runtime.frame import HEADER, Frame, Messages
from presage.runtime.host import Host
from presage.runtime.log import Entry, StepLog
from presage.runtime.node import LiveNode, Runner
from presage.runtime.shaping import Shape, Shaper
from presage.runtime.station import Socket, Station
from presage.runtime.step import Options, Record

TURN = 0.0001  # seconds that a turn of a busy node takes
CONNECT_MAX = 3.0  # seconds until somebody who is cut off counts as refused
ALIVE_MAX = 30.0  # seconds without a sign of life until a socket counts as lost

Pair = frozenset[str]


class VirtualCluster:
    """`system`, running. `run` lets time pass; all else happens at the present moment."""

    def __init__(
        self,
        system: System,
        *,
        seed: int = 0,
        shape: Shape | None = None,
        options: Options | None = None,
        runner: Runner | None = None,
        nodes: Iterable[str] | None = None,
        logged: bool = False,
    ) -> None:
        """All `nodes` are booted at time 0; by default all nodes of the system are.

        `logged`: the steps of all nodes are kept, see `logs`.
        """
        self.system = system
        self.now = 0.0
        self.shaper = Shaper(shape, seed)
        self.options = replace(options or Options(), seed=seed)
        self.automata = system.live()
        self.stations = {name: Station(self, name) for name in system.names}
        self.on_boot: list[Callable[[Station], None]] = []  # given each host before it boots
        self.on_commit: list[Callable[[str, Record], None]] = []
        self.on_kill: list[Callable[[str], None]] = []
        self._runner = runner
        self._logged = logged
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._serial = 0
        self._sockets: dict[Pair, Socket] = {}
        self._cuts: set[Pair] = set()
        for name in system.names if nodes is None else nodes:
            self.at(0.0, partial(self.start, name))

    # -- time --------------------------------------------------------------------------------

    def at(self, time: float, function: Callable[[], None]) -> None:
        """Let `function` be called at `time`, after what was planned before for that time."""
        self._serial += 1
        heappush(self._heap, (max(time, self.now), self._serial, function))

    def run(self, until: float) -> None:
        """Let everything happen up to and including the time `until`."""
        heap = self._heap
        while heap and heap[0][0] <= until:
            self.now, _, function = heappop(heap)
            function()
        self.now = max(self.now, until)

    def step(self) -> bool:
        """Let the next thing happen; false if nothing is planned."""
        if not self._heap:
            return False
        self.now, _, function = heappop(self._heap)
        function()
        return True

    # -- nodes -------------------------------------------------------------------------------

    def node(self, name: str) -> LiveNode:
        """The node, which must have been started."""
        host = self.stations[name].host
        assert host is not None, "a node that is down has no state"
        return host.node

    def start(self, name: str) -> None:
        """Start a node that is not up: for the first time, or with what its store has kept."""
        station = self.stations[name]
        if station.up:
            return
        station.failure = None
        station.host = Host(partial(self._node, station), station)
        if self._logged:
            StepLog(station.host, station.log.extend)
        for function in self.on_boot:
            function(station)
        station.host.boot()
        self._turn(station)

    def kill(self, name: str) -> None:
        """End a node as SIGKILL does: what is not on its disk is gone."""
        station = self.stations[name]
        if station.host is None:
            return
        station.store.crash()
        station.host = None
        self.hang_up(name)
        for function in self.on_kill:
            function(name)

    def vanish(self, name: str) -> None:
        """End a node as a loss of power does: its peers hear nothing of it.

        They learn of it when keep-alives miss, or when the next process answers to what they send.
        """
        station = self.stations[name]
        if station.host is None:
            return
        station.store.crash()
        station.host = None
        for pair, socket in list(self._sockets.items()):
            if name in pair:
                socket.attached.discard(name)
                socket.vanished = name
                self.at(self.now + ALIVE_MAX, partial(self._found_out, pair, socket))
        for function in self.on_kill:
            function(name)

    def _found_out(self, pair: Pair, socket: Socket) -> None:
        """The end that is left at a socket learns that the other has vanished."""
        if self._sockets.get(pair) is socket:
            del self._sockets[pair]
            for name in sorted(socket.attached):
                self._lose(socket, name)

    def call(self, name: str, method: str, *args: Any, request: Any = None) -> None:
        """Call a method of a node that is up; see `Station.replies`."""
        station = self.stations[name]
        assert station.host is not None, "a node that is down takes no calls"
        station.host.node.call(method, args, request)
        self._turn(station)

    def work(self, name: str) -> bool:
        """Let the workload make its next call of a node; false if it makes none now."""
        station = self.stations[name]
        if station.host is None:
            return False
        record = station.host.node.work()
        self._turn(station)
        return record is not None

    def turn(self, name: str) -> None:
        """Let a node do what it can at the present moment."""
        self._turn(self.stations[name])

    def logs(self) -> dict[str, list[Entry]]:
        """The logs of all nodes, to be merged."""
        return {name: station.log for name, station in self.stations.items()}

    def states(self) -> Mapping[str, LiveNode]:
        """The nodes that are up."""
        hosts = {name: station.host for name, station in self.stations.items() if station.up}
        return {name: host.node for name, host in hosts.items() if host is not None}

    def _node(self, station: Station, host: Host) -> LiveNode:
        clock = Clock(lambda: self.now, lambda: self.now)
        node = LiveNode(
            self.system,
            station.name,
            station.store,
            clock,
            host,
            self.options,
            self._runner,
            self.automata,
        )
        if self.on_commit:
            node.on_commit.append(partial(self._committed, station.name))
        return node

    def _committed(self, name: str, record: Record) -> None:
        for function in self.on_commit:
            function(name, record)

    def wake(self, name: str) -> None:
        """Let a node take a turn now."""
        self._turn(self.stations[name])

    def _turn(self, station: Station) -> None:
        """Let a host do what it can, and plan its next turn."""
        if station.host is None:
            return
        again = station.host.turn()
        if again is None:
            return
        again = self.now + TURN if again <= self.now else again
        if station.wakes_at is None or again < station.wakes_at or station.wakes_at <= self.now:
            station.wakes_at = again
            self.at(again, partial(self._wake, station, station.host, again))

    def _wake(self, station: Station, host: Host, time: float) -> None:
        if station.host is host and station.wakes_at == time:
            station.wakes_at = None
            self._turn(station)

    # -- the network -------------------------------------------------------------------------

    def cut(self, one: str, other: str) -> None:
        """Let nothing pass between two nodes, until `heal`."""
        pair = frozenset((one, other))
        self._cuts.add(pair)
        socket = self._sockets.get(pair)
        if socket is not None:
            self.at(self.now + ALIVE_MAX, partial(self._miss, pair, socket))

    def heal(self, one: str, other: str) -> None:
        """Undo `cut`: what sockets have held back arrives."""
        pair = frozenset((one, other))
        self._cuts.discard(pair)
        socket = self._sockets.get(pair)
        if socket is not None:
            stalled, socket.stalled = socket.stalled, []
            for source, to, frames in stalled:
                self.transmit(source, to, frames)

    def reset(self, one: str, other: str) -> None:
        """Break the connection of two nodes, if there is one: what is under way is lost."""
        socket = self._sockets.pop(frozenset((one, other)), None)
        if socket is not None:
            for name in sorted(socket.attached):
                self._lose(socket, name)

    def connect(self, opener: str, peer: str) -> None:
        """Open a socket, if there is none."""
        pair = frozenset((opener, peer))
        known = self._sockets.get(pair)
        if known is not None and known.vanished != opener:
            return
        self._serial += 1
        socket = self._sockets[pair] = Socket((opener, peer), self._serial)
        if pair in self._cuts:
            self.at(self.now + CONNECT_MAX, partial(self._refuse, pair, socket))
        else:
            arrives = self.shaper.stream(opener, peer, HEADER.size, self.now)
            self.at(arrives, partial(self._accept, pair, socket))

    def _accept(self, pair: Pair, socket: Socket) -> None:
        opener, peer = socket.ends
        if self._sockets.get(pair) is not socket:
            return
        if not self.stations[peer].up:
            self.at(self.now + self.shaper.delay(peer, opener), partial(self._refuse, pair, socket))
            return
        arrives = self.shaper.stream(peer, opener, HEADER.size, self.now)
        self.at(arrives, partial(self._opened, pair, socket))
        self._attach(socket, peer)  # what it writes arrives after that

    def _opened(self, pair: Pair, socket: Socket) -> None:
        opener, peer = socket.ends
        if self._sockets.get(pair) is not socket:
            return
        if self.stations[opener].up:
            self._attach(socket, opener)
            return
        del self._sockets[pair]
        self._lose(socket, peer)

    def _attach(self, socket: Socket, name: str) -> None:
        socket.attached.add(name)
        station = self.stations[name]
        assert station.host is not None
        station.host.attached(socket.other(name))
        self._turn(station)

    def _refuse(self, pair: Pair, socket: Socket) -> None:
        if self._sockets.get(pair) is socket:
            del self._sockets[pair]
            opener, peer = socket.ends
            station = self.stations[opener]
            if station.host is not None and station.up:
                station.host.refused(peer)
                self._turn(station)

    def hang_up(self, name: str) -> None:
        """The process of a node is gone: peers lose their sockets, after what it has written."""
        for pair, socket in list(self._sockets.items()):
            if name not in pair:
                continue
            peer = socket.other(name)
            socket.attached.discard(name)
            if peer not in socket.attached and socket.ends[0] != peer:
                del self._sockets[pair]
                continue
            after = self.shaper.stream(name, peer, HEADER.size, self.now)
            if pair in self._cuts:
                after = self.now + ALIVE_MAX
            self.at(after, partial(self._hung_up, pair, socket, peer))

    def _hung_up(self, pair: Pair, socket: Socket, peer: str) -> None:
        if self._sockets.get(pair) is socket:
            del self._sockets[pair]
            if peer in socket.attached:
                self._lose(socket, peer)
            else:
                self._sockets[pair] = socket
                self._refuse(pair, socket)

    def _miss(self, pair: Pair, socket: Socket) -> None:
        """Keep-alives have missed, if the two are still cut off."""
        if pair in self._cuts and self._sockets.get(pair) is socket:
            self.reset(*socket.ends)

    def _lose(self, socket: Socket, name: str) -> None:
        station = self.stations[name]
        if station.host is not None and station.up:
            station.host.lost(socket.other(name))
            self._turn(station)

    def transmit(self, source: str, to: str, frames: Sequence[Frame | Messages]) -> None:
        """Write frames to the socket of two nodes."""
        pair = frozenset((source, to))
        socket = self._sockets.get(pair)
        if socket is None:
            return
        if pair in self._cuts:
            socket.stalled.append((source, to, frames))
            return
        size = sum(frame.size for frame in frames)
        arrives = self.shaper.stream(source, to, size, self.now)
        if socket.vanished == to:
            if self.stations[to].up:  # which answers that it knows of no such connection
                arrives += self.shaper.delay(to, source)
                self.at(arrives, partial(self._found_out, pair, socket))
            return
        self.at(arrives, partial(self._arrive, pair, socket, source, to, frames))

    def _arrive(
        self, pair: Pair, socket: Socket, source: str, to: str, frames: Sequence[Frame | Messages]
    ) -> None:
        station = self.stations[to]
        if self._sockets.get(pair) is not socket or station.host is None or not station.up:
            return
        if to in socket.attached:
            for frame in frames:
                if isinstance(frame, Messages):
                    station.host.messages(source, frame)
                else:
                    station.host.frame(source, frame)
            self._turn(station)

    def throw(self, source: str, to: str, frame: Frame) -> None:
        """Send a datagram."""
        arrives = self.shaper.datagram(source, to, HEADER.size + len(frame.body), self.now)
        if arrives is not None and frozenset((source, to)) not in self._cuts:
            self.at(arrives, partial(self._catch, source, to, frame))

    def _catch(self, source: str, to: str, frame: Frame) -> None:
        station = self.stations[to]
        if station.host is not None and station.up:
            station.host.datagram(source, frame)
            self._turn(station)
