"""The page that `delaying` writes: three tables beside the paper's, and what they were to show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from delaying_rows import TABLE_1, TABLE_2, TABLE_3, Paper

Cell = dict[str, Any]
SCHEDULERS = ("random", "rtc", "rr")
LEAST_RATIO, MEDIAN_RATIO, MEDIAN_DELAYS, MORE_STATES = 7.8, 100, 6, 2
CAUSAL = ("OSR", "USB", "MSMIE", "Lann", "Tree identification")


@dataclass(frozen=True)
class Condition:
    """What the tables were to show, and what was measured."""

    claim: str
    measured: str
    holds: bool | None  # None: not measured

    @property
    def verdict(self) -> str:
        return {True: "held", False: "**missed**", None: "skipped"}[self.holds]


def best(row: Cell) -> str | None:
    """The scheduler that needed fewest states."""
    found = [name for name in SCHEDULERS if row[name]["found"]]
    return min(found, key=lambda name: row[name]["states"]) if found else None


def ratio(row: Cell) -> float:
    """States by depth, for each by the best scheduler; at least, where depth found nothing."""
    name = best(row)
    return row["depth"]["states"] / row[name]["states"] if name else 0.0


def overheads(data: Cell, title: str) -> list[float]:
    """Pairs for each state, of 2, 3, ... nodes."""
    return [pairs / states for states, pairs in data["1"][title].values()]


def conditions(data: Cell) -> list[Condition]:
    return [*conditions_1(data), *conditions_2(data["2"]), *conditions_3(data), catalogue(data)]


def conditions_1(data: Cell) -> Iterator[Condition]:
    grows = {each.title: overheads(data, each.title) for each in TABLE_1}
    rising = [title for title, own in grows.items() if own == sorted(own) and own[0] < own[-1]]
    yield Condition(
        "Table 1: the overhead of storing orders grows with p, for two of three",
        f"it does for {' and '.join(rising) or 'none'}",
        len(rising) >= 2,
    )
    largest = {title: own[3] for title, own in grows.items() if len(own) > 3}
    shown = ", ".join(f"{title} {value:.2f}" for title, value in largest.items())
    yield Condition(
        "Table 1: above 1.5 at p = 5 somewhere",
        shown or "not measured",
        any(value > 1.5 for value in largest.values()),
    )


def conditions_2(table: Cell) -> Iterator[Condition]:
    both = {title: ratio(row) for title, row in table.items() if row["depth"]["found"]}
    lowest = min(both, key=lambda title: both[title], default="")
    yield Condition(
        f"Table 2: depth needs {LEAST_RATIO} times the states of the best scheduler, in every row"
        " where it finds the bug",
        f"at least {both[lowest]:,.1f} times ({lowest})" if both else "it finds none",
        all(value >= LEAST_RATIO for value in both.values()) and all(map(best, table.values())),
    )
    middle = median(ratio(row) for row in table.values())
    yield Condition(
        f"Table 2: {MEDIAN_RATIO} times or more in the median",
        f"{middle:,.0f} times, counting rows it gave up on by the states it had met",
        middle >= MEDIAN_RATIO,
    )
    winners = {title: best(row) for title, row in table.items()}
    counts = {name: list(winners.values()).count(name) for name in SCHEDULERS}
    yield Condition(
        "Table 2: no scheduler is best in all rows",
        ", ".join(f"{name} in {count}" for name, count in counts.items()),
        max(counts.values()) < len(table),
    )
    delays = median(row[name]["bound"] for row in table.values() if (name := best(row)))
    yield Condition(
        f"Table 2: the best scheduler needs at most {MEDIAN_DELAYS} delays in the median",
        f"{delays:g}",
        delays <= MEDIAN_DELAYS,
    )
    yield Condition(
        "Table 2: `rr` or `random` is best where operations interleave, ORSet and CScale",
        f"{winners['ORSet']}, {winners['CScale']}",
        {winners["ORSet"], winners["CScale"]} <= {"rr", "random"},
    )
    causal = [title for title in CAUSAL if winners[title] == "rtc"]
    yield Condition(
        f"Table 2: `rtc` is best in three of {', '.join(CAUSAL)}",
        ", ".join(causal) or "none",
        len(causal) >= 3,
    )


def conditions_3(data: Cell) -> Iterator[Condition]:
    table = data["3"]
    ends = {t: row for t, row in table.items() if row["ndfs"]["found"] and row["indfs"]["found"]}
    fewer = {t: row["ndfs"]["states"] / row["indfs"]["states"] for t, row in ends.items()}
    yield Condition(
        "Table 3: `indfs` needs at most a fifth of the states of `ndfs` where that ends",
        ", ".join(f"{title} {value:.1f}" for title, value in fewer.items()) or "it never does",
        all(value >= 5 for value in fewer.values())
        and all(r["indfs"]["found"] for r in table.values()),
    )
    alike = {t: row["map"]["states"] / row["indfs"]["states"] for t, row in table.items()}
    yield Condition(
        "Table 3: `map` meets 0.7 to 1.3 times the states of `indfs`",
        ", ".join(f"{title} {value:.2f}" for title, value in alike.items()),
        all(0.7 <= value <= 1.3 for value in alike.values()),
    )
    faster, used = (
        {title: row["indfs"][unit] / row["map"][unit] for title, row in table.items()}
        for unit in ("seconds", "processor")
    )
    yield Condition(
        "Table 3: `map` takes at most two thirds of the processor time of `indfs`",
        ", ".join(f"{title} {value:.1f}" for title, value in used.items())
        + "; by the clock "
        + ", ".join(f"{value:.1f}" for value in faster.values()),
        all(value >= 1.5 for value in used.values()),
    )
    parallel = {
        t: row["map"]["seconds"] / row["map on 4"]["seconds"]
        for t, row in table.items()
        if "map on 4" in row
    }
    yield Condition(
        "Table 3: four threads are twice as fast as one",
        ", ".join(f"{title} {value:.1f}" for title, value in parallel.items())
        or "not measured: this machine has fewer than four cores",
        all(value >= 2 for value in parallel.values()) if parallel else None,
    )


def catalogue(data: Cell) -> Condition:
    rows = data["catalogue"]
    more = [bug for bug, row in rows.items() if row["states"] > MORE_STATES * row["of"]]
    more += [bug for bug, row in rows.items() if not row["found"]]
    worst = max(rows, key=lambda bug: rows[bug]["states"] / rows[bug]["of"])
    return Condition(
        f"`rtc` finds {len(rows)} bugs of the catalogues with at most {MORE_STATES} times the"
        " states that were first measured",
        ", ".join(more)
        or f"at most {rows[worst]['states'] / rows[worst]['of']:.2f} times ({worst})",
        not more,
    )


def ours(cell: Cell, strong: bool = False) -> str:
    """How far, and how many states; with a star if nothing was found."""
    if not cell["found"]:
        return f"* ({cell['states']:,})"
    text = f"{cell['bound']} / {cell['states']:,}"
    return f"**{text}**" if strong else text


def theirs(cell: Paper) -> str:
    if cell is None:
        return "*"
    bound, states = cell
    return f"{bound} / {states:,.0f}" if states < 1e8 else f"{bound} / {states:.1E}"


def page(data: Cell, held: list[Condition]) -> Iterator[str]:
    """The lines of the page."""
    yield "# Delaying explorers, measured"
    yield ""
    yield from INTRODUCTION.splitlines()
    yield ""
    yield "| | what the tables were to show | measured |"
    yield "|---|---|---|"
    for each in held:
        yield f"| {each.verdict} | {each.claim} | {each.measured} |"
    yield ""
    yield from lines_1(data)
    yield from lines_2(data)
    yield from lines_3(data)
    yield ""
    yield from DIFFERENCES.splitlines()


def lines_1(data: Cell) -> Iterator[str]:
    yield "## Table 1: what it costs to store the order with the state"
    yield ""
    yield "| model | p | states | pairs | overhead | the paper: states | pairs | overhead |"
    yield "|---|---|---|---|---|---|---|---|"
    for each in TABLE_1:
        for p, (states, pairs) in data["1"][each.title].items():
            alone, both = each.paper[int(p)]
            paper = f"{both:.2E} | {both / alone:.2f}" if both else "* | *"
            own = f"{states:,} | {pairs:,} | {pairs / states:.2f}"
            yield f"| {each.title} | {p} | {own} | {alone:.2E} | {paper} |"
    yield ""


def lines_2(data: Cell) -> Iterator[str]:
    yield "## Table 2: what it takes to find a bug"
    yield ""
    yield "Each cell: the bound, in steps or delays, and the distinct states met until the bug. A"
    yield f"star: not found in {data['seconds of 2']:.0f} s, and the states met by then."
    yield ""
    yield "| model | parameters | depth | random | rtc | rr | depth / best |"
    yield "|---|---|---|---|---|---|---|"
    for row in TABLE_2:
        own = data["2"][row.title]
        cells = " | ".join(ours(own[name], name == best(own)) for name in ("depth", *SCHEDULERS))
        given = " ".join(f"{name}={value}" for name, value in row.parameters.items())
        more = "" if own["depth"]["found"] else "over "
        yield f"| {row.title} | `{given}` | {cells} | {more}{ratio(own):,.0f} |"
    yield ""
    yield "The paper's, of its own models and bugs:"
    yield ""
    yield "| model | depth | random | rtc | rr |"
    yield "|---|---|---|---|---|"
    for row in TABLE_2:
        cells = " | ".join(theirs(cell) for cell in (row.depth, row.random, row.rtc, row.rr))
        yield f"| {row.title} | {cells} |"
    yield ""


def timed(cell: Cell) -> str:
    """States and seconds, with a star if nothing was found."""
    used = f"; {cell['processor']:.2f}" if "processor" in cell else ""
    return f"{'' if cell['found'] else '* '}{cell['states']:,} ({cell['seconds']:.2f}{used})"


def lines_3(data: Cell) -> Iterator[str]:
    yield "## Table 3: what it takes to find a cycle"
    yield ""
    yield "Weakly fair cycles. Delays, distinct states of all bounds, and in brackets the seconds"
    yield "of the search, by the clock and of processor time; medians of five seeds, tried by all"
    yield "in turn. *Refinement* is its share in the time that `map` spends on looking for cycles;"
    yield f"*two threads* are `map`'s. A star: not found in {data['seconds of 3']:.0f} s."
    yield ""
    yield "| model | parameters | ndfs | indfs | map | refinement | two threads | scc | bfs |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in TABLE_3:
        own = data["3"][row.title]
        given = " ".join(f"{name}={value}" for name, value in row.parameters.items())
        cells = {name: timed(own[name]) for name in ("ndfs", "bfs")}
        cells |= {n: f"{own[n]['bound']} / {timed(own[n])}" for n in ("indfs", "map", "scc")}
        share = f"{own['map']['refining']:.0%}"
        share += f" | {timed(own['map on 2']) if 'map on 2' in own else '–'}"
        nested = f"{cells['ndfs']} | {cells['indfs']} | {cells['map']} | {share}"
        yield f"| {row.title} | `{given}` | {nested} | {cells['scc']} | {cells['bfs']} |"
    yield ""
    yield "The paper's:"
    yield ""
    yield "| model | ndfs | indfs | map | refinement |"
    yield "|---|---|---|---|---|"
    for row in TABLE_3:
        cells = " | ".join(
            "*" if states is None else f"{states:,} ({seconds:,})"
            for states, seconds in zip(row.states, row.seconds, strict=False)
        )
        yield f"| {row.title} | {cells} | {row.refining:.0%} |"


INTRODUCTION = """\
Made by `make delaying`: do not edit. Desai, Qadeer and Rajamani ("Iterative Cycle Detection via
Delaying Explorers", 2015) compared schedulers on fifteen programs. The same is measured here on
[our versions of these programs](systems.md#reactive-programs), on one thread. The paper's models
are not public, so only ratios can be compared, not counts.
"""

DIFFERENCES = """\
## What differs, and why

- **Models.** They are reconstructions. A handler runs in one step here, and in several in the
  paper; so ours are smaller, and bugs lie nearer. Sizes are chosen so that a search by depth has
  work to do: more devices, ports, clients, nodes. That matters: CScale with three processes instead
  of four has a ratio of 7.2, elevator planning with BEEM's third puzzle 3.8.
- **Bugs.** The paper does not say what its bugs are, but for hints. OSR, MSMIE, truck lift and TSP
  have bugs that others published. The rest were chosen from several, some after others had been
  tried, because they are rare enough for a search by depth to have work: so the table shows that
  there are such bugs, not that bugs are such. Left out are, among others, Lann's `reclaim`, which
  depth finds as fast, tree identification's `hasty`, which it finds faster, USB's `timer`, and
  ORSet's `split_add`, to which the paper's hint points, which all find within three states.
- **Depth** is `dfs` to depth 5, 10, 15, ...; as in the paper only the last bound counts. The order
  in which `dfs` tries events is that of the nodes, so the figure is the median of five orders of
  the nodes; `random` is the median of five seeds.
- **Prices.** As in the paper, the i-th task costs i delays (`--cost position`; the default is
  `log`, [decision 0111](../decisions/0111-what-a-place-in-the-order-costs.md)). Other than there,
  an answer of a choice that is not the first costs one delay, and so does a fault.
- **Tasks.** Mail comes before actions and these before timers, whatever the scheduler
  ([order](delay.md#order)). So `rtc` and `rr` differ only where several messages are in flight.
- **Table 1** is counted in plain Python, because the kernel never stores an order with a state: as
  far as that goes in reasonable time.
- **Table 3: bugs and sizes.** Of the bugs of a model with a fair cycle, the one that `scc` needs
  most states for. Of the sizes, the last before `scc` needs more than 100,000 states in the median
  of three seeds. Only `scc` decides it, but the rule is not blind: Lann and tree identification had
  been run by all at these sizes when it was fixed, and a first rule, the last size that `scc` ends
  within ten seconds, was dropped because it took too long (four elevators, seven nodes,
  twenty-eight people). Then, because `map` met 6 to 15 times the states of `indfs` in two rows, the
  order was changed: `scc` and `map` now take
  [the deepest first](../decisions/0115-the-deepest-of-a-bucket-first.md), and need fewer.
- **Table 3: states** are the distinct ones of all bounds. The paper's `indfs` restarts, too, and
  meets "almost the same number" as `map`: so it cannot count a state once per bound. Ours keeps the
  order and cost of each state, so both have
  [the same graph](../decisions/0114-when-a-growing-graph-is-looked-at.md) within a bound.
- **Table 3: `ndfs`.** Where cycles are rare, in the elevators, it did not end; with two elevators
  it does, after 97,687 to 124,269 states, and `indfs` after 2,485 to 4,805 (three seeds). In the
  other two rows `indfs` saves nothing. *Tree identification*: without delays a run elects a root
  and ends after 158 states, and its cycle, the last two of 162 steps, is one to three departures
  away. `ndfs` varies the end of its first run before all else and meets it after 209 to 342 states,
  but a bound allows a second departure only after one anywhere, 4,431 to 4,809 states (seeds 0 to
  3). *Lann*: its cycle costs seven or eight delays, and 45,583 to 86,718 states cost less. `ndfs`
  pays nothing for departures and meets one 244 to 546 steps deep, after 62,637 to 89,267 states
  (seeds 0 to 2). It needs five times as many states with each node more (2,679, 12,559, 66,652 from
  three nodes on), `indfs` two to three times (13,727, 28,740, 76,274); with six nodes it is 294,027
  and 259,297 (medians of three seeds). The rule leaves six out: `scc` needs 164,622 there. With
  seven nodes neither ended in 40 s (seed 0).
- **Table 3: time.** The paper measures both on one thread; `map` on four is a column of its own.
  `map` saves the transitions that `indfs` takes again: in Lann 781,103 are taken by `indfs` and
  248,101 by `map` (seed 0). In tree identification there is nothing to save, 34,012 and 33,473
  (seed 2), 529,662 and 528,742 (seed 1). Its bounds grow fourteenfold or more (158, 4,694, 68,321
  states of seed 1), so all restarts together cost little, and the last one finds the cycle within
  55 new states. Most of the time there was Python's: 43,222 runs of one property for 76,838 states,
  until [what is asked of one node was remembered by
  itself](../decisions/0128-parts-of-a-property.md). Now it is 129 runs, and both take a sixth of
  the processor time. Most of what is left are handlers that both run once, of seed 2 442 times by
  `map` and 344 times by `indfs`. Passes of `map` go over the copies of each state, once for each
  claim, and elevator planning has twenty: there they take a third of the time, and took two fifths
  before [they refined only behind new edges](../decisions/0116-refine-behind-new-edges.md). Two
  threads gain little at these sizes. The machine was busy, so seconds by the clock are rough, and
  those of tables of different days do not compare. They are of the seed with the median of states.
"""
