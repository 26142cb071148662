"""What a search and its second process tell each other; all of it plain data."""

from __future__ import annotations

import msgspec

from presage.search.kernel.difference import Did

# Kind, node (or slot of an observer), encoded values, encoded cause, digest of what was done.
Step = tuple[int, int, list[bytes], bytes, int]
# What a predicate read: how it was asked for, and the encoded answer.
Read = tuple[str, list[int | str | None], bytes]

DELIVERY, OWN, LISTING, OBSERVING = range(4)  # kinds of steps, as `services/steps.rs` has them


class Judged(msgspec.Struct, frozen=True):
    """A world, as far as a predicate read it, and the verdict."""

    prop: int  # from 0
    reads: list[Read]
    verdict: str


class Request(msgspec.Struct, frozen=True):
    """What the second process is to run, and for how long."""

    seconds: float  # of processor time for steps, once more for verdicts
    handler_seconds: float
    classes: list[str]  # that encoded values name
    references: list[str]
    first: list[list[bytes]]  # the values that each node begins with
    steps: list[Step]
    verdicts: list[Judged]
    known: dict[str, list[str]] = {}  # causes that properties forgive
    histories: bytes = b""  # that values name, see `System.saved_histories`


class Apart(msgspec.Struct, frozen=True):
    """Something that came out differently in the second process."""

    at: int  # index in the request
    stable: bool  # it came out the same when it was run once more
    branches: list[Did] = []


class Answer(msgspec.Struct, frozen=True):
    """What the second process ran, and what was different."""

    steps: int  # run, from the first on
    verdicts: int
    skipped: tuple[int, int] = (0, 0)  # of both: what it could not read
    first: list[Apart] = []  # by node
    apart: list[Apart] = []
    judged: list[Apart] = []
