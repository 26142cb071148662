"""The part of the page of SAMC that is about Table 3: ratios beside the paper's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from samc_condition import Condition
from samc_ratios import CLASSES, NONE, POLICIES

Table = dict[str, dict[str, Any]]  # by model and budget
TITLES = {"zle": "ZLE", "zab31": "ZAB"}
# The paper's ratios with as many crashes as reboots.
LEAST = {"zle": {"1": 37, "3": 103}, "zab31": {"1": 93, "3": 166}}
PAPER = {
    "zle": {
        "1": {"all": 37, "LMI": 18, "CMI": 5, "CRS": 4, "RSS": 3},
        "2": {"all": 63, "LMI": 35, "CMI": 6, "CRS": 5, "RSS": 5},
        "3": {"all": 103, "LMI": 37, "CMI": 9, "CRS": 9, "RSS": 14},
    },
    "zab31": {"1": {"all": 93}, "2": {"all": 107}, "3": {"all": 166}},
}


def conditions_3(table: Table) -> list[Condition]:
    return [
        *(grows(table, model) for model in TITLES),
        *(reduces(table, model) for model in TITLES),
        *(grows_within(table, model) for model in TITLES),
        *(grows_whole(table, model) for model in TITLES),
    ]


def grows(table: Table, model: str) -> Condition:
    claim = f"Table 3: of {TITLES[model]} the ratio with all policies grows with the budget"
    if model not in table:
        return Condition(claim, f"there is no model `{model}` yet", None)
    return growth(claim, [cell["all"] for _, cell in sorted(table[model].items())])


def growth(claim: str, ratios: list[float]) -> Condition:
    """Whether no ratio is smaller than the one before, and the last is larger than the first."""
    holds = ratios == sorted(ratios) and ratios[0] < ratios[-1]
    return Condition(claim, ", ".join(f"{ratio:,.0f}" for ratio in ratios), holds)


def reduces(table: Table, model: str) -> Condition:
    first, last = LEAST[model].values()
    claim = f"Table 3: of {TITLES[model]} it is at least {first}, with three crashes {last}"
    if model not in table:
        return Condition(claim, f"there is no model `{model}` yet", None)
    own = {budget: table[model][budget]["all"] for budget in LEAST[model]}
    holds = all(own[budget] >= least for budget, least in LEAST[model].items())
    return Condition(claim, ", ".join(f"{value:.0f}" for value in own.values()), holds)


def grows_within(table: Table, model: str) -> Condition:
    claim = f"Beyond Table 3: of {TITLES[model]} it grows within as many moves"
    if model not in table:
        return Condition(claim, f"there is no model `{model}` yet", None)
    last = [cell["by moves"][-1] for _, cell in sorted(table[model].items())]
    return growth(claim, [row["executions"] / row["all"] for row in last])


def grows_whole(table: Table, model: str) -> Condition:
    claim = (
        f"Beyond Table 3: of {TITLES[model]} with two servers, counted whole, the ratio with LMI"
        " and CMI grows with the budget"
    )
    if model not in table:
        return Condition(claim, f"there is no model `{model}` yet", None)
    cells = [cell["whole"] for _, cell in sorted(table[model].items())]
    return growth(claim, [cell["bDP"] / cell["exact"] for cell in cells])


def lines_3(table: Table) -> Iterator[str]:
    yield "## Table 3: executions of bDP for each that is not redundant"
    yield ""
    if not table:
        yield "Not measured: its models, ZooKeeper's election and broadcast, are not there yet."
        yield ""
        return
    yield from MEANING.splitlines()
    yield ""
    yield from first_executions(table)
    yield from WINDOW.splitlines()
    yield ""
    yield from within_moves(table)
    yield from COUNTED.splitlines()
    yield ""
    yield from counted(table)


def rows(table: Table) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Model, budget and cell."""
    for model, cells in table.items():
        for budget, cell in cells.items():
            yield model, budget, cell


