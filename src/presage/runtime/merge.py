"""From the logs of all nodes to one execution of the model, which replays on a `World`.

Every node's log is in order; between nodes, causes come before effects. An entry is taken only
where the world offers it, so no message is handled before it was sent. Among what is possible the
earliest goes first. Some rules look ahead, because a model forgets at once what a network forgets
later. Who handled a message did so before its sender gave up that life of their connection, or
crashed, and after the sender began it. Who found no room in a queue did so before the peer handled
what was in it.

What the network did is added: crashes, broken connections, and lost datagrams of an ordered
network. No log tells whether peers heard of the end of a process, or it lost its power: that is
guessed where the model gets stuck. After every step the node's state is compared with the digest in
its log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from presage._core import FAULTS
from presage.errors import LogsDiffer, NotEnabled, PresageError
from presage.model.service.calls import Call
from presage.model.service.clocks import Shielded
from presage.model.service.stream import Lost as LostMessage
from presage.model.world.event import (
    Act,
    Broken,
    Crash,
    Cut,
    Deliver,
    Drop,
    Event,
    Fire,
    KeepAlive,
    Made,
    Receive,
    Refused,
    Restart,
    Save,
    SilentReset,
    Step,
)
from presage.model.world.faults import PROGRAM_FAULTS, UNLIMITED, Faults
from presage.model.world.system import System
from presage.model.world.world import World
from presage.records import record
from presage.runtime.log import Digests, Entry, differs
from presage.runtime.precedence import Item, Precedence, Process, Silence, items_of
from presage.runtime.vocabulary import teach
from presage.search.checkpoint.code_digest import Definition
from presage.trace.trace import ORDINARY, Trace

STREAM_FAULTS = ("silent_reset", "cut", "idle_close")
Move = tuple[Event, Sequence[int]]
# What is tried in turn: whether to wait for what must come before, and whether to guess.
Order = tuple[tuple[bool, bool], ...]
WAITING: Order = ((True, False), (True, True))
ANYHOW: Order = (*WAITING, (False, False), (False, True))


@record(frozen=True)
class Merged:
    """A live run as an execution of `system`, which `trace` replays on."""

    system: System
    trace: Trace
    world: World  # its last state


def merged(system: System, logs: Mapping[str, Sequence[Entry]], **facts: Any) -> Merged:
    """The execution that the logs of all nodes tell; `facts` are fields of the trace.

    The trace is of `system` itself if the run had no faults but those it allows, and no calls but
    those of its workload; else of a system that allows them (`lenient`). Raises `LogsDiffer` where
    the run is none of the model.
    """
    definition = Definition(system)
    teach(system, system.codec, definition=definition)
    try:
        return _attempts(system, logs, facts)
    except PresageError:
        other = lenient(system, logs)
        teach(system, other.codec, definition=definition)
        return _attempts(other, logs, facts)


def _attempts(system: System, logs: Mapping[str, Sequence[Entry]], facts: Any) -> Merged:
    """Merge; where that gets stuck, begin again with what must have come before.

    If nothing is known to have, some process may have ended without a word.
    """
    items = {name: items_of(logs.get(name, ())) for name in system.names}
    waits, silence = Precedence(system, items), Silence()
    order = WAITING
    while True:
        merge = _Merge(system, waits, silence.ends)
        try:
            return merge.run(order, **facts)
        except _Stuck:
            if order is ANYHOW:
                raise merge.stuck() from None
            if merge.learn():
                continue
            if silence.suspect(merge.suspects(), len(merge.steps)):
                waits = Precedence(system, items)
            else:
                order = ANYHOW


class _Stuck(Exception):
    """No entry that is left can be taken."""


def lenient(system: System, logs: Mapping[str, Sequence[Entry]]) -> System:
    """`system` with any number of faults, and the calls that the logs have for its workload."""
    left_out = {"partition", "heal", "slow", "duplicate", *PROGRAM_FAULTS}
    left_out |= set(STREAM_FAULTS) if system.streams is None else set()
    faults: dict[str, Any] = {name: UNLIMITED for name in FAULTS if name not in left_out}
    observers = {
        name: each.observer if isinstance(each, Shielded) else each
        for name, each in system.observers.items()
        if each is not system.clocks
    }
    return System(
        system.nodes,
        network=system.network,
        faults=Faults(**faults),
        calls={name: _calls(system, entries) for name, entries in logs.items()},
        observers=observers,
        properties=system.properties,
        skip_noops=system.skip_noops,
        streams=system.streams,
        weights=system.weights,
        name=system.name,
    )


def _calls(system: System, entries: Iterable[Entry]) -> list[Call]:
    """The calls that were made of one node, in order."""
    made: list[Call] = []
    position = 0
    for entry in entries:
        stimulus = entry.stimulus(system.codec)
        if stimulus[0] != "call":
            continue
        if len(stimulus) > 1:
            made.append(Call(stimulus[1], *stimulus[2:]))
        else:
            made.append(system.calls[entry.node][position])
            position += 1
    return made


class _Merge:
    """One attempt to merge logs to an execution of `system`."""

    def __init__(self, system: System, waits: Precedence, silent: Collection[Process] = ()) -> None:
        """`silent` are the processes that have ended without a word."""
        self._system = system
        self._silent = silent
        self._items = waits.items
        self._at = dict.fromkeys(system.names, 0)
        self._waits = waits
        self.steps: list[Step] = []
        self._digests = {
            each.name: Digests(system, each) for each in system.automata
        }  # of worlds: the codec of the system is that of its automata
        choices = [k for name in system.names for k, _ in self._first(name)]
        self._world = World.initial(system, choices)
        self._choices = tuple(choices)
        self._initial = self._world.fingerprint
        for name in system.names:
            if self._at[name]:
                self._compare(self._items[name][0])

    def _first(self, name: str) -> Sequence[tuple[int, int]]:
        """The choices of a node's first start, which is part of the initial state."""
        items = self._items[name]
        if not items or items[0].entry is None:
            return ()
        self._at[name] = 1
        return items[0].entry.choices

    def run(self, order: Order, **facts: Any) -> Merged:
        """Take all entries."""
        while any(self._at[name] < len(items) for name, items in self._items.items()):
            if not any(self._take(waits, guess) for waits, guess in order):
                raise _Stuck
        named = {"message": f"a live run of {len(self.steps)} steps"}
        named |= {"prop": ORDINARY, "kind": "live"}
        trace = Trace.of(
            self._system,
            self.steps,
            initial=self._initial,
            choices=self._choices,
            **(named | facts),
        )
        return Merged(self._system, trace, self._world)

    def _take(self, waits: bool, guess: bool) -> bool:
        """Take the earliest entry that is possible; false if none is.

        `waits`: nothing is taken before what must come before it. `guess`: the network may do what
        no log tells of.
        """
        heads = [
            items[self._at[name]]
            for name, items in self._items.items()
            if self._at[name] < len(items)
        ]
        for item in sorted(heads, key=lambda item: item.time):
            if waits and not self._waits.allow(item, self._at):
                continue
            if item.entry is None and (item.node, item.life) in self._silent:
                taken = self._vanish(item)
            else:
                taken = int(self._apply(item, guess))
            self._at[item.node] += taken
            if taken:
                return True
        return False

    def _vanish(self, crash: Item) -> int:
        """A crash of which nobody heard, and the start after it, in one; how many items."""
        items, at = self._items[crash.node], self._at[crash.node] + 1
        start = items[at].entry if at < len(items) else None
        chosen = tuple(k for k, _ in start.choices) if start is not None else ()
        if start is None or not self._try([(SilentReset(crash.node), chosen)]):
            return 0
        self._compare(items[at])
        return 2

    def _apply(self, item: Item, guess: bool) -> bool:
        """Let the world take an entry; false if it does not offer that."""
        entry = item.entry
        if entry is None:
            return self._try([self._crash(item.node)])
        if entry.idle and self._system.skip_noops and self._is_datagram(entry):
            return True  # the model leaves out such deliveries
        chosen = tuple(k for k, _ in entry.choices)
        ways = self._guesses(entry) if guess else self._ways(entry)
        for moves in ways:
            if self._try([*moves[:-1], (moves[-1][0], chosen)]):
                self._compare(item)
                return True
        return False

    def _crash(self, node: str) -> Move:
        """A crash, of whose unfinished writes none survives."""
        runs = self._world.runs(Crash(node))
        return Crash(node), runs[0] if runs else ()

    def _try(self, moves: Sequence[Move]) -> bool:
        """Apply all of `moves`, or none."""
        saved, taken = self._world.save(), len(self.steps)
        try:
            for event, choices in moves:
                self.steps.append(self._world.apply(event, tuple(choices)))
        except NotEnabled:
            self._world.restore(saved)
            del self.steps[taken:]
            return False
        return True

    def _ways(self, entry: Entry) -> list[list[Move]]:
        """The events that an entry may be."""
        node, names = entry.node, self._system.names
        stimulus = entry.stimulus(self._system.codec)
        match stimulus[0]:
            case "deliver" if isinstance(stimulus[2], LostMessage):
                peer = names[stimulus[1]]
                return [[(cls(node, peer), ())] for cls in (Broken, Refused, KeepAlive)]
            case "deliver" if entry.stream is not None:
                return [[(Receive(node, names[stimulus[1]], stimulus[2]), ())]]
            case "deliver":
                arrival = Deliver(node, names[stimulus[1]], stimulus[2])
                return [[*self._overtaken(arrival), (arrival, ())]]
            case "timer":
                return [[(Fire(node, stimulus[1], tuple(stimulus[2:])), ())]]
            case "action":
                return [[(Act(node, stimulus[1], tuple(stimulus[2:])), ())]]
            case "call" if len(stimulus) > 1:
                return [[(Made(node, stimulus[1], tuple(stimulus[2:])), ())]]
            case "call":
                return [[(self._world.next_call(node), ())]]
            case "write":
                return [[(Save(node, stimulus[1], stimulus[2]), ())]]
        return [[(Restart(node), ())]]

    def _guesses(self, entry: Entry) -> list[list[Move]]:
        """The same for a lost connection of whose end no log tells."""
        stimulus = entry.stimulus(self._system.codec)
        if stimulus[0] != "deliver" or not isinstance(stimulus[2], LostMessage):
            return []
        node, peer = entry.node, self._system.names[stimulus[1]]
        one, other = sorted((node, peer), key=self._system.index)
        guesses: list[list[Move]] = [[(Cut(one, other), ()), (Broken(node, peer), ())]]
        if self._at[peer] == len(self._items[peer]):
            crash = self._crash(peer)
            guesses += [[crash, (cls(node, peer), ())] for cls in (Broken, Refused)]
        return guesses

    def _overtaken(self, arrival: Deliver) -> list[Move]:
        """The datagrams of an ordered network that were lost, or came later, before `arrival`."""
        if self._system.network != "ordered":
            return []
        pair = (self._system.index(arrival.source), self._system.index(arrival.node))
        drops: list[Move] = []
        for ends, channel in self._world.save().transport.network:
            for flying in channel if ends == pair else ():
                message = self._system.codec.decode(flying.encoded)[2]
                if self._system.codec.encode(message) == self._system.codec.encode(arrival.message):
                    return drops
                drops.append((Drop(arrival.node, arrival.source, message), ()))
        return drops

    def _is_datagram(self, entry: Entry) -> bool:
        stimulus = entry.stimulus(self._system.codec)
        lost = stimulus[0] == "deliver" and isinstance(stimulus[2], LostMessage)
        return stimulus[0] == "deliver" and not lost and entry.stream is None

    def _compare(self, item: Item) -> None:
        """Refuse a world in which the node is not what its log says."""
        entry = item.entry
        assert entry is not None
        local = self._world.save().locals[self._system.index(item.node)]
        if self._digests[item.node].of(local) != entry.digest:
            raise differs(entry)

    def learn(self) -> bool:
        """After getting stuck: whether something was taken too early, and is known now.

        A node hears that a peer is not there, though it is: it was refused before the peer began.
        """
        found = False
        for name, items in self._items.items():
            at = self._at[name]
            entry = items[at].entry if at < len(items) else None
            if entry is None:
                continue
            stimulus = entry.stimulus(self._system.codec)
            if stimulus[0] == "deliver" and isinstance(stimulus[2], LostMessage):
                peer = self._system.names[stimulus[1]]
                found |= self._waits.learn(peer, self._at[peer], name, at)
        return found

    def suspects(self) -> list[Process]:
        """After getting stuck: processes that may have ended without a word, likely ones first.

        Those are of nodes from which somebody handles a message, or hears that it is gone, in
        another way than the model does.
        """
        found: dict[Process, None] = {}
        heads = [
            (name, items[self._at[name]])
            for name, items in self._items.items()
            if self._at[name] < len(items)
        ]
        for name, item in sorted(heads, key=lambda head: head[1].time):
            stimulus = item.entry.stimulus(self._system.codec) if item.entry is not None else ()
            if stimulus and stimulus[0] == "deliver":
                for node in (self._system.names[stimulus[1]], name):
                    taken = self._items[node][: self._at[node]]
                    ends = [(node, each.life) for each in taken if each.entry is None]
                    found |= dict.fromkeys(reversed(ends))
        return list(found)

    def stuck(self) -> LogsDiffer:
        """Why no entry can be taken."""
        heads = [
            f"{name} {item.life}.{item.entry.number if item.entry else 'end'}"
            for name, items in self._items.items()
            if self._at[name] < len(items)
            for item in [items[self._at[name]]]
        ]
        return LogsDiffer(
            f"after {len(self.steps)} steps the model cannot go on as the nodes did:"
            f" {', '.join(heads[:5])}",
            "a log is missing or cut off, or the network did what no model of it does",
            "give the logs of all nodes; see `docs/reference/live.md` for where live differs",
        )
