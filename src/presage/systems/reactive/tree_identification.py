"""Tree identification of IEEE 1394: nodes that know only their neighbours agree on a root.

After Calder and Miller, "Using SPIN to Analyse the Tree Identification Phase of the IEEE 1394 High
Performance Serial Bus Protocol" (2003), and the model `firewire_tree` of the BEEM benchmark. Each
node waits until all its neighbours but one want to be its children; then it asks the last one to be
its parent. Where both ends of the last connection ask each other (root contention) each of them
draws: to ask again, or to wait to be asked. Equal draws lead to the next round. Coins are not fair
to a model checker, so after `draws` rounds the names decide.

In BEEM's model a node that lost the contention never answers the winner: bug `noreply`. Its links
hold one message, and it counts local steps; so its counts (2,441 states of a line of four) are
those of another graph. Its verdict is the same.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from presage import System, Verdict, WorldView, action, always, at_most, eventually, exactly, timer
from presage.systems.reactive.machine import Event, Machine, State, Table

Bug = Literal["none", "earlyroot", "hasty", "noreply", "fixedcoin"]


class BeMyParent(Event, frozen=True):
    """The sender wants to be the receiver's child."""


class BeMyChild(Event, frozen=True):
    """It may be."""


class Ack(Event, frozen=True):
    """It is."""


class Node(Machine):
    """Collects children, until at most one neighbour is left."""

    neighbours: tuple[str, ...]
    draws: int
    bug: Bug = "none"
    phase: str = "collecting"
    children: frozenset[str] = frozenset()  # who asked
    unconfirmed: frozenset[str] = frozenset()  # children that have not answered yet

    def asked(self, event: BeMyParent, source: str) -> None:
        self.children |= {source}

    @action(
        when=lambda self: (
            self.phase == "collecting" and len(self.neighbours) - len(self.children) <= 1
        )
    )
    def propose(self) -> None:
        self.adopt(self.children)
        for last in self.left():
            self.send(last, BeMyParent())

    def left(self) -> list[str]:
        return [name for name in self.neighbours if name not in self.children]

    def adopt(self, children: frozenset[str]) -> None:
        leaf = len(self.neighbours) == 1
        self.unconfirmed = frozenset() if self.bug == "earlyroot" and leaf else children
        for child in sorted(children):
            self.send(child, BeMyChild())
        self.goto("confirming")
        self.confirmed()

    def acked(self, event: Ack, source: str) -> None:
        self.unconfirmed -= {source}
        self.confirmed()

    def confirmed(self) -> None:
        if not self.unconfirmed:
            self.goto("proposed" if self.left() else "root")

    def become_child(self, event: BeMyChild, source: str) -> None:
        self.send(source, Ack())
        self.goto("child")

    def contend(self, event: BeMyParent, source: str) -> None:
        self.draws = max(self.draws - 1, 0)
        if self.bug == "fixedcoin":
            asks = True
        elif self.draws:
            asks = self.choose([True, False])
        else:
            asks = self.name < source
        if asks:
            self.send(source, BeMyParent())
        else:
            self.goto("waiting")

    def wait(self) -> None:
        if self.draws:  # else the other one asks for sure
            self.arm("patience")

    @timer
    def patience(self) -> None:
        if self.bug == "hasty":
            self.goto("root")
            return
        for last in self.left():
            self.send(last, BeMyParent())
        self.goto("proposed")

    def won(self, event: BeMyParent, source: str) -> None:
        self.disarm("patience")
        self.children |= {source}
        if self.bug != "noreply":
            self.adopt(frozenset({source}))

    table: ClassVar[Table] = {
        "collecting": State(on={BeMyParent: asked}),
        "confirming": State(on={Ack: acked}, defer=(BeMyParent, BeMyChild)),
        "proposed": State(on={BeMyChild: become_child, BeMyParent: contend}),
        "waiting": State(on={BeMyParent: won}, entry=wait),
        "child": State(),
        "root": State(ignore=(BeMyParent,)),
    }


@always
def one_root(world: WorldView) -> Verdict:
    """At most one node is the root."""
    return at_most(1, world.of(Node), lambda node: node.phase == "root")


@eventually
def elected(world: WorldView) -> Verdict:
    """In the end one is."""
    return exactly(1, world.of(Node), lambda node: node.phase == "root")


def system(
    *,
    nodes: int = 4,
    shape: Literal["line", "binary", "star"] = "line",
    draws: int = 2,
    bug: Bug = "none",
) -> System:
    """Nodes joined to a tree.

    nodes: how many.
    shape: how they are joined: one after the other, each to two others below, all to the first.
    draws: how often two nodes that ask each other draw, before their names decide.
    bug: `earlyroot` does not wait for its child if it has only one neighbour, `hasty` takes itself
        for the root when it has waited for too long, `noreply` does not answer the node that won,
        `fixedcoin` always asks again.
    """
    above = {"line": range(nodes), "binary": [n // 2 for n in range(nodes)], "star": [0] * nodes}
    edges = [(f"n{above[shape][n - 1]}", f"n{n}") for n in range(1, nodes)]
    return System(
        {
            name: Node(
                neighbours=tuple(a if b == name else b for a, b in edges if name in (a, b)),
                draws=draws + 1,
                bug=bug,
            )
            for name in (f"n{n}" for n in range(nodes))
        },
        network="ordered",
        properties=[one_root, elected],
        name="tree identification",
    )
