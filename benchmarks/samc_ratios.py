"""Table 3: how many executions of black-box DPOR each policy of SAMC would have left out.

DPOR is that of the paper's artefact, in `samc_black_box`. The tree search of presage prunes more,
so it is no measure here.

An execution is *redundant* if SAMC would not have run it. SAMC begins with the first, as black-box
DPOR does, and moves an event before the nearest earlier one that its policies do not tell it is
independent of. Under `LMI` two events of a node are independent where they commute, under `CMI` a
fault and another event. Under `CRS` and `RSS` no crash or reboot is moved to a place where `--skip
symmetric-faults` would skip it. So what a move leads to that a policy leaves out is redundant, and
all that only it leads to.

Under `classes` one execution of each class is not redundant: of those that swaps of independent
events lead to each other, with LMI and CMI. It asks for no search that might lose something.

Invariant: the executions of one class end in one state. A class may be taken for several, never
several for one. So the ratio of `classes` is sound, and a lower bound.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from samc_black_box import BlackBox, Execution, names
from samc_graph import Did, Graph, Key, Kind

from presage import System

POLICIES = ("LMI", "CMI", "CRS", "RSS")
EXACT = ("LMI", "CMI")  # these lose nothing
CLASSES = "classes"  # of LMI and CMI, whatever was moved
NONE = "none"  # what black-box DPOR repeats by itself
SETS: dict[str, tuple[str, ...]] = {
    NONE: (),
    **{policy: (policy,) for policy in POLICIES},
    CLASSES: EXACT,
    "all": POLICIES,
}
SKIPS = {"crash": "CRS", "restart": "RSS"}  # which policy skips a fault


@dataclass
class Classes:
    """What was met before, up to swaps of independent events."""

    graph: Graph
    policies: tuple[str, ...]
    ranks: dict[str, int]  # the order of events in normal forms
    met: set[Key] = field(default_factory=set)

    def is_new(self, path: list[Did]) -> bool:
        """Whether an execution is the first of its class; and remember it."""
        sought, before = self.normal_form(path), len(self.met)
        self.met.add(sought)
        return len(self.met) > before

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


class Semantic:
    """The search of SAMC, beside black-box DPOR: which of its executions it would run as well.

    A move counts if black-box DPOR has run what it leads to, be it by other moves.
    """

    def __init__(self, box: BlackBox, policies: tuple[str, ...]) -> None:
        self._box, self._graph, self._policies = box, box.graph, policies
        self._tried: set[Key] = set()  # keys of faults

    def reached(self, found: Sequence[Execution]) -> set[int]:
        """The numbers of executions that moves lead to, from the first on."""
        numbers = {names(each.path): number for number, each in enumerate(found)}
        reached, waiting = {0}, [0]
        while waiting:
            path = found[heapq.heappop(waiting)].path
            for at, did in enumerate(path):
                self._try(path, at, did.name)
            for at, moved in self._box.moves(path, self._policies):
                if self._is_skipped(path, at, moved):
                    continue
                self._try(path, at, moved)
                whole = self._box.wholes.get((*names(path[:at]), moved))
                number = numbers.get(whole or ())
                if number is not None and number not in reached:
                    reached.add(number)
                    heapq.heappush(waiting, number)
        return reached

    def _try(self, path: list[Did], at: int, name: str) -> None:
        if SKIPS.get(self._graph.kinds[name].fault) in self._policies:
            self._tried.add(self._graph.key(Did(name, path[at].at)))

    def _is_skipped(self, path: list[Did], at: int, moved: str) -> bool:
        """Whether an event is a fault, and the policies skip it there."""
        fault = self._graph.kinds[moved].fault
        if SKIPS.get(fault) not in self._policies:
            return False
        unchanged = fault == "restart" and self._is_unchanged(path[:at], path[at].at, moved)
        return unchanged or self._graph.key(Did(moved, path[at].at)) in self._tried

    def _is_unchanged(self, before: list[Did], at: int, restart: str) -> bool:
        """Whether a restart finds the others as they were at the crash."""
        node = self._graph.kinds[restart].node
        crash = next(
            d for d in reversed(before) if self._graph.kinds[d.name] == Kind(node, "crash")
        )
        same = self._graph.others(crash.at, node) == self._graph.others(at, node)
        return same and not self._graph.is_quiet(at)


def marked(box: BlackBox, found: Sequence[Execution], name: str) -> list[bool]:
    """Of each execution whether it is not redundant, under a set of policies."""
    if name not in (NONE, CLASSES):
        reached = Semantic(box, SETS[name]).reached(found)
        return [number in reached for number in range(len(found))]
    ranks: dict[str, int] = {}
    for execution in found:
        for event in names(execution.path):
            ranks.setdefault(event, len(ranks))
    classes = Classes(box.graph, SETS[name], ranks)
    return [classes.is_new(execution.path) for execution in found]


def ratios(graph: Graph, most: int, *, seed: int | None = None) -> dict[str, float]:
    """How many executions there were, and for each policy how many for each that is left."""
    box = BlackBox(graph, seed=seed)
    found = list(box.executions(most))
    left = {name: sum(marked(box, found, name)) for name in SETS}
    return {
        "executions": len(found),
        "events": len(found[0].path),
        **{name: len(found) / left[name] for name in SETS},
    }


def settled(system: System, most: int) -> float:
    """The ratio with all policies where the first election belongs to the set-up."""
    box = BlackBox(Graph(system))
    box.settle()
    found = list(box.executions(most))
    return len(found) / sum(marked(box, found, "all"))


def over_seeds(
    system: System, most: int, seeds: int, *, graph: type[Graph] = Graph
) -> dict[str, Any]:
    """The median of each ratio over some orders of ties, and in `range` the ends."""
    rows = [ratios(graph(system), most, seed=seed) for seed in (None, *range(1, seeds))]
    return {
        **{name: median(row[name] for row in rows) for name in rows[0]},
        "range": {name: [min(r[name] for r in rows), max(r[name] for r in rows)] for name in SETS},
    }


def by_moves(system: System, moves_max: int) -> list[dict[str, int]]:
    """All executions within so many moves of the first, and how many are left; for 1, 2, and on."""
    box = BlackBox(Graph(system))
    found = list(box.executions(None, moves_max=moves_max))
    marks = {name: marked(box, found, name) for name in (CLASSES, "all")}
    rows = []
    for count in range(1, moves_max + 1):
        within = sum(execution.moves <= count for execution in found)  # the first, by the queue
        left = {name: sum(own[:within]) for name, own in marks.items()}
        rows.append({"moves": count, "executions": within, **left})
    return rows
