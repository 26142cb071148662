"""How many threads search, and why what they find is the same every time.

Threads that share a level race for its states, so which of several shortest traces is met first is
chance. Where more than one thread took part and something broke, one thread alone looks again: each
step has been run, so that is look-ups only, and what it finds is what is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from presage._core import cores
from presage.errors import BadSystem

AUTO = "auto"
THREADS_MAX = 256
ALONE_UNTIL = 20_000  # states; fewer are done before a second thread would pay
BY_CHANCE = (
    "several threads found it and there was no time to look again with one: another run may tell"
    " of another trace; `--threads 1` always tells the same"
)


def with_defaults(threads: int | str, search: str, *, ordered: bool) -> dict[str, int]:
    """The number of threads and, in `bfs`, the states from which on there is more than one.

    `ordered`: what is covered depends on the order of the search, so `auto` is one thread.
    """
    if threads == AUTO:
        several = search == "bfs" and not ordered
        count = min(cores(), THREADS_MAX) if several else 1
        return {"threads": count} | ({"alone_until": ALONE_UNTIL} if several else {})
    if not isinstance(threads, int) or not 1 <= threads <= THREADS_MAX:
        raise BadSystem(
            f"`threads` is {threads!r}",
            "a number that leaves nobody to search, or more threads than any machine has cores",
            f'give from 1 to {THREADS_MAX}, or "{AUTO}" for as many as there are cores',
        )
    return {"threads": threads}


def settle(
    raw: dict[str, Any],
    limits: Mapping[str, Any],
    broken: Callable[[dict[str, Any]], list[Any]],
    run: Callable[[dict[str, Any]], dict[str, Any]],
) -> dict[str, Any]:
    """What is told of a search: what one thread finds, if several found something.

    `broken` gives the violations of a search, `run` makes one within limits.
    """
    found = broken(raw)
    raced = limits["threads"] > 1 and raw["unique"] >= limits.get("alone_until", 0)
    if not found or not raced or raw["resumed_from"] is not None:
        return raw
    alone: dict[str, Any] = {"threads": 1, "alone_until": 0}
    if limits["keep_going"]:
        deepest = max(len(events) for _, _, events in found) + 1
        alone["depth"] = min(deepest, limits["depth"] or deepest)
    again = run(alone)
    seconds = raw["seconds"] + again["seconds"]
    if {at for at, _, _ in broken(again)} < {at for at, _, _ in found} or not broken(again):
        return raw | {"notes": [*raw["notes"], BY_CHANCE], "seconds": seconds}
    if limits["keep_going"]:
        told = {at for at, *_ in again["found"]}
        deeper = [each for each in raw["found"] if each[0] not in told]  # what was reached
        return raw | {"found": [*again["found"], *deeper], "seconds": seconds}
    kept = {name: raw[name] for name in ("notes", "checkpoints", "resumed_from")}
    return again | kept | {"seconds": seconds}
