"""Two players that count up in turn, over a net that may lose and repeat messages.

Each player answers only the number it waits for, so a repeated message does nothing and the two
counts never differ by more than one. Same model as the ping-pong actors in Stateright's tests.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from presage import (
    UNLIMITED,
    Faults,
    Property,
    Service,
    System,
    Verdict,
    WorldView,
    always,
    eventually,
    on,
    sometimes,
)


class Ping(Struct, frozen=True):
    """The server's ball."""

    value: int


class Pong(Struct, frozen=True):
    """The answer."""

    value: int


class Player(Service):
    """Returns the ball with the expected number until its count is `max`."""

    max: int
    serve_to: str | None = None
    count: int = 0

    def start(self) -> None:
        if self.serve_to is not None:
            self.send(self.serve_to, Ping(0))

    @on(Ping, when=lambda self: self.count < self.max)
    def ping(self, ping: Ping, source: str) -> None:
        if ping.value == self.count:
            self.count += 1
            self.send(source, Pong(ping.value))

    @on(Pong, when=lambda self: self.count < self.max)
    def pong(self, pong: Pong, source: str) -> None:
        if pong.value == self.count:
            self.count += 1
            self.send(source, Ping(pong.value + 1))


@always
def delta_within_one(world: WorldView) -> Verdict:
    """The players are never more than one stroke apart."""
    left, right = (player.count for player in world.nodes)
    return Verdict(abs(left - right) <= 1, f"the counts are {left} and {right}")


def _at_max(world: WorldView) -> bool:
    return any(player.count == player.max for player in world.nodes)


def system(
    *, max: int = 5, network: Literal["lossy_duplicating", "lossless"] = "lossy_duplicating"
) -> System:
    """Two players, of which the left one serves.

    max: where a player stops counting.
    network: `lossy_duplicating` may lose any message and deliver it any number of times;
        `lossless` delivers each once, and then the players must reach `max`.
    """
    lossless = network == "lossless"
    properties: list[Property] = [delta_within_one, sometimes(_at_max, name="can_reach_max")]
    if lossless:
        properties.append(eventually(_at_max, name="must_reach_max"))
    return System(
        nodes={"left": Player(max=max, serve_to="right"), "right": Player(max=max)},
        network="unordered" if lossless else "duplicating",
        faults=Faults(drop=0 if lossless else UNLIMITED),
        properties=properties,
        name="ping-pong",
    )
