"""What nodes of the mesh say to each other. A set of blocks is a number: bit n is block n."""

from __future__ import annotations

from msgspec import Struct


class PeerRequest(Struct, frozen=True):
    """Be a sender of mine; and whether I am one of yours."""

    mutual: bool


class PeerAccept(Struct, frozen=True):
    """I am; these are the blocks I have."""

    blocks: int


class PeerReject(Struct, frozen=True):
    """I have receivers enough."""


class Diff(Struct, frozen=True):
    """These blocks are new here, since the last diff."""

    blocks: int


class BlockRequest(Struct, frozen=True):
    """Send me this block."""

    block: int


class Block(Struct, frozen=True):
    """A block of the file."""

    block: int
    content: bytes
