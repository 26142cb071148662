"""Table 3: how many executions of black-box DPOR each policy of SAMC would have left out.

DPOR is that of the paper's artefact: after an execution, each of its events is moved before the
nearest earlier one that it depends on and could have come before; the beginnings wait in a queue.
Events depend on each other if they happen at one node, or if one is a crash or a reboot. The tree
search of presage prunes more than that, so it is no measure here; this is plain Python, on a live
world.

An execution is redundant if the policy would not have made its last move, or if one of its *class*
was met before: one that swaps of independent events lead to. Under `LMI` two events of a node are
independent where they commute, under `CMI` a fault and another event. Under `CRS` and `RSS` no
crash or reboot is moved to a place where `--skip symmetric-faults` would skip it.

Invariant: the executions of one class end in one state. A class may be taken for several, never
several for one. So `classes`, which does not judge moves, is sound and a lower bound. A move that
is judged may have led to a class that only a later execution meets.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple

from samc_graph import Did, Graph, Key

from presage import System

POLICIES = ("LMI", "CMI", "CRS", "RSS")
EXACT = ("LMI", "CMI")  # these lose nothing
CLASSES = "classes"  # of LMI and CMI, whatever was moved
SETS: dict[str, tuple[str, ...]] = {
    "none": (),
    **{policy: (policy,) for policy in POLICIES},
    CLASSES: EXACT,
    "all": POLICIES,
}
SKIPS = {"crash": "CRS", "restart": "RSS"}  # which policy skips a fault
LENGTH_MAX = 200  # of an execution, as in the artefact


class Execution(NamedTuple):
    """From the beginning to the end."""

    path: list[Did]
    moved: int | None  # the place of the event that was moved there; None: the first execution
    passed: str  # the event before which it was moved
    moves: int  # how many lead here from the first execution


def executions(
    graph: Graph, most: int | None, *, moves_max: int | None = None, seed: int | None = None
) -> Iterator[Execution]:
    """So many executions, in the order of black-box DPOR; each at most so many moves away."""
    queue: deque[tuple[tuple[str, ...], str, int]] = deque([((), "", 0)])
    queued: set[tuple[str, ...]] = {()}
    done: set[tuple[str, ...]] = set()
    ties = Ties(seed)
    while queue and (most is None or len(done) < most):
        prefix, passed, count = queue.popleft()
        path = run(graph, prefix, ties)
        whole = names(path)
        if whole in done:
            continue
        done.add(whole)
        yield Execution(path, len(prefix) - 1 if prefix else None, passed, count)
        if count == moves_max:
            continue
        for i, moved in moves(graph, path):
            prefix = (*whole[:i], moved)
            if prefix not in queued:
                queued.add(prefix)
                queue.append((prefix, whole[i], count + 1))


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


def moves(graph: Graph, path: list[Did]) -> Iterator[tuple[int, str]]:
    """From the end on: before which step of an execution which event is to be tried.

    A fault that another one left no budget for is not in the execution, and is tried in its place.
    """
    for j in range(len(path) - 1, -1, -1):
        moved = path[j].name
        for i in range(j - 1, -1, -1):
            if graph.depend(path[i].name, moved) and moved in graph.places[path[i].at].events:
                yield i, moved
                break
        if graph.kinds[moved].fault:
            for name in graph.places[path[j].at].events:
                if name != moved and graph.kinds[name].fault:
                    yield j, name


def run(graph: Graph, prefix: tuple[str, ...], ties: Ties) -> list[Did]:
    """An execution that begins so; then what has waited longest is next, and faults come last."""
    at = graph.root
    path: list[Did] = []
    since: dict[str, int] = {}
    while len(path) < LENGTH_MAX and graph.places[at].events:
        since = {name: since.get(name, len(path)) for name in graph.places[at].events}
        if len(path) < len(prefix):
            name = prefix[len(path)]
        else:
            order = [(bool(graph.kinds[n].fault), age, ties.rank(n)) for n, age in since.items()]
            name = list(since)[order.index(min(order))]
        del since[name]
        path.append(Did(name, at))
        at = graph.take(at, name)
    return path


def names(path: list[Did]) -> tuple[str, ...]:
    return tuple(did.name for did in path)


@dataclass
class Marks:
    """What was met before, under some policies."""

    graph: Graph
    policies: tuple[str, ...]
    ranks: dict[str, int]  # the order of events in normal forms
    judges_moves: bool = True
    classes: set[Key] = field(default_factory=set)
    tried: set[Key] = field(default_factory=set)  # keys of faults

    def is_new(self, execution: Execution) -> bool:
        """Whether an execution is not redundant; and remember it."""
        sought = self.normal_form(execution.path)
        new = sought not in self.classes and not self._in_vain(execution)
        self.classes.add(sought)
        new &= not self._is_skipped(execution)
        self.tried |= {
            self.graph.key(did)
            for did in execution.path
            if SKIPS.get(self.graph.kinds[did.name].fault) in self.policies
        }
        return new

    def _in_vain(self, execution: Execution) -> bool:
        """Whether an event was moved before one that it commutes with there."""
        if execution.moved is None or not self.judges_moves:
            return False
        moved = execution.path[execution.moved]
        return self.graph.independent(moved.at, execution.passed, moved.name, self.policies)

    def _is_skipped(self, execution: Execution) -> bool:
        """Whether a fault was moved to where the policies skip it."""
        if execution.moved is None:
            return False
        moved = execution.path[execution.moved]
        fault = self.graph.kinds[moved.name].fault
        if not fault or SKIPS[fault] not in self.policies:
            return False
        unchanged = fault == "restart" and self._is_unchanged(execution.path[: execution.moved + 1])
        return unchanged or self.graph.key(moved) in self.tried

    def _is_unchanged(self, path: list[Did]) -> bool:
        """Whether a restart, the last step, finds the others as they were at the crash."""
        last, node = path[-1].at, self.graph.kinds[path[-1].name].node
        crash = next(d for d in reversed(path) if self.graph.kinds[d.name] == (node, "crash"))
        same = self.graph.others(crash.at, node) == self.graph.others(last, node)
        return same and not self.graph.is_quiet(last)

    def normal_form(self, path: list[Did]) -> tuple[str, ...]:
        """Neighbours that are independent, in the order of their ranks; where swaps end."""
        events, states, at = list(names(path)), [did.at for did in path], 1
        while at < len(events):
            one, other = events[at - 1], events[at]
            ordered = self.ranks[one] <= self.ranks[other]
            if ordered or not self.graph.independent(states[at - 1], one, other, self.policies):
                at += 1
                continue
            events[at - 1], events[at] = other, one
            states[at] = self.graph.take(states[at - 1], other)
            at = max(at - 1, 1)
        return tuple(events)


def marked(graph: Graph, found: Sequence[Execution], name: str) -> list[bool]:
    """Of each execution whether it is not redundant, under a set of policies."""
    ranks: dict[str, int] = {}
    for execution in found:
        for event in names(execution.path):
            ranks.setdefault(event, len(ranks))
    marks = Marks(graph, SETS[name], ranks, name != CLASSES)
    return [marks.is_new(execution) for execution in found]


def ratios(system: System, most: int, *, seed: int | None = None) -> dict[str, float]:
    """How many executions there were, and for each policy how many for each that is left."""
    graph = Graph(system)
    found = list(executions(graph, most, seed=seed))
    left = {name: sum(marked(graph, found, name)) for name in SETS}
    return {"executions": len(found), **{name: len(found) / left[name] for name in SETS}}


def settle(graph: Graph) -> None:
    """Let executions begin where the first has nothing but faults left: after the set-up."""
    for did in run(graph, (), Ties(None)):
        if graph.kinds[did.name].fault:
            break
        graph.root = graph.take(did.at, did.name)


def settled(system: System, most: int) -> float:
    """The ratio with all policies where the first election belongs to the set-up."""
    graph = Graph(system)
    settle(graph)
    found = list(executions(graph, most))
    return len(found) / sum(marked(graph, found, "all"))


def over_seeds(system: System, most: int, seeds: int) -> dict[str, Any]:
    """The median of each ratio over some orders of ties, and in `range` the ends."""
    rows = [ratios(system, most, seed=seed) for seed in (None, *range(1, seeds))]
    return {
        **{name: median(row[name] for row in rows) for name in rows[0]},
        "range": {name: [min(r[name] for r in rows), max(r[name] for r in rows)] for name in SETS},
    }


def by_moves(system: System, moves_max: int) -> list[dict[str, float]]:
    """All executions within so many moves of the first, and how many are left; for 1, 2, and on."""
    graph = Graph(system)
    found = list(executions(graph, None, moves_max=moves_max))
    marks = {name: marked(graph, found, name) for name in (CLASSES, "all")}
    rows = []
    for count in range(1, moves_max + 1):
        within = sum(execution.moves <= count for execution in found)  # the first, by the queue
        left = {name: sum(own[:within]) for name, own in marks.items()}
        rows.append({"moves": count, "executions": within, **left})
    return rows
