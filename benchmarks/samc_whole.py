"""How many executions a whole search has: counted, not run, so that the ratio is exact.

A search with sleep sets (Godefroid, 1996) ends one execution for each class of executions, where
independence does not depend on the state. What lies behind a state and a sleep set is the same
however they were reached. So it is counted once, and millions of executions take seconds. Where
events commute in some states only, a class may be counted twice; then the ratio is too low.

A black-box DPOR that misses nothing has at least as many executions as its relation has classes.
That of the artefact, in `samc_ratios`, does miss some.
"""

from __future__ import annotations

from samc_graph import Graph
from samc_ratios import EXACT

from presage import System

WHOLE: dict[str, tuple[str, ...]] = {"bDP": (), "LMI": ("LMI",), "CMI": ("CMI",), "exact": EXACT}


class Endless(Exception):
    """An execution comes back to a state, so there is no number of executions."""


class Counter:
    """Counts the executions behind states, under one relation."""

    def __init__(self, graph: Graph, policies: tuple[str, ...]) -> None:
        self._graph, self._policies = graph, policies
        self._known: dict[tuple[int, frozenset[str]], int | None] = {}

    def count(self) -> int:
        """Of all executions from the beginning; depth first, with a stack of its own."""
        root = (self._graph.root, frozenset[str]())
        stack = [root]
        while stack:
            at = stack[-1]
            behind = self._behind(*at)
            unknown = [each for each in behind if self._known.get(each, -1) == -1]
            if at not in self._known:
                self._known[at] = None  # on the stack
            if unknown:
                stack.append(unknown[0])
                continue
            if any(self._known[each] is None for each in behind):
                raise Endless
            ends = not self._graph.places[at[0]].events
            self._known[at] = int(ends) + sum(self._known[each] or 0 for each in behind)
            stack.pop()
        return self._known[root] or 0

    def _behind(self, at: int, asleep: frozenset[str]) -> list[tuple[int, frozenset[str]]]:
        """What follows each event that does not sleep."""
        sleeping, behind = set(asleep), []
        for name in self._graph.places[at].events:
            if name not in sleeping:
                kept = (
                    other
                    for other in sleeping
                    if self._graph.independent(at, other, name, self._policies)
                )
                behind.append((self._graph.take(at, name), frozenset(kept)))
                sleeping.add(name)
        return behind


def whole(system: System) -> dict[str, int]:
    """The executions of the whole search under each relation, and its states."""
    graph = Graph(system)
    counts = {name: Counter(graph, own).count() for name, own in WHOLE.items()}
    return {**counts, "states": len(graph.places)}
