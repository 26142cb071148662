"""The tables that `make samc` writes: made of made-up figures, and of a few executions."""

import sys
from pathlib import Path

import pytest

from presage.systems.samc import gossip
from presage.systems.samc.bugs import BUGS, CUT

sys.path.append(str(Path(__file__).resolve().parents[3] / "benchmarks"))

from samc_page import conditions, ours, page  # noqa: E402
from samc_ratios import FAULTS, POLICIES, Graph, executions, ratios, settle  # noqa: E402

FOUND = {"found": True, "executions": 3, "states": 40, "seconds": 0.5}
LOST = {"found": False, "executions": 700, "states": 9_000, "seconds": 60.0}
EMPTY = {"missing": "there is no such option yet"}
SILENT = {"found": False, "exhausted": True, "executions": 9, "states": 90, "times": 3.0}
ROW = {
    "bDP": {**FOUND, "executions": 12_345},
    "RND": FOUND,
    "rDP": EMPTY,
    "exact": {**FOUND, "order": "rr"},
    "heuristic": FOUND,
    "bfs": FOUND,
    "delay": FOUND,
    "mended": SILENT,
}
RATIO = {"executions": 3_000, "none": 1.0, **dict.fromkeys(POLICIES, 5.0)}


def figures(**changed):
    """Made-up data, with cells of the first bug changed."""
    rows = {bug.id: dict(ROW) for bug in BUGS}
    rows[BUGS[0].id] |= changed
    table_3 = {
        "zle": {str(n): {**RATIO, "all": 37.0 * n, "settled": {"all": 9.0}} for n in (1, 2, 3)}
    }
    return {"2": rows, "3": table_3, "seconds": 60.0}


def verdicts(data):
    return [condition.verdict for condition in conditions(data, BUGS)]


def test_conditions_hold_where_all_is_found_early_and_what_has_no_model_is_skipped():
    assert verdicts(figures()) == ["held"] * 4 + ["held", "skipped"] * 2


@pytest.mark.parametrize(
    ("changed", "missed"),
    [
        ({"bfs": LOST, "delay": LOST}, [0]),
        ({"heuristic": LOST}, [2]),
        ({"mended": {**SILENT, "exhausted": False}}, [3]),
        ({"mended": {**SILENT, "found": True}}, [3]),
        ({"mended": EMPTY}, [3]),
    ],
    ids=str,
)
def test_a_condition_is_missed_where_its_figure_is_worse(changed, missed):
    given = verdicts(figures(**changed))
    assert [at for at, verdict in enumerate(given) if verdict == "**missed**"] == missed


def test_ratios_that_shrink_or_are_small_are_missed():
    data = figures()
    data["3"]["zle"]["3"]["all"] = 36.0
    assert [c.claim for c in conditions(data, BUGS) if c.holds is False] == [
        "Table 3: of ZLE the ratio with all policies grows with the budget",
        "Table 3: of ZLE it is at least 37, with three crashes 103",
    ]


def test_a_column_that_cannot_be_measured_yet_is_empty_and_says_why():
    data = figures()
    for row in data["2"].values():
        row["heuristic"] = EMPTY
    assert verdicts(data)[1:3] == ["skipped", "skipped"]
    lines = list(page(data, BUGS, conditions(data, BUGS)))
    assert "Column heuristic is empty: there is no such option yet." in lines


def test_the_page_has_our_figures_above_those_of_the_paper():
    data = figures()
    lines = list(page(data, BUGS, conditions(data, BUGS)))
    at = next(n for n, line in enumerate(lines) if line.startswith("| MR-5505 | here |"))
    assert lines[at] == "| MR-5505 | here | > 5,000; 12,345 | 3 | – | 3 (rr) | 3 |"
    assert lines[at + 1] == "| | paper | 1,212 | > 5,000 | 1,210 | 40 | 40 |"


def test_table_3_has_our_ratios_above_those_of_the_paper():
    data = figures()
    lines = list(page(data, BUGS, conditions(data, BUGS)))
    at = lines.index("| ZLE | 1, 1 | 3,000 | 37.0 | 5.0 | 5.0 | 5.0 | 5.0 | 1.0 | 9.0 |")
    assert lines[at + 1] == "| the paper's | | 3,000 | 37 | 18 | 5 | 4 | 3 | | |"


def test_a_cell_says_where_a_search_was_cut():
    assert ours(LOST) == "> 700 in 60 s"
    assert ours({**LOST, "executions": 50_000}) == "> 50,000"
    assert ours({**LOST, "executions": CUT}) == "> 5,000"


def test_policies_leave_out_no_more_together_than_there_is_and_no_less_than_each():
    measured = ratios(gossip.system(nodes=2, rounds=1), 60)
    assert measured["executions"] == 60
    assert 1 <= measured["none"] <= min(measured[policy] for policy in POLICIES)
    assert max(measured[policy] for policy in POLICIES) <= measured["all"] <= 60


def test_no_execution_of_the_plain_search_comes_twice_and_each_moves_an_event():
    found = list(executions(Graph(gossip.system(nodes=2, rounds=1)), 60))
    assert len({tuple(repr(did.event) for did in each.path) for each in found}) == len(found) == 60
    assert (found[0].moved, found[0].passed) == (None, None)
    for each in found[1:]:
        moved = each.path[each.moved]
        assert moved.before.saved == each.passed.before.saved
        assert repr(moved.event) != repr(each.passed.event)


def test_executions_may_begin_where_only_faults_are_left():
    graph = Graph(gossip.system(nodes=2, rounds=1))
    settle(graph)
    assert {event.kind for event in graph.places[graph.root].events} <= set(FAULTS)
    assert next(executions(graph, 1)).path[0].event.kind == "crash"


def test_every_node_crashes_in_some_execution_though_the_budget_is_for_one():
    found = executions(Graph(gossip.system(nodes=2, rounds=1, crashes=1, restarts=0)), 100)
    crashed = {did.event.node for each in found for did in each.path if did.event.kind == "crash"}
    assert crashed == {"n1", "n2"}
