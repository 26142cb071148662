"""What must be true of the tree, as Mace and CrystalBall state it, and what must come true."""

from __future__ import annotations

from presage import Verdict, WorldView, always, eventually, exactly, forall, reach
from presage.systems.randtree.service import RandTree


@always
def timers(world: WorldView) -> Verdict:
    """Whoever has begun to join looks for other trees from time to time."""
    return forall(world.of(RandTree), lambda node: node.phase == "init" or node.armed("recovery"))


@always
def timers_with_peers(world: WorldView) -> Verdict:
    """Whoever has begun to join, and knows someone, looks for other trees."""
    return forall(
        world.of(RandTree),
        lambda node: node.phase == "init" or not node.peers or node.armed("recovery"),
    )


@always
def joined_has_parent(world: WorldView) -> Verdict:
    """Whoever has joined has a parent, or is the root."""
    return forall(
        world.of(RandTree),
        lambda node: node.phase != "joined" or node.root == node.name or node.parent is not None,
    )


@always
def children_siblings_disjoint(world: WorldView) -> Verdict:
    """Nobody is a child and a sibling of one node."""
    return forall(world.of(RandTree), lambda node: not node.children & node.siblings)


@always
def root_not_child_or_sibling(world: WorldView) -> Verdict:
    """Nobody's root is its child or sibling."""
    return forall(world.of(RandTree), lambda node: node.root not in node.children | node.siblings)


@always
def root_has_no_siblings(world: WorldView) -> Verdict:
    """Whoever has joined as the root has no siblings."""
    return forall(
        world.of(RandTree),
        lambda node: node.phase != "joined" or node.root != node.name or not node.siblings,
    )


@always
def parent_not_child(world: WorldView) -> Verdict:
    """Nobody's parent is its child."""
    return forall(world.of(RandTree), lambda node: node.parent not in node.children)


@always
def degree_bound(world: WorldView) -> Verdict:
    """Nobody has more children than it may."""
    return forall(world.of(RandTree), lambda node: len(node.children) <= node.degree)


@eventually
def all_joined(world: WorldView) -> Verdict:
    """Everyone has joined."""
    return forall(world.of(RandTree), lambda node: node.phase == "joined")


@eventually
def one_root(world: WorldView) -> Verdict:
    """Exactly one node is the root."""
    return exactly(1, world.of(RandTree), lambda node: node.root == node.name)


@eventually
def root_match(world: WorldView) -> Verdict:
    """Everyone has the same root: the smallest of all nodes."""
    smallest = min(node.name for node in world.nodes)
    return forall(world.of(RandTree), lambda node: node.root == smallest)


@eventually
def no_loops(world: WorldView) -> Verdict:
    """Nobody is above itself."""
    below = [node for node in world.of(RandTree) if node.parent is not None]
    return forall(below, lambda node: node.name not in reach(world[node.parent], "parent"))


@eventually
def rooted(world: WorldView) -> Verdict:
    """Everyone is the root or has a parent."""
    return forall(
        world.of(RandTree), lambda node: node.root == node.name or node.parent is not None
    )


@eventually
def kids_match(world: WorldView) -> Verdict:
    """Everyone is a child of its parent, and the parent of its children."""

    def matches(node: RandTree) -> Verdict:
        if node.parent is not None and node.name not in world[node.parent].children:
            return Verdict.fails(f"its parent {node.parent} does not know it")
        strange = [child for child in sorted(node.children) if world[child].parent != node.name]
        return Verdict(not strange, f"{', '.join(strange)} has another parent")

    return forall(world.of(RandTree), matches)


@eventually
def siblings_match(world: WorldView) -> Verdict:
    """The children of the root know each other."""
    return forall(
        world.of(RandTree),
        lambda node: (
            node.parent is None
            or node.parent != node.root
            or node.siblings == world[node.parent].children - {node.name}
        ),
    )


SAFETY = (
    joined_has_parent,
    children_siblings_disjoint,
    root_not_child_or_sibling,
    root_has_no_siblings,
    parent_not_child,
    degree_bound,
)
LIVENESS = (all_joined, one_root, root_match, no_loops, rooted, kids_match, siblings_match)
