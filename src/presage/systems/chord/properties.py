"""What a Chord ring claims: seven things at any time, five again and again.

Nodes that are down for good are left out: the ring is that of the nodes that are up.
"""

from __future__ import annotations

from presage import Verdict, WorldView, always, eventually, forall, reach, step
from presage.systems.chord.circle import SIZE, ahead, ident
from presage.systems.chord.service import Chord


def members(world: WorldView) -> list[Chord]:
    return [node for node in world.of(Chord) if node.up]


@always
def succ_pred(world: WorldView) -> Verdict:
    """Only who is alone is its own predecessor."""
    return forall(members(world), lambda n: n.pred != n.name or n.successor == n.name)


@always
def self_routing(world: WorldView) -> Verdict:
    """A node that has joined owns its own identifier."""
    return forall(members(world), lambda n: n.phase != "joined" or n.owns(n.ident))


@always
def not_in_successor_list(world: WorldView) -> Verdict:
    """Nobody follows itself."""
    return forall(members(world), lambda n: n.name not in n.successors)


@always
def pred_range(world: WorldView) -> Verdict:
    """What a node owns begins after its predecessor."""

    def begins(node: Chord) -> bool:
        if node.pred is None or node.pred == node.name:
            return True
        return node.first == (ident(node.pred) + 1) % SIZE

    return forall(members(world), begins)


@always
def node_ordering(world: WorldView) -> Verdict:
    """No successor lies between predecessor and node."""

    def ordered(node: Chord) -> bool:
        if node.pred is None or node.pred == node.name:
            return True
        reach = ahead(node.ident, ident(node.pred))
        others = (each for each in node.successors if each != node.name)
        return all(ahead(node.ident, ident(each)) <= reach for each in others)

    return forall(members(world), ordered)


@always
def valid_successor_list(world: WorldView) -> Verdict:
    """Successors are in ring order, and no more than should be kept."""

    def valid(node: Chord) -> bool:
        distances = [ahead(node.ident, ident(each)) for each in node.successors]
        return distances == sorted(distances) and len(distances) <= node.keeps

    return forall(members(world), valid)


@step(of=Chord)
def fingers_improve(before: Chord, after: Chord) -> bool:
    """A finger gives way to a nearer node only, unless its node is forgotten altogether."""
    known = {*after.fingers, *after.successors}
    return all(
        old not in known or ahead(after.ident, ident(new)) <= ahead(after.ident, ident(old))
        for old, new in zip(before.fingers, after.fingers, strict=True)
        if old != before.name
    )


@eventually
def nodes_joined(world: WorldView) -> Verdict:
    """Everybody has joined."""
    return forall(members(world), lambda n: n.phase == "joined")


@eventually
def all_nodes(world: WorldView) -> Verdict:
    """From everybody, the successors lead round to all nodes."""
    ring = frozenset(node.name for node in members(world))
    return forall(members(world), lambda n: reach(n, "successor") == ring)


@eventually
def pred_non_null(world: WorldView) -> Verdict:
    """Everybody has a predecessor."""
    return forall(members(world), lambda n: n.pred is not None)


@eventually
def successor_reflexive(world: WorldView) -> Verdict:
    """Everybody is the predecessor of its successor."""
    return forall(members(world), lambda n: world[n.successor].pred == n.name)


@eventually
def all_nodes_reachable(world: WorldView) -> Verdict:
    """A message for anybody's identifier gets there."""
    ring = members(world)
    return forall(ring, lambda n: forall(ring, lambda m: _arrives(world, n, m)))


def _arrives(world: WorldView, start: Chord, goal: Chord) -> Verdict:
    at, passed = start, set[str]()
    while at.name not in passed:
        passed.add(at.name)
        hop = at.next_hop(goal.ident)
        if hop == at.name:
            break
        at = world[hop]
    return Verdict(at.name == goal.name, f"a message for {goal.name} gets stuck at {at.name}")


SAFETY = (succ_pred, self_routing, not_in_successor_list, pred_range, fingers_improve)
LATER = (node_ordering, valid_successor_list)  # nobody claimed this before 2009
LIVENESS = (nodes_joined, all_nodes, pred_non_null, successor_reflexive, all_nodes_reachable)
