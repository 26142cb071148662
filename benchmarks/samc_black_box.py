"""Black-box DPOR as in the artefact of SAMC: the baseline of its tables, on a live world.

Events wait in a queue. What faults the budgets allow waits from the beginning, crashes before
reboots, so they happen right after what was possible at first. A timer fires where nothing else but
faults can happen. After an execution each of its events is moved before the nearest earlier one
that it depends on and could have come before, and instead of a fault each other node has it; these
beginnings wait in a queue as well.

Events depend on each other if they happen at one node, or if one is a crash or a reboot. Faults of
one kind do not pass each other, as another node is tried instead. Mail that was on its way to a
node when it crashed is not moved, but before that crash.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Iterator
from typing import NamedTuple

from samc_graph import FAULTS, Did, Graph, Kind

LENGTH_MAX = 200  # of an execution, as in the artefact
Beginning = tuple[str, ...]


class Execution(NamedTuple):
    """From the beginning to the end."""

    path: list[Did]
    moved: int | None  # the place of the event that was moved there; None: the first execution
    passed: str  # the event before which it was moved
    moves: int  # how many lead here from the first execution


class Ties:
    """Which of two events that have waited equally long comes first."""

    def __init__(self, seed: int | None) -> None:
        self._random = None if seed is None else random.Random(seed)
        self._ranks: dict[str, float] = {}

    def rank(self, name: str) -> float:
        """By chance, and the same each time; without a seed, all are equal."""
        if self._random is None:
            return 0.0
        return self._ranks.setdefault(name, self._random.random())


class BlackBox:
    """The search of one system, with one order of ties.

    faults_last: faults wait until nothing else is left, and timers fire like other events.
    """

    def __init__(self, graph: Graph, *, seed: int | None = None, faults_last: bool = False) -> None:
        self.graph, self._ties, self._faults_last = graph, Ties(seed), faults_last
        self.wholes: dict[Beginning, Beginning] = {}  # of the beginnings that were run

    def executions(self, most: int | None, *, moves_max: int | None = None) -> Iterator[Execution]:
        """So many executions in the order of the queue; each at most so many moves away."""
        queue: deque[tuple[Beginning, str, int]] = deque([((), "", 0)])
        queued: set[Beginning] = {()}
        done: set[Beginning] = set()
        while queue and (most is None or len(done) < most):
            beginning, passed, count = queue.popleft()
            path = self.run(beginning)
            whole = self.wholes[beginning] = names(path)
            if whole in done:
                continue
            done.add(whole)
            yield Execution(path, len(beginning) - 1 if beginning else None, passed, count)
            if count == moves_max:
                continue
            for i, moved in self.moves(path):
                beginning = (*whole[:i], moved)
                if beginning not in queued:
                    queued.add(beginning)
                    queue.append((beginning, whole[i], count + 1))

    def moves(self, path: list[Did], policies: tuple[str, ...] = ()) -> Iterator[tuple[int, str]]:
        """From the end on: before which step of an execution which event is to be tried.

        Policies leave out moves before an event that they tell is independent of it.
        """
        kinds, lost = self.graph.kinds, self.obsolete(path)
        for j in range(len(path) - 1, -1, -1):
            moved = path[j].name
            i = self._nearest(path, j, lost, policies)
            if i is not None:
                yield i, moved
            if fault := kinds[moved].fault:
                for name in self.graph.places[path[j].at].events:
                    if name != moved and kinds[name].fault == fault:
                        yield j, name

    def _nearest(
        self, path: list[Did], j: int, lost: set[int], policies: tuple[str, ...]
    ) -> int | None:
        """Before which earlier step an event is to be tried."""
        graph, moved = self.graph, path[j].name
        mine = graph.kinds[moved]
        for i in range(j - 1, -1, -1):
            at, other = path[i]
            theirs = graph.kinds[at]
            same_fault = mine.fault and mine.fault == theirs.fault
            if same_fault or moved not in self.offered(other):
                return None
            if i in lost or (j in lost and theirs != Kind(mine.node, "crash")):
                continue
            if graph.depend(at, moved) and not graph.independent(other, at, moved, policies):
                return i
        return None

    def obsolete(self, path: list[Did]) -> set[int]:
        """The steps that deliver what was on its way to a node when it crashed."""
        flying: Counter[tuple[str, str]] = Counter()  # by connection, where mail keeps its order
        steps = set()
        for number, did in enumerate(path):
            kind = self.graph.kinds[did.name]
            if kind.fault == "crash":
                mail = Counter(self.graph.in_flight(did.at))
                flying |= Counter({ends: n for ends, n in mail.items() if ends[1] == kind.node})
            ends = self.graph.ends(did)
            if ends is not None and flying[ends]:
                flying[ends] -= 1
                steps.add(number)
        return steps

    def run(self, beginning: Beginning) -> list[Did]:
        """An execution that begins so; then what has waited longest is next."""
        graph, at = self.graph, self.graph.root
        path: list[Did] = []
        since: dict[str, int] = {}
        while len(path) < LENGTH_MAX and (offered := self.offered(at)):
            since = {name: since.get(name, len(path)) for name in offered}
            if len(path) < len(beginning):
                name = beginning[len(path)]
            else:
                name = min(since, key=lambda name: self._turn(name, since[name]))
            del since[name]
            path.append(Did(name, at))
            at = graph.take(at, name)
        return path

    def _turn(self, name: str, age: int) -> tuple[float, ...]:
        """When an event is due. Faults have waited from the beginning, behind what was there."""
        fault = self.graph.kinds[name].fault
        if self._faults_last:
            return int(bool(fault)), age, self._ties.rank(name)
        return (0, 1 + FAULTS.index(fault), 0) if fault else (age, 0, self._ties.rank(name))

    def offered(self, at: int) -> list[str]:
        """What may happen in a state: no timer, while anything but a fault can."""
        kinds = self.graph.kinds
        events = list(self.graph.places[at].events)
        if self._faults_last or all(kinds[name].fault or kinds[name].is_timer for name in events):
            return events
        return [name for name in events if not kinds[name].is_timer]

    def settle(self) -> None:
        """Let executions begin where nothing but faults is left: after the set-up."""
        while calm := [n for n in self.offered(self.graph.root) if not self.graph.kinds[n].fault]:
            self.graph.root = self.graph.take(self.graph.root, calm[0])


def names(path: list[Did]) -> Beginning:
    return tuple(did.name for did in path)