def first_executions(table: Table) -> Iterator[str]:
    titles = ("all", *POLICIES, CLASSES, NONE)
    yield f"| protocol | C, R | E | {' | '.join(titles)} | settled | stated |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for model, budget, cell in rows(table):
        ratios = " | ".join(ratio(cell, name) for name in titles)
        stated = ratio(cell["stated"], "all") if "stated" in cell else ""
        ratios += f" | {cell['settled']:.1f} | {stated}"
        yield f"| {TITLES[model]} | {budget}, {budget} | {cell['events']:.0f} | {ratios} |"
        paper = PAPER[model][budget]
        ratios = " | ".join(str(paper.get(name, "")) for name in ("all", *POLICIES))
        yield f"| the paper's | | | {ratios} | | | | |"
    yield ""


def ratio(cell: dict[str, Any], name: str) -> str:
    """The median, and the ends if they differ."""
    ends = [f"{end:.1f}" for end in cell["range"][name]]
    return f"{cell[name]:.1f}" + ("" if ends[0] == ends[1] else f" ({ends[0]}–{ends[1]})")


def within_moves(table: Table) -> Iterator[str]:
    counts = [row["moves"] for row in next(rows(table))[2]["by moves"]]
    yield "| protocol | C, R | " + " | ".join(f"within {count:.0f}" for count in counts) + " |"
    yield "|---|---|" + "---|" * len(counts)
    for model, budget, cell in rows(table):
        cells = " | ".join(
            f"{row['executions'] / row['all']:.1f}; {row['executions'] / row['classes']:.1f}"
            f" of {row['executions']:,.0f}"
            for row in cell["by moves"]
        )
        yield f"| {TITLES[model]} | {budget}, {budget} | {cells} |"
    yield ""


def counted(table: Table) -> Iterator[str]:
    yield "| protocol | C, R | states | bDP | LMI | CMI | LMI, CMI | ratio |"
    yield "|---|---|---|---|---|---|---|---|"
    for model, budget, cell in rows(table):
        own = cell["whole"]
        numbers = " | ".join(f"{own[name]:,}" for name in ("states", "bDP", "LMI", "CMI", "exact"))
        times = f"{own['bDP'] / own['exact']:,.1f}"
        yield f"| {TITLES[model]} | {budget}, {budget} | {numbers} | {times} |"
    yield ""


MEANING = """\
The paper (section 5.3): "we run bDP for 3000 executions and run SAMC policies on the side to mark
the redundant executions. The reduction ratio is then 3000 divided by the number of non-redundant
executions." It does not say how they mark. Here an execution is redundant if SAMC would not have
run it: if no moves that its policies make lead to it from the first. What commutes is found by
taking both orders in the state; CRS and RSS are heuristics. *Classes*: of those that LMI and CMI
tell are equivalent one counts, so no class is lost. *None* is what bDP repeats by itself.

bDP is that of the paper's artefact. Events wait in a queue, and so do faults, from the beginning:
an election is under way when they happen. Timers fire where nothing else can. Mail for a node that
crashed is no longer reordered. Elections of ZAB are events like others. *E*: events of the first
execution. Medians of five orders of ties, and the ends in brackets. *Settled*: all policies, where
the first election belongs to the set-up; one order. *Stated*: all policies, LMI and CMI as the
paper's Table 1 states them. Its rule for votes is wrong, and `Rules` refuses it.
"""

WINDOW = """\
All executions within one, two and three moves of the first, without a limit: the ratio with all
policies, and by *classes*. The ratio depends on how many moves 3,000 executions reach, and with a
larger budget each has more moves, so they reach less far.
"""

COUNTED = """\
Both searches as a whole, with two servers (of ZAB with one write): how many executions there are
that are not equivalent under each relation. They are counted over states and sleep sets, not run,
and nothing is estimated. CRS and RSS depend on the order of a search, so they are not counted.
Three servers with faults have too many states for it.
"""
