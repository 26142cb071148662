"""The two rounds of a ballot, and what is agreed on."""

from __future__ import annotations

from msgspec import Struct

Ballot = tuple[int, str]  # round, then the leader's name: no two leaders share one


class Proposal(Struct, frozen=True):
    """A value, and the request it came with."""

    request: int
    client: str
    value: str


Vote = tuple[Ballot, Proposal]


class Prepare(Struct, frozen=True):
    """Promise to accept nothing below this ballot."""

    ballot: Ballot


class Prepared(Struct, frozen=True):
    """Promised; this is what the sender accepted last."""

    ballot: Ballot
    accepted: Vote | None


class Accept(Struct, frozen=True):
    """Accept this, unless a higher ballot was promised."""

    ballot: Ballot
    proposal: Proposal


class Accepted(Struct, frozen=True):
    """Accepted in that ballot."""

    ballot: Ballot


class Decided(Struct, frozen=True):
    """A majority has accepted this."""

    ballot: Ballot
    proposal: Proposal
