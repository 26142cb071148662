"""The part of the page about runs of real processes, and what they must show."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from live_claims import SHARE_MAX, TITLES, Condition, Data, column
from live_modes import spread

MODES = ("none", "check", "both")
LATE_MAX = 0.01  # share of timers that may be 0.1 s late: else the machine did not keep up


def of_real(data: Data) -> list[Condition]:
    """What 25 processes must show."""
    title = f"25 processes, RandTree with {TITLES['five']}"
    own = {mode: data[mode] for mode in MODES}
    entered = sum(column(own["none"], "preventable"))
    left = {mode: sum(column(own[mode], "preventable")) for mode in MODES[1:]}
    shares = [share for mode in MODES[1:] for share in column(own[mode], "share")]
    joins = {mode: column(own[mode], "p50") for mode in MODES}
    low, high = min(joins["none"]), max(joins["none"])
    mid = median(joins["both"])
    fewest = min(len(each) for each in own.values())
    return [
        Condition(
            f"{title}: at least three runs of each mode",
            f"{fewest}",
            fewest >= 3,
        ),
        Condition(f"{title}: something breaks without", f"{entered:.0f} states", entered > 0),
        Condition(
            f"{title}: no preventable state is entered with the check, or with both",
            ", ".join(f"{mode}: {count:.0f}" for mode, count in left.items()),
            not any(left.values()),
        ),
        Condition(
            f"{title}: less than 1 % of actions are changed, in each run",
            f"{100 * max(shares):.2f} % at most",
            max(shares) < SHARE_MAX,
        ),
        Condition(
            f"{title}: the median join time with both is at most the largest without",
            f"{mid:.2f} s, and {low:.2f}–{high:.2f} s",
            mid <= high,
        ),
    ]


def real(data: Data) -> Iterator[str]:
    """The section of the page."""
    how = data["how"]["real"]
    yield "## RandTree, as 25 processes"
    yield ""
    yield "The nodes of `presage up`: real sockets and real time, with the round trip of 130 ms"
    yield f"emulated in each process. {how['real_runs']} runs of {how['real_seconds']:g} s for each"
    yield f"mode. From 15 s on a node gets SIGKILL every {how['real_churn']:g} s, and starts again"
    yield "after 0, 0.05, 0.3 or 2 s. Each node looks ahead every"
    yield f"{how['real_every']:g} s, for {how['real_deadline']:g} s, on two cores for all of them."
    yield "States are counted from the logs, taken again step by step after the run. What a killed"
    yield "process refused in its last half second is not counted as changed."
    yield ""
    yield f"With {TITLES['five']}:"
    yield ""
    yield "| mode | runs | kills | preventable | others | changed | join p50, s | p95, s | late |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for mode in MODES:
        runs = data["real"][mode]
        sums = {name: sum(column(runs, name)) for name in ("kills", "preventable", "unpreventable")}
        share = spread([100 * each for each in column(runs, "share")])
        times = " | ".join(spread(column(runs, name)) for name in ("p50", "p95"))
        late = spread([100 * each for each in column(runs, "late")], 1)
        counts = " | ".join(f"{count:.0f}" for count in sums.values())
        yield f"| {mode} | {len(runs)} | {counts} | {share} % | {times} | {late} % |"
    yield ""
    yield from did(data["real"]["both"])
    every = [run["late"] for mode in MODES for run in data["real"][mode].values()]
    slow = sum(late > LATE_MAX for late in every)
    yield "*Late*: timers that fired more than 0.1 s late, as the machine did other work. In"
    yield f"{slow} of {len(every)} runs that was more than 1 %: their join times say little."
    yield 'The long form is `make live LIVE="--only real --real-seconds 5000 --real-churn 60'
    yield '--real-every 10 --real-deadline 1"`.'
    yield ""


def did(runs: Data) -> Iterator[str]:
    names = ("rounds", "predicted", "installed", "handed_over", "filtered", "refused", "checked")
    found = {name: sum(run["counts"].get(name, 0) for run in runs.values()) for name in names}
    counts = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in found.items())
    yield f"In mode both, of all runs: {counts}."
