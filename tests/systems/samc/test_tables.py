"""The tables that `make samc` writes: made of made-up figures, and of a few executions."""

import json
import sys

import pytest
import samc
from samc_black_box import BlackBox, names
from samc_graph import FAULTS, Did, Graph
from samc_page import conditions, ours, page
from samc_ratios import (
    EXACT,
    POLICIES,
    SETS,
    Classes,
    Semantic,
    by_moves,
    marked,
    over_seeds,
    ratios,
    settled,
)
from samc_stated import Stated
from samc_whole import WHOLE, Counter, whole

from presage.systems.samc import gossip, zab31, zle
from presage.systems.samc.bugs import BUGS, CUT

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
RATIO = {"executions": 3_000, "events": 39, **dict.fromkeys(SETS, 5.0)}


def figures(**changed):
    """Made-up data, with cells of the first bug changed."""
    rows = {bug.id: dict(ROW) for bug in BUGS}
    rows[BUGS[0].id] |= changed
    return {"2": rows, "3": {"zle": {str(n): ratio_cell(n) for n in (1, 2, 3)}}, "seconds": 60.0}


def ratio_cell(budget):
    """Made-up ratios that grow with the budget."""
    cell = {
        **RATIO,
        "all": 37.0 * budget,
        "range": {**{name: [5.0, 5.0] for name in SETS}, "all": [30.0 * budget, 40.0 * budget]},
    }
    return {
        **cell,
        "stated": {**cell, "all": 38.0},
        "settled": 9.0,
        "by moves": [{"moves": 1, "executions": 60 * budget, "all": 10, "classes": 20}],
        "whole": {"states": 9, "bDP": 100 * budget, "LMI": 50, "CMI": 60, "exact": 40},
    }


def verdicts(data):
    return [condition.verdict for condition in conditions(data, BUGS)]


def test_conditions_hold_where_all_is_found_early_and_what_has_no_model_is_skipped():
    assert verdicts(figures()) == ["held"] * 4 + ["held", "skipped"] * 4


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


def test_a_whole_ratio_that_does_not_grow_is_missed():
    data = figures()
    data["3"]["zle"]["3"]["whole"]["bDP"] = 100
    [missed] = [c for c in conditions(data, BUGS) if c.holds is False]
    assert missed.claim.startswith("Beyond Table 3: of ZLE") and missed.measured == "2, 5, 2"


def test_table_3_has_our_ratios_above_those_of_the_paper():
    data = figures()
    lines = list(page(data, BUGS, conditions(data, BUGS)))
    ours = "37.0 (30.0–40.0) | 5.0 | 5.0 | 5.0 | 5.0 | 5.0 | 5.0 | 9.0 | 38.0 (30.0–40.0)"
    at = lines.index(f"| ZLE | 1, 1 | 39 | {ours} |")
    assert lines[at + 1] == "| the paper's | | | 37 | 18 | 5 | 4 | 3 | | | | |"
    assert "| ZLE | 1, 1 | 6.0; 3.0 of 60 |" in lines
    assert "| ZLE | 2, 2 | 9 | 200 | 50 | 60 | 40 | 5.0 |" in lines


def made(monkeypatch, folder, data):
    """The exit status of `make samc` that measures nothing anew, and the page that it writes."""
    kept, path = folder / "samc.json", folder / "samc.md"
    kept.write_text(json.dumps(data))
    monkeypatch.setattr(samc, "DATA", kept)
    monkeypatch.setattr(sys, "argv", ["samc.py", "--tables", "--page", str(path)])
    return samc.main(), path.read_text(encoding="utf-8")


def test_the_page_says_what_was_measured_and_the_command_fails_where_a_condition_does(
    monkeypatch, tmp_path
):
    measured = json.loads(samc.DATA.read_text(encoding="utf-8"))
    status, text = made(monkeypatch, tmp_path, measured)
    assert text == samc.PAGE.read_text(encoding="utf-8")
    assert status == int("| **missed** |" in text)


def test_the_command_fails_where_something_was_not_measured(monkeypatch, tmp_path):
    assert set(verdicts(figures())) == {"held", "skipped"}
    assert made(monkeypatch, tmp_path, figures())[0] == 1
    whole = figures()
    cells = whole["3"]["zle"].items()
    whole["3"]["zab31"] = {
        budget: {**cell, "all": 2.0 * cell["all"] + 30} for budget, cell in cells
    }
    assert set(verdicts(whole)) == {"held"}
    assert made(monkeypatch, tmp_path, whole)[0] == 0


def test_a_cell_says_where_a_search_was_cut():
    assert ours(LOST) == "> 700 in 60 s"
    assert ours({**LOST, "executions": 50_000}) == "> 50,000"
    assert ours({**LOST, "executions": CUT}) == "> 5,000"


ROUND = gossip.system(nodes=2, rounds=1)
ELECTION = zle.system(nodes=2)


