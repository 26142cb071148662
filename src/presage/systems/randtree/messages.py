"""What the nodes of a RandTree tell each other, over streams."""

from __future__ import annotations

from msgspec import Struct

ACCEPTED, LOOP, ROOT_FORCE = "accepted", "loop", "root_force"


class Join(Struct, frozen=True):
    """`who` wants to be a child; `redirected` is the root that passed it down, if one did."""

    who: str
    redirected: str | None = None


class JoinReply(Struct, frozen=True):
    """You are my child; or, if not accepted: you are the root yourself."""

    code: str
    root: str
    siblings: frozenset[str] = frozenset()


class Remove(Struct, frozen=True):
    """I am not your child."""


class Present(Struct, frozen=True):
    """I am your child, am I not? Not in Mace."""


class Rejoin(Struct, frozen=True):
    """You are not my child any more: join again."""


class UpdateSiblings(Struct, frozen=True):
    """The root, and its other children."""

    root: str
    siblings: frozenset[str]


class Probe(Struct, frozen=True):
    """This is my root; which is yours?"""

    root: str


class ProbeJoin(Struct, frozen=True):
    """There is a smaller root than you."""

    root: str


class NewRoot(Struct, frozen=True):
    """The root is another now. `path`, not in Mace, is by whom this came down the tree."""

    root: str
    path: tuple[str, ...] = ()
