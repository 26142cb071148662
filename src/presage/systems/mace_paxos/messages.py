"""The five steps of a round: prepare, promise, accept, learn; choosing is done in silence."""

from __future__ import annotations

from msgspec import Struct

Vote = tuple[int, int]  # a round, and the value accepted in it


class Prepare(Struct, frozen=True):
    """Promise to accept nothing of a lower round."""

    round: int


class Promise(Struct, frozen=True):
    """Promised; this is what the sender accepted last."""

    round: int
    accepted: Vote | None


class Accept(Struct, frozen=True):
    """Accept this, unless a higher round was promised."""

    round: int
    value: int


class Learn(Struct, frozen=True):
    """The sender has accepted this; to everyone, since every node learns."""

    round: int
    value: int