def first(system, most, **how):
    """A search, and so many executions of it."""
    box = BlackBox(Graph(system), **how)
    return box, list(box.executions(most))


def faults(graph, path):
    return [graph.kinds[did.name] for did in path if graph.kinds[did.name].fault]


def test_policies_leave_out_no_more_together_than_there_is_and_no_less_than_each():
    measured = ratios(Graph(ROUND), 60)
    assert measured["executions"] == 60 and measured["events"] > 0
    assert 1 <= min(measured[name] for name in SETS)
    assert max(measured[policy] for policy in POLICIES) <= measured["all"] <= 60


@pytest.mark.parametrize("system", [ROUND, ELECTION], ids=lambda system: system.name)
def test_without_a_policy_no_execution_is_redundant(system):
    box, found = first(system, 80)
    assert Semantic(box, ()).reached(found) == set(range(len(found)))


@pytest.mark.parametrize("policies", [("CMI",), EXACT, POLICIES], ids=str)
def test_what_is_left_is_what_moves_of_the_policies_lead_to(policies):
    """Brute force: begin with the first, and make every move that is not left out."""
    box, found = first(ELECTION, 80)
    wholes = [names(each.path) for each in found]
    reached = Semantic(box, policies).reached(found)
    assert 0 in reached and len(reached) < len(found)
    for number in reached - {0}:
        led = False
        for path in (found[other].path for other in reached):
            for at, moved in box.moves(path, policies):
                led |= names(box.run((*names(path[:at]), moved))) == wholes[number]
        assert led


def test_no_execution_of_the_plain_search_comes_twice_and_each_moves_an_event():
    box, found = first(ROUND, 60)
    assert len({names(each.path) for each in found}) == len(found) == 60
    assert (found[0].moved, found[0].passed, found[0].moves) == (None, "", 0)
    for each in found[1:]:
        moved = each.path[each.moved]
        assert each.passed in box.graph.places[moved.at].events
        assert moved.name != each.passed


def test_every_node_crashes_in_some_execution_though_the_budget_is_for_one():
    box, found = first(gossip.system(nodes=2, rounds=1, crashes=1, restarts=0), 100)
    kinds = [kind for each in found for kind in faults(box.graph, each.path)]
    assert {kind.node for kind in kinds} == {"n1", "n2"}
    assert {kind.fault for kind in kinds} == {"crash"}


def test_faults_come_behind_what_was_there_at_first_or_last():
    early, late = (first(ELECTION, 1, faults_last=last) for last in (False, True))
    fault = [
        next(at for at, did in enumerate(found[0].path) if box.graph.kinds[did.name].fault)
        for box, found in (early, late)
    ]
    assert fault[0] == len(early[0].graph.places[early[0].graph.root].events) - len(ELECTION.names)
    assert fault[1] > fault[0]


def test_a_timer_fires_where_nothing_but_faults_is_left():
    box, found = first(ELECTION, 60)
    fired = [did for each in found for did in each.path if box.graph.kinds[did.name].is_timer]
    assert fired
    for did in fired:
        kinds = [box.graph.kinds[name] for name in box.graph.places[did.at].events]
        assert all(kind.fault or kind.is_timer for kind in kinds)


def test_faults_of_one_kind_do_not_pass_each_other():
    box, found = first(zle.system(nodes=2, crashes=2, restarts=2), 80)
    for each in found[1:]:
        moved = box.graph.kinds[each.path[each.moved].name]
        passed = box.graph.kinds[each.passed]
        if moved.fault and moved.fault == passed.fault:
            assert moved.node != passed.node  # another node instead


def test_mail_for_a_node_that_crashed_is_moved_before_the_crash_only():
    box, found = first(ELECTION, 80)
    lost = 0
    for each in found:
        obsolete = box.obsolete(each.path)
        lost += len(obsolete)
        for at, moved in box.moves(each.path):
            if moved in {each.path[step].name for step in obsolete}:
                again = [d.name for i, d in enumerate(each.path) if i not in obsolete]
                kind = box.graph.kinds[each.path[at].name]
                assert moved in again or kind[:2] == (box.graph.kinds[moved].node, "crash")
    assert lost


def test_executions_may_begin_where_only_faults_are_left():
    box = BlackBox(Graph(ROUND))
    box.settle()
    assert box.graph.is_quiet(box.graph.root)
    first = next(box.executions(1)).path[0]
    assert box.graph.kinds[first.name].fault == "crash"
    assert settled(ROUND, 20) >= 1


def test_executions_within_some_moves_are_the_first_of_all():
    within = [names(each.path) for each in BlackBox(Graph(ROUND)).executions(None, moves_max=2)]
    assert within == [names(each.path) for each in first(ROUND, len(within))[1]]
    rows = by_moves(ROUND, 2)
    assert [row["moves"] for row in rows] == [1, 2] and rows[-1]["executions"] == len(within)
    assert all(1 <= row["all"] and row["classes"] <= row["executions"] for row in rows)


