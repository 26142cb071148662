"""Which parts a search has.

Walks and hunts are divided by the numbers of their executions. How many there are in a part is
given by the search, so that the parts, and what is found in them, are the same on any number of
workers. Only a search that time alone ends has one part for each worker: it cannot be repeated
anyway.
"""

from __future__ import annotations

from collections.abc import Iterator

from presage.errors import BadSystem
from presage.search.part import Part
from presage.search.settings import Settings

WALKS_IN_PART = 250  # at least
PARTS_MAX = 1_024
APART = 2**40  # between the first numbers of parts that only time ends
DIVISIBLE = (
    "walk",
    "hunt",
)  # `bfs` is shared by states, `tree` by executions: see `levels`, `subtree`


def refuse(settings: Settings) -> None:
    """Refuse what cannot be divided."""
    search = settings.search or "bfs"
    if search == "delay":
        raise BadSystem(
            "`cluster` is given for the search `delay`",
            "which order a state keeps depends on who met it first, so one such search is one task",
            "have each worker do one, of another scheduler:"
            ' `--portfolio "delay, delay --scheduler rr"`; or use `--threads`',
        )
    if search not in DIVISIBLE:
        raise BadSystem(
            f"`cluster` is given for the search `{search}`",
            "it shares what it has met between its threads, not between machines",
            "leave out `--cluster`, or use `bfs`, `tree`, `walk` or `hunt`",
        )
    for name in ("known", "causes", "coverage", "spill"):
        if getattr(settings, name) not in (None, 1):
            raise BadSystem(
                f"`{name}` is given together with `cluster`",
                "it needs one process that has seen everything",
                f"leave out either `--{name}` or `--cluster`",
            )


def parts(walks: int | None, workers: int) -> Iterator[Part]:
    """The parts of so many executions, or of as many as time allows; the first one first."""
    if walks is None:
        for at in range(workers):
            yield Part(at * APART, None, at, workers)
        return
    size = max(WALKS_IN_PART, -(-walks // PARTS_MAX))
    count = -(-walks // size)
    for at in range(count):
        first = at * size
        yield Part(first, min(size, walks - first), at, count)
