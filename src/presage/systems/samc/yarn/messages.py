"""What RM, AM, nodes and client send each other."""

from __future__ import annotations

from msgspec import Struct


class Launch(Struct, frozen=True):
    """RM to AM: begin, as this attempt; whatever ran before ends."""

    attempt: int


class Register(Struct, frozen=True):
    attempt: int


class Registered(Struct, frozen=True):
    attempt: int


class Allocate(Struct, frozen=True):
    """AM to RM: how many containers more, which are given back, which nodes not to use."""

    attempt: int
    ask: int
    release: tuple[str, ...] = ()
    blacklist: tuple[str, ...] = ()


class Allocated(Struct, frozen=True):
    attempt: int
    node: str


class Unregister(Struct, frozen=True):
    attempt: int


class Unregistered(Struct, frozen=True):
    attempt: int
    done: bool
    known: bool = True


class Exited(Struct, frozen=True):
    """To the RM: the container of the AM is done."""

    attempt: int


class Start(Struct, frozen=True):
    """AM to NM: run a task."""

    attempt: int


class Ended(Struct, frozen=True):
    """NM to AM and RM: its container has ended."""

    attempt: int
    well: bool


class Poll(Struct, frozen=True):
    """Client to AM: how is the job?"""


class Report(Struct, frozen=True):
    succeeded: bool