def test_a_seed_gives_the_same_executions_again_and_another_one_may_not():
    system = zle.system(nodes=2, crashes=1, restarts=0)
    runs = [
        [names(each.path) for each in first(system, 20, seed=seed)[1]] for seed in (1, 1, 2, 3, 4)
    ]
    assert runs[0] == runs[1] and any(run != runs[0] for run in runs)
    measured = over_seeds(system, 20, 2)
    least, most = measured["range"]["all"]
    assert least <= measured["all"] <= most


def test_stated_rules_take_a_vote_that_does_not_win_for_independent_of_all():
    """Though it is stored, and may complete a quorum: they are the paper's, and no reduction."""
    graph = Stated(zle.system())
    votes = [name for name in graph.places[graph.root].events if name.startswith("Deliver")]
    one, other = (name for name in votes if graph.kinds[name].node == "z3")
    assert graph.independent(graph.root, one, other, EXACT)
    assert not graph.independent(graph.root, one, other, ())
    better, best = (name for name in votes if graph.kinds[name].node == "z1")
    assert not graph.independent(graph.root, better, best, EXACT)
    # A crash at neither end of a message makes its sender, who looks for a leader, vote again.
    ends = ("z3", graph.ends(Did(one, graph.root))[0])
    [crash] = (n for n, kind in graph.kinds.items() if kind.fault and kind.node not in ends)
    assert not graph.independent(graph.root, one, crash, EXACT)
    assert not graph.independent(graph.root, one, crash, ("LMI",))


SMALL = {
    "zle": zle.system(nodes=2, crashes=1, restarts=0),
    "zab31": zab31.system(nodes=2, writes=0, crashes=1, restarts=0),
}


def interleavings(graph):
    """All executions, one by one, and the state before each step and after the last."""
    stack = [((), (graph.root,))]
    while stack:
        done, states = stack.pop()
        events = graph.places[states[-1]].events
        if not events:
            yield done, states
        stack += [((*done, name), (*states, graph.take(states[-1], name))) for name in events]


def classes(graph, policies):
    """All executions by class: two that differ by a swap of independent events are of one."""
    found = dict(interleavings(graph))
    left, groups = set(found), []
    while left:
        group = [left.pop()]
        for done in group:
            for at in range(len(done) - 1):
                one, other = done[at : at + 2]
                swapped = (*done[:at], other, one, *done[at + 2 :])
                if swapped in left and graph.independent(found[done][at], one, other, policies):
                    left.remove(swapped)
                    group.append(swapped)
        groups.append({done: found[done][-1] for done in group})
    return groups


@pytest.mark.parametrize("policies", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("system", SMALL.values(), ids=SMALL)
def test_executions_are_counted_by_classes_and_each_class_ends_in_one_state(system, policies):
    graph = Graph(system)
    groups = classes(graph, policies)
    assert all(len(set(group.values())) == 1 for group in groups)
    counted = Counter(graph, policies).count()
    assert counted == len(groups) if not policies else counted >= len(groups)


@pytest.mark.parametrize("system", SMALL.values(), ids=SMALL)
def test_a_normal_form_stands_for_executions_of_one_class_only(system):
    graph = Graph(system)
    groups = classes(graph, EXACT)
    ranks = {event: rank for rank, event in enumerate(sorted(graph.kinds))}
    of = {done: number for number, group in enumerate(groups) for done in group}
    marks, forms = Classes(graph, EXACT, ranks), {}
    for done, states in interleavings(graph):
        path = [Did(name, at) for name, at in zip(done, states, strict=False)]
        assert forms.setdefault(marks.normal_form(path), of[done]) == of[done]
    assert len(groups) <= len(forms) < len(of)


def test_without_faults_two_servers_have_two_executions_and_one_is_enough():
    counts = whole(zle.system(nodes=2, crashes=0, restarts=0))
    assert {name: counts[name] for name in WHOLE} == {"bDP": 2, "LMI": 1, "CMI": 2, "exact": 1}


def test_a_fault_moved_to_where_all_roles_are_as_before_is_skipped():
    box, found = first(gossip.system(nodes=2, rounds=1, crashes=1, restarts=0), 60)
    graph, tried = box.graph, set()
    new = marked(box, found, "CRS")
    for each, is_new in zip(found, new, strict=True):
        if not is_new:
            continue
        tried |= {graph.key(did) for did in each.path if graph.kinds[did.name].fault == "crash"}
    assert not all(new)
    skipped = [
        each.path[each.moved]
        for each, is_new in zip(found, new, strict=True)
        if not is_new and graph.kinds[each.path[each.moved].name].fault and each.moves == 1
    ]
    assert skipped and all(graph.key(did) in tried for did in skipped)
    assert set(FAULTS) >= {kind.fault for kind in graph.kinds.values()} - {""}
