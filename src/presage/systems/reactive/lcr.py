"""Leader election in a synchronous ring, after Le Lann, Chang and Roberts.

Lynch, *Distributed Algorithms*, 3.3. In each round every node sends what it holds to the next, at
first its own number; it keeps what it then gets, if that is larger than its own. Whose own number
comes back leads. After as many rounds as there are nodes the others know that they follow.

The algorithm assumes rounds, so they are sealed here: all send, all mail arrives, all turn to the
next round. Without the seals (`skipnull`) a node turns before its mail is there, and nobody leads.
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
    at_most,
    eventually,
    forall,
    on,
    timer,
)

Bug = Literal["none", "ge", "skipnull", "drop"]


class Number(Struct, frozen=True):
    """The number of some node before."""

    value: int


class Node(Service):
    """Has a number that nobody else has."""

    number: int
    after: str
    rounds: int  # that are left
    bug: Bug = "none"
    sends: int | None = None
    got: int | None = None
    sent: bool = False  # in this round
    status: Literal["unknown", "leads", "follows"] = "unknown"

    def start(self) -> None:
        self.sends = self.number

    @action(when=lambda self: not self.sent and self.rounds > 0)
    def emit(self) -> None:
        if self.sends is not None:
            self.send(self.after, Number(self.sends))
        self.sent = True
        self.arm("turn")

    @on(Number)
    def take(self, message: Number) -> None:
        self.got = message.value

    @timer
    def turn(self) -> None:
        got, self.got, self.sends, self.sent = self.got, None, None, False
        self.rounds -= 1
        if got is not None and got > self.number:
            self.sends = got
        returns = got == self.number and self.bug != "drop"
        if returns or (self.bug == "ge" and got is not None and got >= self.number):
            self.status = "leads"
        elif self.rounds == 0 and self.status == "unknown":
            self.status = "follows"


@always
def one_leader(world: WorldView) -> Verdict:
    """At most one node leads."""
    return at_most(1, world.of(Node), lambda node: node.status == "leads")


@eventually
def largest_leads(world: WorldView) -> Verdict:
    """The node with the largest number leads, and no other."""
    nodes = world.of(Node)
    largest = max(node.number for node in nodes)
    return forall(nodes, lambda node: (node.status == "leads") == (node.number == largest))


def turning(world: WorldView) -> bool:
    """Some are in the next round already."""
    return len({node.rounds for node in world.of(Node)}) > 1


def sending(world: WorldView) -> bool:
    """Some have not sent yet."""
    return any(not node.sent and node.rounds > 0 for node in world.of(Node))


def arriving(world: WorldView) -> bool:
    """All have sent, and not all mail is there."""
    return bool(world.messages())


def system(*, nodes: int = 3, bug: Bug = "none") -> System:
    """A ring.

    nodes: how many.
    bug: `ge` leads also where a larger number comes, `skipnull` has no rounds, `drop` drops its
        own number when it comes back.
    """
    ring = {}
    for n in range(nodes):
        number, after = 1 + (2 * n) % (nodes + 1 - nodes % 2), f"n{(n + 1) % nodes}"
        ring[f"n{n}"] = Node(number=number, after=after, rounds=nodes, bug=bug)
    seals = [Seal(turning, "timer"), Seal(sending, "action"), Seal(arriving, "mail")]
    return System(
        ring,
        network="ordered",
        properties=[one_leader, largest_leads],
        seals=[] if bug == "skipnull" else seals,
        name="LCR",
    )
