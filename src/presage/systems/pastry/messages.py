"""What the nodes of a Pastry ring tell each other, over streams."""

from __future__ import annotations

from msgspec import Struct

Nodes = tuple[str, ...]


class Join(Struct, frozen=True):
    """`who` wants to join. Forwarded towards its identifier; each on the way sends it rows."""

    who: str
    row: int  # the first row it still lacks


class RowInfo(Struct, frozen=True):
    """A row of the sender's routing table, and the sender itself."""

    row: int
    nodes: Nodes


class RowRequest(Struct, frozen=True):
    """Send me that row."""

    row: int


class LeafsetInfo(Struct, frozen=True):
    """The sender's leaves."""

    leaves: Nodes


class LeafsetInfoRequest(Struct, frozen=True):
    """Send me your leaves; I am one of those who may be among them."""


class InformRequest(Struct, frozen=True):
    """Are you there?"""

    joined: bool  # whether the sender has joined


class Inform(Struct, frozen=True):
    """The sender is there, and has joined."""


class Remove(Struct, frozen=True):
    """Forget the sender: it is no part of the ring (yet)."""
