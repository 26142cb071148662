"""What the nodes of a ring tell each other, over streams."""

from __future__ import annotations

from msgspec import Struct

Nodes = tuple[str, ...]


class FindPred(Struct, frozen=True):
    """Who comes before `key`? Forwarded until it reaches that node, which answers `who`."""

    key: int
    who: str
    joins: bool  # whether `who` asks in order to join


class FindPredReply(Struct, frozen=True):
    """The sender comes before `key` (if `is_pred`), and `successor` comes after it."""

    is_pred: bool
    key: int
    successor: str
    successors: Nodes


class GetPred(Struct, frozen=True):
    """Who comes before you?"""


class GetPredReply(Struct, frozen=True):
    """That is the sender's predecessor; and whom else the receiver may want to know."""

    pred: str | None
    successors: Nodes
    likely: str  # the nearest after the receiver that the sender knows


class UpdatePred(Struct, frozen=True):
    """The sender may come before you."""


class Remove(Struct, frozen=True):
    """Forget the sender: it is no part of the ring (yet)."""


class Ping(Struct, frozen=True):
    """Are you there?"""


class Pong(Struct, frozen=True):
    """The sender is there, and has joined."""
