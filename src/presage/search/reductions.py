"""Ways to look at fewer states or transitions with the same verdicts, and when they may be used.

`sleep` leaves out orders of events that lead to the same state; all states are still met. Symmetry
takes states that differ only by an exchange of interchangeable nodes for one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from presage.errors import BadSystem, NotSymmetric
from presage.model.system import System
from presage.search.report import Report

REDUCTIONS = ("none", "sleep")
NODES_MAX = 2**11  # a sleeping event is one word, with 11 bits for its node

SymmetricNodes = tuple[list[list[int]], list[str], list[list[bool]]]


def check_reduction(
    system: System,
    search: str,
    reduction: str,
    symmetry: bool,
    *,
    exact: bool,
    keeping: Mapping[str, Any],
) -> None:
    """Refuse what cannot be done, or would not be sound."""
    if reduction not in REDUCTIONS:
        known = ", ".join(f"`{name}`" for name in REDUCTIONS)
        fact = f"there is no reduction `{reduction}`"
        raise BadSystem(fact, "a misspelt name", f"use one of {known}")
    if reduction == "sleep":
        _check_sleep(system, search)
    if symmetry and search == "hunt":
        raise BadSystem(
            "symmetry in a `hunt`",
            "its executions are followed state by state, each as it is",
            "leave out symmetry",
        )
    if symmetry:
        _check_symmetry(system, search, reduction, exact)
    kept = [name for name in ("checkpoint", "spill") if keeping.get(name) is not None]
    if kept and (symmetry or reduction != "none"):
        raise BadSystem(
            f"`{kept[0]}` together with a reduction or symmetry",
            "what these know of the states met is kept in memory only",
            f"leave out either; without `{kept[0]}` the search must fit into memory",
        )


def _check_sleep(system: System, search: str) -> None:
    if search in ("walk", "hunt"):
        raise BadSystem(
            "the reduction `sleep` does nothing for random walks",
            "a walk takes one order of events; there is none to leave out",
            "use it with `bfs` or `dfs`",
        )
    if len(system.nodes) > NODES_MAX:
        raise BadSystem(
            f"the system has {len(system.nodes):,} nodes",
            "a generated system",
            f"the reduction `sleep` takes at most {NODES_MAX:,}",
        )


def _check_symmetry(system: System, search: str, reduction: str, exact: bool) -> None:
    if not system.symmetric.groups:
        raise BadSystem(
            f"system `{system.name}` declares no interchangeable nodes",
            "`symmetry` asked for a system that was made without `symmetric`",
            '`System(..., symmetric=[["a", "b"]])`',
        )
    if system.streams is not None:
        raise NotSymmetric(
            "symmetry for a system with streams",
            "which end of a connection is which node is not exchanged yet",
            "check without symmetry",
        )
    if system.clock is not None:
        raise NotSymmetric(
            "symmetry for a timed system",
            "the clocks of nodes that change places are not exchanged yet",
            "check without symmetry, or without `clock`",
        )
    if reduction == "sleep":
        raise BadSystem(
            "symmetry and the reduction `sleep` are both asked for",
            "what sleeps in a state belongs to one arrangement of its nodes, and their"
            " representative has another",
            "choose one; symmetry saves states, `sleep` only transitions",
        )
    endless = [prop.name for prop in system.properties if prop.kind == "eventually"]
    if endless and exact and search == "bfs":
        raise NotSymmetric(
            f"property `{endless[0]}` is to be judged on endless executions, with symmetry",
            "a cycle of representatives need not be a cycle of states: each time round, the"
            " nodes may have changed places, and fairness speaks of single nodes",
            '`liveness="rest"` judges it where the system comes to rest; or leave out symmetry',
        )


def symmetric_nodes(system: System) -> SymmetricNodes:
    """The groups, the names of all nodes, and which of their fields are settled."""
    settled = [
        [at in positions for at in range(len(automaton.fields) + 1)]
        for automaton, positions in zip(system.automata, system.symmetric.settled, strict=True)
    ]
    return [list(group) for group in system.symmetric.groups], list(system.names), settled


def tell_reduction(
    report: Report, system: System, reduction: str, *, symmetry: bool, sampled: bool
) -> None:
    """Let a report say how it was made."""
    report.reduction, report.symmetry = reduction, symmetry
    if reduction == "sleep":
        report.notes.append(
            "orders of events that lead to the same state were not followed (sleep)"
        )
    if not symmetry:
        return
    groups = "; ".join(
        ", ".join(system.names[node] for node in group) for group in system.symmetric.groups
    )
    report.notes.append(f"states that differ by exchanging nodes count as one: {groups}")
    if sampled:
        report.notes.append(
            "some steps or states have so many arrangements of nodes that whether all are"
            " treated alike was compared on part of them only"
        )
