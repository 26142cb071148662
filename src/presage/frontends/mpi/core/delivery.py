"""How messages travel: what MPI leaves open, and what of it a program is run with.

It is also said here how often a thread of a rank may be stopped where it need not wait.

MPI promises that messages of one rank to another keep their order, and nothing about messages of
different ranks. It leaves open whether a standard send waits for its receive. A `Delivery` says
which of that is to be explored; it is written as one word, such as `any:1024`, so that traces can
name it.
"""

from __future__ import annotations

import re

from presage.errors import BadTarget
from presage.records import NamedTuple

ZERO, EAGER, ANY = "zero", "eager", "any"
BUFFERINGS = (ZERO, EAGER, ANY)
ORDERED = "ordered"
PREEMPTIONS_DEFAULT = 1
WORD = re.compile(r"(\w+?)(?::(\d+))?(?::p(\d+))?(:ordered)?")


class Delivery(NamedTuple):
    """What a program is run with."""

    buffering: str = ZERO  # whether standard sends wait: all do, none does, each as it happens
    limit: int | None = None  # bytes; a standard send of more always waits
    ordered: bool = False  # who sends first is received first, from all ranks alike
    preemptions: int = PREEMPTIONS_DEFAULT  # of threads, in each rank

    @property
    def is_eager(self) -> bool:
        """Whether a rank goes on where it may."""
        return self.buffering != ZERO

    def __str__(self) -> str:
        words = [self.buffering]
        words += [] if self.limit is None else [str(self.limit)]
        words += [] if self.preemptions == PREEMPTIONS_DEFAULT else [f"p{self.preemptions}"]
        return ":".join([*words, *([ORDERED] if self.ordered else [])])

    @classmethod
    def of(cls, word: str) -> Delivery:
        """From a word; the reverse of `str`."""
        found = WORD.fullmatch(word)
        if found is None or found[1] not in BUFFERINGS:
            raise BadTarget(
                f"`{word}` is no buffering",
                "a misspelt word",
                f"one of `{'`, `'.join(BUFFERINGS)}`; `both` are two programs",
            )
        buffering, limit, preemptions, ordered = found.groups()
        stops = PREEMPTIONS_DEFAULT if preemptions is None else int(preemptions)
        return cls(buffering, None if limit is None else int(limit), bool(ordered), stops)
