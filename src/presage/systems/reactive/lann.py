"""Leader election in a token ring: who misses the token for too long claims a new one.

After Le Lann (1977) and the model `lann` of the BEEM benchmark. The holder of the token is in its
critical section; then it passes the token on. A node that waits may time out and send a claim round
the ring. A node that sees a smaller claim gives in. If a claim comes back to a node that has
neither given in nor seen the token, that node owns a new token.

A node must not claim again while its claim is under way: else the older of two claims comes back to
a node that seems to wait for it, though the token has passed, and there are two tokens.

BEEM's links hold one message and its nodes stop where a smaller claim finds them given in, so its
counts (18,424 states of three nodes) are those of another graph. Its verdicts are the same.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from presage import (
    Faults,
    Service,
    System,
    Verdict,
    WorldView,
    action,
    always,
    at_most,
    eventually,
    exactly,
    on,
    timer,
)

Bug = Literal["none", "reclaim", "stubborn", "forgets", "modest"]


class Token(Struct, frozen=True):
    """Its holder may enter."""


class Claim(Struct, frozen=True):
    """The token is lost, and `value` wants to have it."""

    value: int


class Node(Service):
    """Has a value of its own; smaller ones go first."""

    value: int
    successor: str
    discard: bool
    bug: Bug
    critical: bool = False
    status: Literal["calm", "claims", "gave_in"] = "calm"
    sent: bool = False  # its claim is under way

    def start(self) -> None:
        self._rearm()

    @on(Token, when=lambda self: not self.critical)
    def enter(self, token: Token) -> None:
        self.critical = True
        self._rearm()

    @action(when=lambda self: self.critical)
    def leave(self) -> None:
        self.critical = False
        self.status = "calm"
        self.send(self.successor, Token())
        self._rearm()

    @timer
    def timeout(self) -> None:
        self.status = "claims"
        self.sent = True
        self.send(self.successor, Claim(self.value))

    @on(Claim, when=lambda self: not self.critical)
    def claimed(self, claim: Claim) -> None:
        if claim.value == self.value:
            self._returned()
        elif claim.value < self.value:
            if self.status == "claims" and self.bug != "stubborn":
                self.status = "gave_in"
            self.send(self.successor, claim)
        elif not self.discard:
            self.send(self.successor, claim)
        self._rearm()

    def _returned(self) -> None:
        self.critical = self.status == "claims" and self.bug != "modest"
        self.status = "claims" if self.critical else "calm"
        self.sent = self.bug == "forgets"

    def _rearm(self) -> None:
        """A node that waits times out at some time, unless its claim is under way."""
        may = not self.critical and self.status == "calm"
        if may and (not self.sent or self.bug == "reclaim"):
            self.arm("timeout")
        else:
            self.disarm("timeout")


@always
def one_critical(world: WorldView) -> Verdict:
    """At most one node is in its critical section."""
    return at_most(1, world.of(Node), lambda node: node.critical)


@eventually
def token_seen(world: WorldView) -> Verdict:
    """Again and again somebody is."""
    return exactly(1, world.of(Node), lambda node: node.critical)


def system(*, nodes: int = 3, losses: int = 0, discard: bool = True, bug: Bug = "none") -> System:
    """A ring; the first node begins with the token.

    nodes: how many.
    losses: how many messages may get lost.
    discard: a node does not pass on claims larger than its own value.
    bug: `reclaim` claims again while a claim is under way; `stubborn` does not give in, which
        shows where larger claims are not discarded; `forgets` does not notice that its claim came
        back, and never claims again; `modest` claims, but never takes the token.
    """
    ring = {}
    for n in range(nodes):
        value = (24 - 10 * n) % 27  # all different
        ring[f"n{n}"] = Node(
            value=value, successor=f"n{(n + 1) % nodes}", discard=discard, bug=bug, critical=n == 0
        )
    return System(
        ring,
        network="ordered",
        faults=Faults(drop=losses),
        properties=[one_critical, token_seen],
        name="Lann",
    )
