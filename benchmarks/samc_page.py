"""The page that `samc` writes: two tables beside the paper's, and what they were to show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from samc_condition import Condition
from samc_ratios_page import conditions_3, lines_3

from presage.systems.samc.bugs import CUT, DeepBug

Cell = dict[str, Any]
Data = dict[str, Any]
TWELVE = 12  # bugs in the paper's Table 2
SHARE = 10  # of twelve; as large a part of fewer
SECONDS = 60
SILENT_TIMES = 10
CUTS = (CUT, 50_000)
COLUMNS = ("bDP", "RND", "rDP", "exact", "heuristic")


def conditions(data: Data, bugs: Sequence[DeepBug]) -> list[Condition]:
    rows = data["2"]
    return [
        found_in_time(rows, bugs),
        as_few_as_samc(rows, bugs),
        as_few_as_dpor(rows, bugs),
        silent(rows, bugs),
        *conditions_3(data["3"]),
    ]


def found_in_time(rows: Data, bugs: Sequence[DeepBug]) -> Condition:
    late = [
        bug.id
        for bug in bugs
        if not any(
            cell.get("found") and cell["seconds"] <= SECONDS
            for cell in (rows[bug.id]["bfs"], rows[bug.id]["delay"])
        )
    ]
    measured = f"not {', '.join(late)}" if late else "all are"
    return Condition(
        f"Table 2: every bug is found by `bfs` or `delay` within {SECONDS} s",
        f"{measured}; {len(bugs)} of the paper's {TWELVE} have a model",
        not late,
    )


def missing(rows: Data, column: str) -> str:
    """Why a column is empty; "" if it is not."""
    reasons = {row[column].get("missing", "") for row in rows.values()}
    return sorted(reasons)[0] if "" not in reasons and reasons else ""


def as_few_as_samc(rows: Data, bugs: Sequence[DeepBug]) -> Condition:
    claim = (
        f"Table 2: the heuristic needs at most the executions of the paper's SAMC for {SHARE} of"
        f" {TWELVE} bugs, or as large a part of those that have a model"
    )
    if reason := missing(rows, "heuristic"):
        return Condition(claim, reason, None)
    few = [bug.id for bug in bugs if executions(rows[bug.id]["heuristic"]) <= bug.paper.samc]
    measured = f"for {len(few)} of {len(bugs)}: {', '.join(few) or 'none'}"
    return Condition(claim, measured, TWELVE * len(few) >= SHARE * len(bugs))


def as_few_as_dpor(rows: Data, bugs: Sequence[DeepBug]) -> Condition:
    claim = "Table 2: the heuristic never needs more executions than bDP does here"
    if reason := missing(rows, "heuristic"):
        return Condition(claim, reason, None)
    more = [
        bug.id
        for bug in bugs
        if executions(rows[bug.id]["heuristic"]) > executions(rows[bug.id]["bDP"])
    ]
    return Condition(claim, f"more for {', '.join(more)}" if more else "it never does", not more)


def silent(rows: Data, bugs: Sequence[DeepBug]) -> Condition:
    loud = []
    for bug in bugs:
        cell = rows[bug.id]["mended"]
        long_enough = cell.get("exhausted") or cell.get("times", 0) >= SILENT_TIMES
        if cell.get("found") or not long_enough:
            loud.append(bug.id)
    whole = [bug.id for bug in bugs if rows[bug.id]["mended"].get("exhausted")]
    return Condition(
        f"Table 2: without the bug nothing is found in {SILENT_TIMES} times the executions, or in"
        " all states",
        f"not so for {', '.join(loud)}" if loud else f"all states of {', '.join(whole) or 'none'}",
        not loud,
    )


def executions(cell: Cell) -> float:
    """How many until the bug; without end, if it was not found."""
    return float(cell["executions"]) if cell.get("found") else float("inf")


def ours(cell: Cell) -> str:
    """A cell of Table 2: executions until the bug, beside where it was cut."""
    if "missing" in cell:
        return "–"
    count = cell["executions"]
    if cell["found"]:
        order = f" ({cell['order']})" if "order" in cell else ""
        return f"{count:,}{order}" if count <= CUTS[0] else f"> {CUTS[0]:,}; {count:,}{order}"
    passed = [cut for cut in CUTS if count >= cut]
    return f"> {passed[-1]:,}" if passed else f"> {count:,} in {cell['seconds']:.0f} s"


def theirs(count: int | None) -> str:
    return f"> {CUT:,}" if count is None else f"{count:,}"


def timed(cell: Cell) -> str:
    """States and seconds, with a star if nothing was found."""
    return f"{'' if cell['found'] else '* '}{cell['states']:,} ({cell['seconds']:.2f})"


def page(data: Data, bugs: Sequence[DeepBug], held: Sequence[Condition]) -> Iterator[str]:
    """The lines of the page."""
    yield "# Deep bugs of SAMC, measured"
    yield ""
    yield from INTRODUCTION.splitlines()
    yield ""
    yield "| | what the tables were to show | measured |"
    yield "|---|---|---|"
    for each in held:
        yield f"| {each.verdict} | {each.claim} | {each.measured} |"
    yield ""
    yield from lines_2(data, bugs)
    yield from lines_3(data["3"])
    yield from DIFFERENCES.splitlines()


def lines_2(data: Data, bugs: Sequence[DeepBug]) -> Iterator[str]:
    rows = data["2"]
    yield "## Table 2: executions until the bug"
    yield ""
    yield from MEANING.splitlines()
    yield ""
    yield "| bug | | bDP | RND | rDP | SAMC, exact | SAMC, heuristic |"
    yield "|---|---|---|---|---|---|---|"
    for bug in bugs:
        cells = " | ".join(ours(rows[bug.id][column]) for column in COLUMNS)
        given = bug.paper
        paper = (given.dpor, given.random, given.random_dpor)
        yield f"| {bug.id} | here | {cells} |"
        yield f"| | paper | {' | '.join(map(theirs, paper))} | {given.samc} | {given.samc} |"
    yield ""
    for column in COLUMNS:
        if reason := missing(rows, column):
            yield f"Column {column} is empty: {reason}."
            yield ""
    refused = [bug.id for bug in bugs if rows[bug.id]["bDP"].get("missing")]
    if refused and not missing(rows, "bDP"):
        reason = rows[refused[0]]["bDP"]["missing"]
        yield f"bDP of {', '.join(refused)}: {reason}."
        yield ""
    yield "States until the bug, and seconds in brackets; E, C and R are the paper's events,"
    yield f"crashes and reboots. A star: not found in {data['seconds']:.0f} s. *Without the bug*:"
    yield "states of the mended version that `delay` searched, and how many times the executions."
    if "limits" in data:
        yield data["limits"]
    yield ""
    yield "| bug | system | E | C | R | `bfs` | `delay` | delays' executions | without the bug |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for bug in bugs:
        row = rows[bug.id]
        named = " ".join(f"{name}={value}" for name, value in bug.parameters.items())
        budget = f"{bug.budget.events} | {bug.budget.crashes} | {bug.budget.reboots}"
        yield (
            f"| {bug.id} | `samc.{bug.model} {named}` | {budget} | {timed(row['bfs'])}"
            f" | {timed(row['delay'])} | {row['delay']['executions']:,} | {kept(row['mended'])} |"
        )
    yield ""


def kept(cell: Cell) -> str:
    """How long the mended version was searched."""
    if "missing" in cell:
        return "–"
    if cell["found"]:
        return f"**found**, {cell['states']:,}"
    return f"{'all ' if cell['exhausted'] else ''}{cell['states']:,} ({cell['times']:.0f} times)"


INTRODUCTION = """\
Made by `make samc`: do not edit. Leesatapornwongsa et al. ("SAMC: Semantic-Aware Model Checking",
OSDI 2014) counted the executions that searches need for twelve bugs of ZooKeeper, Hadoop and
Cassandra. The same is measured here on [our versions of the protocols](systems.md#systems-of-samc),
on one thread. They are reconstructions, so only orders of magnitude can be compared.
"""

MEANING = """\
bDP: the paper's black-box DPOR in plain Python, that of Table 3 but for its order, in which faults
come last: so it finds bugs earlier. Events at one node depend on each other, faults on all.
(`--search tree --reduction dpor` is finer.) RND: `--search walk`, median of
nine seeds. rDP: `--search tree --reduction dpor --reversals random`. SAMC, exact: `--search delay`,
the best of nine orders and of `--reversals queue` (*queue*), by name; which is best is known only
afterwards. *Free faults*: `--fault-delays 0`. *Swaps wait*: `--commuting-delays 4`. SAMC,
heuristic: [`--search semantic`](semantic.md), as it is for every system. A search is cut at 5,000
executions, as in the paper; where the bug was found later, up to 50,000, that figure is second.
"""

DIFFERENCES = """\
## What differs, and why

- **Models.** A handler runs in one step, and what a real system does in the background is left
  out. So executions are shorter than the paper's and bugs lie nearer: random walks find most of
  them, where the paper's found few. Compare columns with each other first.
- **An execution** of `delay` is a resumption that meets a new state: the way there is not run
  again. States are remembered, which the paper's searches do not do. An execution of `semantic`
  runs from the start to its end, as in the paper.
- **Orders.** Which order of `delay` is best is known only afterwards. `free faults` lets crashes
  and restarts cost no delay: nearest to SAMC, whose queue takes executions that move a crash first.
  These orders, and those where swaps wait, were added after the others had been measured.
- **Swaps.** Many executions of a plain `delay` swap two steps whose order does not matter; SAMC
  would not run them. `--commuting-delays` puts them off. The count is still of all that were run.
- **bDP** here judges every state, where the paper's judges ends, and its executions use up their
  faults. So it finds some bugs at once, and is no weak baseline. 0 executions of rDP: the bug was
  met before the first one had ended.
- **CASS-3395.** Only the replicas crash, as published. Where the coordinator may (`victims=all`),
  the shortest way to a wrong read has no hints in it, so that budget is not the one measured.
- **MR-4748 and MR-5489.** A straggler, or a node that goes bad, counts as a crash in the paper.
  Here it is an action. MR-5489 needs neither the crash nor the restart of its budget here.
- **MR-5489** is a job that hangs. Counted is a bounded claim that breaks on the way: more than one
  container on a node that was refused. `--search cycles` finds the endless execution itself.
- **Table 3** has a DPOR of its own, that of the paper's artefact, in plain Python. It moves an
  event only to where it is possible already, so it misses classes, and so does the SAMC beside it.
  The paper does not claim that its own is sound (section 6.3). *Classes* and the whole counts miss
  none. Of ZAB fifteen more orders of ties had medians of 188, 333 and 429.
- **Why the ratio of ZLE falls.** With one crash 3,000 executions are up to five moves from the
  first, and SAMC has run nearly all it would: 45 are left. With three crashes they are three moves
  away, and 58 are left; for the paper's ratio 29 may be. Within as many moves the ratio grows. Of
  the 58, 17 swap the handshake of a leader and its followers, which the paper's ZLE, with 21 to 25
  events, can hardly have had. More that was tried: `docs/decisions/0440`.
- **Where `semantic` is late.** ZK-790 is met after 6 executions by reversals alone, *oldest
  first*; the other lanes take the other turns. MR-4748 has no faults here: its straggler is an
  action. The executions in which a node is slow find it, and these have two turns of nine.
"""
