"""Ways to look at fewer states or transitions with the same verdicts, and when they may be used.

`sleep` leaves out orders of events that lead to the same state; all states are still met. Symmetry
takes states that differ only by an exchange of interchangeable nodes for one.
"""

from __future__ import annotations

from collections.abc import Iterator

from presage.errors import BadSystem, NotSymmetric
from presage.model.world.system import System
from presage.search.settings import Settings

NODES_MAX = 2**11  # a sleeping event is one word, with 11 bits for its node

SymmetricNodes = tuple[list[list[int]], list[str], list[list[bool]]]


def check_reduction(system: System, settings: Settings) -> None:
    """Refuse a system that cannot be reduced so, or for which it would not be sound."""
    if settings.reduction == "sleep" and len(system.nodes) > NODES_MAX:
        raise BadSystem(
            f"the system has {len(system.nodes):,} nodes",
            "a generated system",
            f"the reduction `sleep` takes at most {NODES_MAX:,}",
        )
    if system.seals:
        _check_sealed(system, settings)
    if settings.search == "tree":
        from presage.search.tree import check_tree

        check_tree(system)
        if settings.reversals == "queue" and system.streams is not None:
            raise BadSystem(
                "reversals in a queue for a system with streams",
                "what a step does to a connection may depend on the order of a race",
                "use `--reversals stack` or `random`, or `--reduction odpor`",
            )
    if settings.symmetry:
        _check_symmetry(system, judged_exactly=settings.exact and settings.search == "bfs")


def _check_sealed(system: System, settings: Settings) -> None:
    """Refuse reductions whose arguments a seal breaks."""
    sealed = f"a system with seals (`{system.seals[0].name}`)"
    if settings.symmetry:
        raise NotSymmetric(
            f"symmetry for {sealed}",
            "whether a seal treats nodes alike that change places is not compared yet",
            "check without symmetry",
        )
    if settings.reduction != "none":
        raise BadSystem(
            f"the reduction `{settings.reduction}` for {sealed}",
            "events that change places may seal a state, or lift a seal, so all orders count",
            'reduction="none" (`--reduction none`)',
        )
    if settings.search == "tree" and (system.faults.drop or system.faults.duplicate):
        raise BadSystem(
            f"the search `tree` of {sealed} and messages that get lost or repeated",
            "it loses messages when they are sent, and a sealed state allows no fault",
            "use `bfs`, or leave out drops and duplicates",
        )


def _check_symmetry(system: System, *, judged_exactly: bool) -> None:
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
    endless = [prop.name for prop in system.properties if prop.kind == "eventually"]
    if endless and judged_exactly:
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


def reduction_notes(system: System, settings: Settings, *, sampled: bool) -> Iterator[str]:
    """What a report says of how it was made."""
    if settings.reduction == "sleep":
        yield "orders of events that lead to the same state were not followed (sleep)"
    if settings.samples:
        yield "random executions, and from each its races reversed once: a sample of all there are"
    if not settings.symmetry:
        return
    groups = "; ".join(
        ", ".join(system.names[node] for node in group) for group in system.symmetric.groups
    )
    if settings.search == "delay":
        yield f"faults that differ by exchanging nodes count as one: {groups}"
    else:
        yield f"states that differ by exchanging nodes count as one: {groups}"
    if sampled:
        yield (
            "some steps or states have so many arrangements of nodes that whether all are"
            " treated alike was compared on part of them only"
        )
