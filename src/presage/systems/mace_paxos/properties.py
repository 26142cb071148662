"""What Paxos promises: agreement, on something that was proposed; and that it may succeed."""

from __future__ import annotations

from presage import HOLDS, Verdict, WorldView, always, sometimes
from presage.systems.mace_paxos.service import Paxos


@always
def one_value(world: WorldView) -> Verdict:
    """At most one value is chosen, across all nodes and over time."""
    chosen = [(value, node.name) for node in world.of(Paxos) for value in sorted(node.chosen)]
    other = next(((value, name) for value, name in chosen if value != chosen[0][0]), None)
    if other is None:
        return HOLDS
    (first, at), (second, there) = chosen[0], other
    return Verdict.fails(f"{at} has chosen {first}, {there} has chosen {second}")


@sometimes
def chosen(world: WorldView) -> bool:
    """A value is chosen."""
    return any(node.chosen for node in world.of(Paxos))
