"""The page about the live experiments: tables with the paper's numbers, and what they must show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from live_claims import SHARE_MAX, TITLES, Condition, Data, column
from live_long import has_all, long, of_long
from live_modes import MODES, spread
from live_real_page import of_real, real
from live_rounds import rounds

SLOWER_MAX = 0.05  # of a download
DEPTH_MIN, SECONDS_MAX, BYTES_MAX = 9, 0.5, 1_000_000  # of a prediction with k = 1
CHECKPOINT_MAX = {"randtree": 176, "bullet": 3_000}  # bytes: the paper's
PAPER_PAXOS = {"PX-bug1": (74, 25, 1), "PX-bug2": (89, 7, 4)}


def conditions(data: Data) -> list[Condition]:
    """All of them, as far as their experiments were run."""
    found: list[Condition] = []
    for bugs, own in data.get("randtree", {}).items():
        found += of_randtree(bugs, own)
    if "real" in data:
        found += of_real(data["real"])
    if has_all(data.get("long", {})):
        found += of_long(data["long"])
    for bug, own in data.get("paxos", {}).items():
        missed, without = own["both"]["missed"], own["none"]["missed"]
        runs = sum(own["both"].values())
        found.append(Condition(f"{bug}: none is missed", f"{missed} of {runs}", missed == 0))
        found.append(
            Condition(f"{bug}: every run breaks without", f"{without} of {runs}", without == runs)
        )
    if "bullet" in data:
        found += of_bullet(data["bullet"])
    if "depth" in data:
        found += of_depth(data["depth"])
    return found


def of_randtree(bugs: str, own: Data) -> list[Condition]:
    title = f"RandTree with {TITLES[bugs]}"
    entered = sum(column(own["none"], "preventable"))
    left = {mode: sum(column(own[mode], "preventable")) for mode in MODES[1:]}
    shares = [share for mode in MODES[1:] for share in column(own[mode], "share")]
    low, high = (pick(column(own["none"], "p50")) for pick in (min, max))
    mid = median(column(own["both"], "p50"))
    size = median(column(own["both"], "checkpoint"))
    return [
        Condition(f"{title}: something breaks without", f"{entered:.0f} states", entered > 0),
        Condition(
            f"{title}: no preventable state is entered with the check, or with both",
            ", ".join(f"{mode}: {count:.0f}" for mode, count in left.items()),
            left["check"] == left["both"] == 0,
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
        Condition(
            f"{title}: a checkpoint on the wire is at most the paper's 176 B",
            f"{size:.0f} B",
            size <= CHECKPOINT_MAX["randtree"],
        ),
    ]


def slowdowns(data: Data, mode: str) -> list[float]:
    """Of each seed, beside the run without steering."""
    return [data[mode][seed]["all"] / data["none"][seed]["all"] - 1 for seed in data[mode]]


def of_bullet(data: Data) -> list[Condition]:
    slower = median(slowdowns(data, "both"))
    size = median(column(data["both"], "checkpoint"))
    return [
        Condition(
            "Bullet': the file takes less than 5 % longer with steering, in the median",
            f"{100 * slower:+.1f} %",
            slower < SLOWER_MAX,
        ),
        Condition(
            "Bullet': a checkpoint on the wire is at most the paper's 3 kB",
            f"{size:.0f} B",
            size <= CHECKPOINT_MAX["bullet"],
        ),
    ]


def of_depth(rows: Sequence[Data]) -> list[Condition]:
    depth, seconds = (median(row[name] for row in rows) for name in ("depth", "seconds"))
    size = median(row["bytes"] for row in rows)
    return [
        Condition("prediction: at least 9 steps deep", f"{depth:.0f}", depth >= DEPTH_MIN),
        Condition(
            "prediction: in less than half a second", f"{seconds:.2f} s", seconds < SECONDS_MAX
        ),
        Condition("prediction: in less than 1 MB", f"{size / 1000:.0f} kB", size < BYTES_MAX),
    ]


def page(data: Data, held: Sequence[Condition]) -> Iterator[str]:
    """The lines of the page."""
    yield "# Live experiments, measured"
    yield ""
    yield from INTRODUCTION.splitlines()
    yield ""
    yield "| | what was to be shown | measured |"
    yield "|---|---|---|"
    for each in held:
        yield f"| {each.verdict} | {each.claim} | {each.measured} |"
    yield ""
    if "randtree" in data:
        yield from randtree(data)
    if "rounds" in data:
        yield from rounds(data)
    if has_all(data.get("long", {})):
        yield from long(data["long"])
    if "real" in data:
        yield from real(data)
    if "paxos" in data:
        yield from paxos(data)
    if "bullet" in data:
        yield from bullet(data)
    if "depth" in data:
        yield from depth(data)
    yield from DIFFERENCES.splitlines()


def randtree(data: Data) -> Iterator[str]:
    how = data["how"]["randtree"]
    yield "## RandTree under churn"
    yield ""
    yield f"25 nodes, degree 2, {how['seeds']} seeds of {how['seconds']:,.0f} s. Every"
    yield f"{how['churn']:g} s a node is killed, or vanishes as by a loss of power, and starts"
    yield "again after 0, 0.05, 0.3 or 2 s. Each node looks ahead every"
    yield f"{how['every']:g} s, for {how['deadline']:g} s. Medians, and ranges in brackets."
    yield ""
    yield "*Preventable*: states entered by a message, a timer, an action or a call. The others"
    yield "begin with the news of a broken connection or with a start, which nobody can refuse."
    yield "*Changed*: actions that a filter or the check refused, of all. The properties are of one"
    yield "node each, so the check keeps them as far as events can be refused; what prediction does"
    yield "by itself is in the rows *steer*."
    yield ""
    for bugs, own in sorted(data["randtree"].items(), reverse=True):
        yield f"With {TITLES[bugs]}:"
        yield ""
        yield "| mode | preventable, all seeds | others | changed | join p50, s | join p95, s |"
        yield "|---|---|---|---|---|---|"
        for mode in MODES:
            runs = own[mode]
            sums = [sum(column(runs, name)) for name in ("preventable", "unpreventable")]
            share = [100 * each for each in column(runs, "share")]
            times = " | ".join(spread(column(runs, name)) for name in ("p50", "p95"))
            yield f"| {mode} | {sums[0]:.0f} | {sums[1]:.0f} | {spread(share)} % | {times} |"
        yield "| paper, without | 121 | | | 0.8–0.9, mean | |"
        yield "| paper, with both | 0 | | 2.77 % | 0.8–0.9, mean | |"
        yield ""
    yield from did(data["randtree"]["three"]["both"])


def did(runs: Data) -> Iterator[str]:
    names = ("rounds", "predicted", "installed", "handed_over", "unhelpful", "kills_progress")
    found = {name: sum(run["counts"].get(name, 0) for run in runs.values()) for name in names}
    told = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in found.items())
    size = median(column(runs, "checkpoint"))
    yield f"In mode both, with the three bugs, of all seeds: {told}."
    yield f"A checkpoint on the wire, with its header: {size:.0f} B in the mean of the median run"
    yield "(paper: 176 B)."
    yield ""


def paxos(data: Data) -> Iterator[str]:
    runs = data["how"]["paxos"]["runs"]
    yield "## Paxos"
    yield ""
    yield f"The scenario of the paper's Figure 8, {runs} runs for each bug and mode; the gap"
    yield "between the two rounds is drawn from 0 to 20 s. *Check*: the immediate check refused a"
    yield "step, whether or not a filter had helped. *Harmless*: nothing was needed. Predictions"
    yield "expect no crash: if another one may come, no filter helps a node without a disk. This"
    yield "was chosen after it was seen: with one crash expected, prediction alone missed PX-bug2"
    yield "in all 100 runs, and the check alone in none."
    yield ""
    yield "| bug | mode | avoided by a filter | by the check | missed | harmless |"
    yield "|---|---|---|---|---|---|"
    for bug, own in data["paxos"].items():
        for mode in MODES:
            cells = " | ".join(
                str(own[mode][kind]) for kind in ("filter", "check", "missed", "harmless")
            )
            yield f"| {bug} | {mode} | {cells} |"
        cells = " | ".join(f"{share} %" for share in PAPER_PAXOS[bug])
        yield f"| | paper | {cells} | |"
    yield ""


def bullet(data: Data) -> Iterator[str]:
    how = data["how"]["bullet"]
    size = how["blocks"] * how["size"] / 1e6
    yield "## Bullet'"
    yield ""
    yield f"{how['nodes']} nodes get a file of {size:.1f} MB in blocks of {how['size']:,} bytes,"
    yield f"1 Mbit/s from any node to any other; {how['downloads']} seeds. *Slower*: the last node"
    yield "has all of it, beside the same seed without steering. *Added*: bytes of checkpoints, of"
    yield "all bytes."
    yield ""
    yield "| mode | seconds until all have it | slower | checkpoint, B | added | B/s a node |"
    yield "|---|---|---|---|---|---|"
    for mode in MODES:
        own = data["bullet"][mode]
        slower = spread([100 * each for each in slowdowns(data["bullet"], mode)], 1)
        added = spread([100 * each for each in column(own, "added")])
        rest = (
            f"{spread(column(own, 'checkpoint'), 0)} | {added} % | {spread(column(own, 'rate'), 0)}"
        )
        yield f"| {mode} | {spread(column(own, 'all'), 1)} | {slower} % | {rest} |"
    yield "| paper, 49 nodes, 20 MB | | < 5 % (caption: < 10 %) | 3,000 | | |"
    yield ""


def depth(data: Data) -> Iterator[str]:
    rows = data["depth"]
    named = {name: [row[name] for row in rows] for name in rows[0]}
    yield "## How far a prediction sees"
    yield ""
    yield f"From {len(rows)} states of a running tree of 25 nodes without bugs, under churn, as the"
    yield "nodes gathered them; each from a cold start, with a second of time. The lane k = 1 is"
    yield "the paper's algorithm; the lane without bound runs beside it."
    yield ""
    yield "| | here | paper |"
    yield "|---|---|---|"
    yield f"| nodes in a snapshot | {spread(named['members'], 0)} | |"
    yield f"| steps, k = 1 | {spread(named['depth'], 0)} | 7–8 |"
    yield f"| seconds, k = 1 | {spread(named['seconds'])} | 3.3 (Paxos) |"
    yield f"| states, k = 1 | {spread(named['states'], 0)} | |"
    sizes = [size / 1000 for size in named["bytes"]]
    yield f"| kB of states, k = 1 | {spread(sizes, 0)} | < 1,000 |"
    yield f"| looked at all, k = 1 | {sum(named['whole'])} of {len(rows)} | |"
    yield f"| steps, no bound | {spread(named['unbounded'], 0)} | |"
    yield ""


INTRODUCTION = """\
Made by `make live`: do not edit. The experiments of CrystalBall (Yabandeh et al., NSDI 2009), on
[our versions of its systems](systems.md), on an emulated network with a round trip of 130 ms. Where
nothing else is said, all nodes are in one process on a virtual clock. Modes: *none*; *check*, steps
are judged before they are committed; *steer*, violations are predicted and filters put in force;
*both*. The seed, and the schedule of all that befalls the nodes, are the same in every mode.
"""

DIFFERENCES = """\
## Where this differs from the paper

- The paper ran 25 processes for 1.4 hours with one leave and join a minute. Here most runs are
  shorter and nodes end far more often, so the numbers of states cannot be compared, but their zeros
  can. `make live LIVE="--only long"` is the paper's pace.
- A prediction takes 0.2 s of virtual time, whatever it takes of real time; its deadline is of real
  time. A busy machine sees less far in the same time, and so has more for the check to do.
- The paper starts predictions with an empty network; here they have the messages under way.
"""
