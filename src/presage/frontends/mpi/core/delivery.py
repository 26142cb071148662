"""How messages travel: what MPI leaves open, and what of it a program is run with.

MPI promises that messages of one rank to another keep their order, and nothing about messages of
different ranks. It leaves open whether a standard send waits for its receive. A `Delivery` says
which of that is to be explored; it is written as one word, such as `any:1024`, so that traces can
name it.
"""

from __future__ import annotations

from presage.errors import BadTarget
from presage.records import NamedTuple

ZERO, EAGER, ANY = "zero", "eager", "any"
BUFFERINGS = (ZERO, EAGER, ANY)
ORDERED = "ordered"


class Delivery(NamedTuple):
    """What a program is run with."""

    buffering: str = ZERO  # whether standard sends wait: all do, none does, each as it happens
    limit: int | None = None  # bytes; a standard send of more always waits
    ordered: bool = False  # who sends first is received first, from all ranks alike

    @property
    def is_eager(self) -> bool:
        """Whether a rank goes on where it may."""
        return self.buffering != ZERO

    def __str__(self) -> str:
        limit = [] if self.limit is None else [str(self.limit)]
        return ":".join([self.buffering, *limit, *([ORDERED] if self.ordered else [])])

    @classmethod
    def of(cls, word: str) -> Delivery:
        """From a word; the reverse of `str`."""
        buffering, *rest = word.split(":")
        ordered = rest[-1:] == [ORDERED]
        limits = rest[:-1] if ordered else rest
        good = buffering in BUFFERINGS and (not limits or [limits[0].isdecimal()] == [True])
        if not good or len(limits) > 1:
            raise BadTarget(
                f"`{word}` is no buffering",
                "a misspelt word",
                f"one of `{'`, `'.join(BUFFERINGS)}`; `both` are two programs",
            )
        return cls(buffering, int(limits[0]) if limits else None, ordered)
