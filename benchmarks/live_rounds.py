"""What prediction does by itself, by the time that it has: the check is off, filters alone act."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from live_claims import TITLES, Data, column

DEADLINES = (0.03, 0.3, 1.0)  # seconds of a prediction
STATES = ("preventable", "unpreventable")
COUNTED = (
    "predicted",
    "installed",
    "filtered",
    "handed_over",
    "unhelpful",
    "ahead_unpreventable",
)


def kept(run: Any) -> Any:
    """What the table has of a run."""
    counts = {name: run["counts"].get(name, 0) for name in COUNTED}
    return {"preventable": run["preventable"], "unpreventable": run["unpreventable"]} | counts


def rounds(data: Data) -> Iterator[str]:
    """The section of the page."""
    how = data["how"]["rounds"]
    yield "## Prediction alone, and the time it has"
    yield ""
    yield f"RandTree with {TITLES['five']}, on a virtual clock, {how['round_seeds']} seeds of"
    yield f"{how['seconds']:g} s, a round every {how['every']:g} s, mode *steer*. Deadlines are of"
    yield "real time, on a busy machine."
    yield ""
    names = ("preventable", "others", "paths", "filters", "refused", "handed over", "unhelpful")
    yield f"| deadline, s | {' | '.join(names)} | unpreventable |"
    yield "|---|---|---|---|---|---|---|---|---|"
    bare = " | ".join(f"{sum(column(data['rounds']['none'], name)):.0f}" for name in STATES)
    yield f"| none | {bare} | | | | | | |"
    for deadline in map(str, DEADLINES):
        runs = data["rounds"][deadline]
        cells = " | ".join(f"{sum(column(runs, name)):.0f}" for name in (*STATES, *COUNTED))
        yield f"| {deadline} | {cells} |"
    yield ""
    yield from LIMIT.splitlines()
    yield ""


LIMIT = """\
*Refused*: steps that a filter refused. More time finds more paths and puts more filters in force,
but these meet few events: three seeds do not tell a gain from chance. Rounds every 5 s with 0.1 s
each left as many states as no steering at all. So neither depth nor pace seems to be the limit. The
bugs need a crash, which may come at any of 25 nodes, and the violation follows within a second, a
few messages later; a filter is against one path of many. The immediate check judges the very step
that breaks something: this is why *both* is the default.
"""
