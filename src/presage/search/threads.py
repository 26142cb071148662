"""How many threads search, and why what they find is the same every time.

Threads that share a level race for its states, so which of several shortest traces is met first is
chance. Where more than one thread took part and something broke, one thread alone looks again: each
step has been run, so that is look-ups only, and what it finds is what is told.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from presage._core import cores
from presage._results import Finding, Outcome
from presage.limits import Limits

if TYPE_CHECKING:
    from presage.search.alike.skipped import Skipped
    from presage.search.delay.cycles import Cycled
    from presage.search.delay.run import Delayed

AUTO = "auto"
THREADS_MAX = 256
ALONE_UNTIL = 20_000  # states; fewer are done before a second thread would pay
BY_CHANCE = (
    "several threads found it and there was no time to look again with one: another run may tell"
    " of another trace; `--threads 1` always tells the same"
)


def with_defaults(threads: int | str, search: str, *, ordered: bool) -> tuple[int, int]:
    """The number of threads, and the states from which on there is more than one.

    `ordered`: what is covered depends on the order of the search, so `auto` is one thread.
    """
    if threads == AUTO:
        several = search == "bfs" and not ordered
        count = min(cores(), THREADS_MAX) if several else 1
        return count, ALONE_UNTIL if several else 0
    return int(threads), 0


class Searched(Struct, frozen=True):
    """What is told of a search: what one thread finds, if several found something."""

    counts: Outcome
    found: Sequence[Finding]
    seconds: float
    notes: Sequence[str]
    checkpoints: int
    delayed: Delayed | None = None  # by a search by delays
    cycled: Cycled | None = None  # by a search for cycles
    skipped: Skipped | None = None  # where faults were left out as like others


def as_found(outcome: Outcome, *notes: str, seconds: float = 0.0) -> Searched:
    """A search as it is, told with more notes, after so many more seconds."""
    every, spent = [*outcome.notes, *notes], outcome.seconds + seconds
    return Searched(outcome, outcome.found, spent, every, outcome.checkpoints)


def settle(
    outcome: Outcome, limits: Limits, reached: Container[int], run: Callable[[Limits], Outcome]
) -> Searched:
    """What is told of a search.

    `reached` are the properties that no finding breaks; `run` makes a search within limits.
    """

    def broken(one: Outcome) -> list[Finding]:
        return [finding for finding in one.found if finding.at not in reached]

    found = broken(outcome)
    raced = limits.threads > 1 and outcome.unique >= limits.alone_until
    if not found or not raced or outcome.resumed_from is not None:
        return as_found(outcome)
    alone = replace(limits, threads=1, alone_until=0)
    if limits.keep_going:
        deepest = max(len(finding.events) for finding in found) + 1
        alone = replace(alone, depth=min(deepest, limits.depth or deepest))
    again = run(alone)
    if {one.at for one in broken(again)} < {one.at for one in found} or not broken(again):
        return as_found(outcome, BY_CHANCE, seconds=again.seconds)
    seconds = outcome.seconds + again.seconds
    told = {one.at for one in again.found}
    deeper = [one for one in outcome.found if one.at not in told]  # what was reached
    counts, more = (outcome, deeper) if limits.keep_going else (again, [])
    return Searched(counts, [*again.found, *more], seconds, outcome.notes, outcome.checkpoints)
