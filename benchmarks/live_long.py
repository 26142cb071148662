"""RandTree at the paper's pace: 1.4 hours with one leave and join a minute, on a virtual clock.

Predictions are bounded by states, not by time, and one thread makes them. So a run is what it is on
any machine, however busy, and takes no longer than its work.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

import live_randtree
from live_claims import SHARE_MAX, TITLES, Condition, Data, column
from live_modes import Pace, spread

BUGS = "five"
SECONDS, CHURN = 5000.0, 60.0
PACE = Pace(every=10.0, deadline=60.0, states=1000)
MODES = ("none", "check", "both")
COUNTED = ("steps", "preventable", "unpreventable")
DID = ("rounds", "predicted", "installed", "handed_over", "filtered", "refused")


def run(mode: str, seed: int) -> Any:
    """One run; what came of it."""
    return live_randtree.run(BUGS, mode, seed, SECONDS, CHURN, PACE)


def runs(seeds: int) -> Iterator[tuple[str, int]]:
    """The modes and seeds; all modes of a seed, so that a run that is cut compares."""
    for seed in range(seeds):
        for mode in MODES:
            yield mode, seed


def has_all(data: Data) -> bool:
    """Whether each mode was run, with one seed at least: less is no table yet."""
    return all(mode in data for mode in MODES)


def of_long(data: Data) -> list[Condition]:
    """What the long runs must show."""
    title = f"RandTree with {TITLES[BUGS]}, at the paper's pace"
    left = {mode: sum(column(data[mode], "preventable")) for mode in MODES}
    share = max(share for mode in MODES[1:] for share in column(data[mode], "share"))
    joins = {mode: column(data[mode], "p50") for mode in MODES}
    return [
        Condition(
            f"{title}: something breaks without",
            f"{left['none']} states, runs: {len(data['none'])}",
            left["none"] > 0,
        ),
        Condition(
            f"{title}: no preventable state is entered with the check, or with both",
            ", ".join(f"{mode}: {left[mode]}, runs: {len(data[mode])}" for mode in MODES[1:]),
            not any(left[mode] for mode in MODES[1:]),
        ),
        Condition(
            f"{title}: less than 1 % of actions are changed, in each run",
            f"{100 * share:.2f} % at most",
            share < SHARE_MAX,
        ),
        Condition(
            f"{title}: the median join time with both is at most the largest without",
            f"{spread(joins['both'])} s, and {spread(joins['none'])} s",
            median(joins["both"]) <= max(joins["none"]),
        ),
    ]


def long(data: Data) -> Iterator[str]:
    """The section of the page."""
    yield "## RandTree at the paper's pace"
    yield ""
    yield f"25 nodes, {SECONDS:,.0f} s of virtual time, one kill or loss of power a minute. Each"
    yield f"node looks ahead every {PACE.every:g} s, at most {PACE.states:,} states in each lane,"
    yield "whatever time that takes: these figures do not depend on the machine."
    yield ""
    yield f"With {TITLES[BUGS]}:"
    yield ""
    yield "| mode | runs | steps | preventable | others | changed | join p50, s | join p95, s |"
    yield "|---|---|---|---|---|---|---|---|"
    for mode in MODES:
        own = data[mode]
        counts = " | ".join(f"{sum(column(own, name)):,.0f}" for name in COUNTED)
        share = spread([100 * each for each in column(own, "share")])
        times = " | ".join(spread(column(own, name)) for name in ("p50", "p95"))
        yield f"| {mode} | {len(own)} | {counts} | {share} % | {times} |"
    yield "| paper, without | 1 | | 121 | | | 0.8–0.9, mean | |"
    yield "| paper, with both | 1 | | 0 | | 2.77 % | 0.8–0.9, mean | |"
    yield ""
    found = {name: sum(one["counts"].get(name, 0) for one in data["both"].values()) for name in DID}
    did = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in found.items())
    yield f"In mode both: {did}."
    yield ""
