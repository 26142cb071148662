"""Breadth-first search in a synchronous network: who hears of it first is nearest.

Lynch, *Distributed Algorithms*, 4.2. The root searches. A node that is found takes the sender for
its parent, and searches in the next round. So the tree of parents has only shortest ways, if rounds
are kept apart: as long as somebody has to send in a round, only that happens, and then all mail of
the round arrives. Two seals say that. Without them (`async`) a long way may overtake a short one.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from presage import (
    Seal,
    Service,
    System,
    Verdict,
    WorldView,
    action,
    always,
    eventually,
    forall,
    on,
    reach,
)

Bug = Literal["none", "async", "reparent"]
GRAPHS = {  # the neighbours of each node, and its distance from the root `a`
    "cycle": ({"a": "bd", "b": "acd", "c": "bd", "d": "abc"}, {"a": 0, "b": 1, "c": 2, "d": 1}),
    "grid": (
        {"a": "bd", "b": "ace", "c": "bf", "d": "ae", "e": "bdf", "f": "ce"},
        {"a": 0, "b": 1, "c": 2, "d": 1, "e": 2, "f": 3},
    ),
}


class Search(Struct, frozen=True):
    """The sender was found in the round before this one."""

    round: int


class Node(Service):
    """Searches once, when it was found."""

    neighbours: str
    nearest: int  # how far it is from the root: for the properties
    bug: Bug = "none"
    parent: str | None = None
    found: int | None = None  # the round
    pending: bool = False

    def start(self) -> None:
        if self.nearest == 0:
            self.found, self.pending = 0, True

    @on(Search)
    def search(self, message: Search, source: str) -> None:
        if self.found is None:
            self.parent, self.found, self.pending = source, message.round, True
        elif self.bug == "reparent":
            self.parent = source

    @action(when=lambda self: self.pending)
    def go_on(self) -> None:
        assert self.found is not None
        self.pending = False
        for neighbour in self.neighbours:
            self.send(neighbour, Search(self.found + 1))


@always
def shortest(world: WorldView) -> Verdict:
    """Each node is found in the round that its distance says."""
    return forall(world.of(Node), lambda node: node.found in (None, node.nearest))


@always
def no_cycle(world: WorldView) -> Verdict:
    """Nobody is its own ancestor."""
    below = [node for node in world.of(Node) if node.parent is not None]
    return forall(below, lambda node: node.name not in reach(world[node.parent], "parent"))


@eventually
def all_found(world: WorldView) -> Verdict:
    """In the end everybody is found."""
    return forall(world.of(Node), lambda node: node.found is not None)


def sending(world: WorldView) -> bool:
    """Somebody has still to send in the round whose mail is under way."""
    mail = [envelope.message.round for envelope in world.messages(Search)]
    pending = [node.found + 1 for node in world.of(Node) if node.pending and node.found is not None]
    return bool(mail and pending) and min(pending) <= min(mail)


def arriving(world: WorldView) -> bool:
    """Mail is under way."""
    return bool(world.messages(Search))


def system(*, graph: Literal["cycle", "grid"] = "cycle", bug: Bug = "none") -> System:
    """A network.

    graph: four nodes in a cycle with a chord, or a grid of two by three.
    bug: `async` has no rounds, `reparent` takes every sender for its parent.
    """
    edges, distances = GRAPHS[graph]
    nodes = {name: Node(neighbours=edges[name], nearest=distances[name], bug=bug) for name in edges}
    return System(
        nodes,
        network="ordered",
        properties=[shortest, no_cycle, all_found],
        seals=[] if bug == "async" else [Seal(sending, "action"), Seal(arriving, "mail")],
        name="SyncBFS",
    )
