"""Elections and copies of the log."""

from __future__ import annotations

from msgspec import Struct


class Entry(Struct, frozen=True):
    """One place of a log: the term in which it was proposed, and by whom."""

    term: int
    proposer: str


class RequestVote(Struct, frozen=True):
    """Vote for the sender, whose log ends like this."""

    term: int
    length: int
    last_term: int


class Voted(Struct, frozen=True):
    """You have the sender's vote in that term."""

    term: int


class Append(Struct, frozen=True):
    """From `at` on the log goes on with `entries`, if what stands before has the term `before`."""

    term: int
    at: int
    before: int
    entries: tuple[Entry, ...]
    committed: int


class Appended(Struct, frozen=True):
    """So much of the log is that of the leader; less than what was sent: try from there."""

    term: int
    done: bool
    length: int
