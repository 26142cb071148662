"""What a Pastry ring claims: two things at any time, seven again and again.

Nodes that are down for good are left out: the ring is that of the nodes that are up.
"""

from __future__ import annotations

from presage import Verdict, WorldView, always, eventually, forall, reach
from presage.systems.pastry.circle import DIGITS
from presage.systems.pastry.service import Pastry


def members(world: WorldView) -> list[Pastry]:
    return [node for node in world.of(Pastry) if node.up]


@always
def size_match(world: WorldView) -> Verdict:
    """Left and right together are as many as there are leaves."""
    return forall(members(world), lambda n: len(n.left) + len(n.right) == len(n.leaves))


@always
def one_side(world: WorldView) -> Verdict:
    """Each leaf is on one side, and nobody is its own leaf."""
    return forall(
        members(world),
        lambda n: (
            n.name not in n.leaves
            and all((leaf in n.left) != (leaf in n.right) for leaf in n.leaves)
        ),
    )


@eventually
def nodes_joined(world: WorldView) -> Verdict:
    """Everybody has joined."""
    return forall(members(world), lambda n: n.phase == "joined")


@eventually
def all_nodes(world: WorldView) -> Verdict:
    """From everybody, the right neighbours lead round to all nodes."""
    ring = frozenset(node.name for node in members(world))
    return forall(members(world), lambda n: reach(n, "right_neighbour") == ring)


@eventually
def node_match_right(world: WorldView) -> Verdict:
    """What a node no longer owns on its right, it sends to its right neighbour."""
    return forall(members(world), lambda n: n.next_hop(n.end) == n.right_neighbour)


@eventually
def key_match_right(world: WorldView) -> Verdict:
    """Where a node's own part ends, that of its right neighbour begins."""
    return forall(members(world), lambda n: world[n.right_neighbour].begin == n.end)


@eventually
def leafset_reflexive(world: WorldView) -> Verdict:
    """Everybody is a leaf of its leaves."""
    return forall(members(world), lambda n: all(n.name in world[leaf].leaves for leaf in n.leaves))


@eventually
def all_nodes_reachable(world: WorldView) -> Verdict:
    """A message for anybody's identifier gets there."""
    ring = members(world)
    return forall(ring, lambda n: forall(ring, lambda m: _path(world, n, m)[-1] == m.name))


@eventually
def short_paths(world: WorldView) -> Verdict:
    """And passes no more nodes than an identifier has digits, and its own owner."""
    ring = members(world)
    return forall(ring, lambda n: forall(ring, lambda m: len(_path(world, n, m)) <= DIGITS + 1))


def _path(world: WorldView, start: Pastry, goal: Pastry) -> list[str]:
    """The nodes a message for `goal` passes, until it stays or comes back."""
    path = [start.name]
    while (hop := world[path[-1]].next_hop(goal.ident)) not in path:
        path.append(hop)
    return path


SAFETY = (size_match, one_side)
LIVENESS = (
    nodes_joined,
    all_nodes,
    node_match_right,
    key_match_right,
    leafset_reflexive,
    all_nodes_reachable,
    short_paths,
)
