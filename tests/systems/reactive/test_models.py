"""The reactive programs: correct ones hold, exhaustively; each bug breaks the claim it should."""

import importlib
from typing import NamedTuple, get_args

import pytest

from presage import check
from presage.systems.reactive import MODELS


class Correct(NamedTuple):
    """A model without bug, and how many states it has."""

    model: str
    parameters: dict
    states: int


class Broken(NamedTuple):
    """A model with a bug, and what fails."""

    model: str
    bug: str
    property: str
    parameters: dict = {}


CORRECT = [
    Correct("cscale", {"processes": 2, "commands": 2}, 5_101),
    Correct("cts", {}, 292),
    Correct("elevator_door", {}, 1_515),
    Correct("elevator_planning", {}, 3_941),
    Correct("elevator_planning", {"mode": "serve", "people": 3}, 476),
    Correct("german", {}, 2_938),
    Correct("german", {"clients": 2, "requests": 4}, 4_222),
    Correct("lann", {}, 532),
    Correct("lann", {"losses": 1}, 1_475),
    Correct("lann", {"losses": 1, "discard": False}, 3_658),
    Correct("lcr", {}, 54),
    Correct("lcr", {"nodes": 4}, 141),
    Correct("msmie", {"masters": 3}, 2_678),
    Correct("msmie", {"masters": 1, "claim_fresh": True}, 80),
    Correct("orset", {}, 2_865),
    Correct("osr", {}, 8_310),
    Correct("sync_bfs", {}, 95),
    Correct("sync_bfs", {"graph": "grid"}, 147),
    Correct("tree_identification", {}, 378),
    Correct("tree_identification", {"nodes": 6, "shape": "binary"}, 3_018),
    Correct("truck_lift", {"stations": 2}, 1_843),
    Correct("tsp", {"announcements": 1}, 1_898),
    Correct("tsp", {"announcements": 1, "scenario": "ring"}, 68_816),
    Correct("usb", {}, 2_427),
]

LOSSY = {"losses": 1}
BROKEN = [
    Broken("cscale", "minority", "comparable"),
    Broken("cts", "async", "no_exception"),
    Broken("cts", "late", "no_exception"),
    Broken("cts", "two_of_three", "no_exception"),
    Broken("elevator_door", "fail", "no_exception"),
    Broken("elevator_door", "ignore_open", "opens"),
    Broken("elevator_door", "obj", "no_exception"),
    Broken("elevator_door", "published", "opens"),
    Broken("elevator_door", "stopreset", "no_exception"),
    Broken("elevator_planning", "capacity", "allowed_inside"),
    Broken("elevator_planning", "nearest", "p1_comes_down", {"mode": "serve"}),
    Broken("german", "drop", "served"),
    Broken("german", "oneack", "coherent"),
    Broken("german", "reorder", "coherent"),
    Broken("german", "skipinv", "coherent"),
    Broken("german", "upgrade", "served"),
    Broken("lann", "forgets", "token_seen", LOSSY),
    Broken("lann", "modest", "token_seen", LOSSY),
    Broken("lann", "reclaim", "one_critical"),
    Broken("lann", "reclaim", "one_critical", {"discard": False}),
    Broken("lann", "stubborn", "one_critical", {**LOSSY, "discard": False}),
    Broken("lcr", "drop", "largest_leads"),
    Broken("lcr", "ge", "one_leader"),
    Broken("lcr", "skipnull", "largest_leads"),
    Broken("msmie", "count", "read_in_peace"),
    Broken("msmie", "first", "one_newest"),
    Broken("msmie", "newest", "one_newest"),
    Broken("msmie", "none", "fresh", {"claim_fresh": True}),
    Broken("msmie", "none", "no_exception", {"buffers": 2}),
    Broken("orset", "nocausal", "converged", {"replicas": 3, "ops": 1}),
    Broken("orset", "remove_all", "converged"),
    Broken("orset", "split_add", "no_exception"),
    Broken("osr", "earlyfire", "no_exception"),
    Broken("osr", "nodefer", "no_exception"),
    Broken("osr", "stalefire", "no_exception"),
    Broken("sync_bfs", "async", "shortest"),
    Broken("sync_bfs", "reparent", "no_cycle"),
    Broken("tree_identification", "earlyroot", "no_exception"),
    Broken("tree_identification", "fixedcoin", "elected"),
    Broken("tree_identification", "hasty", "one_root"),
    Broken("tree_identification", "noreply", "elected"),
    Broken("truck_lift", "orphan", "calms_down", {"stations": 2}),
    Broken("truck_lift", "relay", "counted"),
    Broken("truck_lift", "still", "level", {"stations": 2}),
    Broken("truck_lift", "two_ref", "counted"),
    Broken("tsp", "forget", "stays_agreed", {"announcements": 2}),
    Broken("usb", "noack", "no_exception"),
    Broken("usb", "suspend_race", "sleep_together"),
    Broken("usb", "timer", "no_exception"),
]
DEEP = [  # too far away for `bfs` in a moment
    Broken("cscale", "nojoin", "comparable"),
    Broken("tsp", "rogue", "no_rogue_frame", {"scenario": "ring"}),
    pytest.param(Broken("cscale", "stale_ack", "comparable"), marks=pytest.mark.slow),
]


def system(model, **parameters):
    return importlib.import_module(f"presage.systems.reactive.{model}").system(**parameters)


@pytest.mark.parametrize("case", CORRECT, ids=str)
def test_a_correct_model_holds_in_all_its_states(case):
    report = check(system(case.model, **case.parameters), traces=None)
    report.assert_holds()
    assert (report.unique, report.exhausted) == (case.states, True)


@pytest.mark.parametrize("case", BROKEN, ids=str)
def test_a_bug_breaks_the_claim_that_it_should(case):
    report = check(system(case.model, bug=case.bug, **case.parameters), traces=None, threads=1)
    assert [violation.prop for violation in report.violations] == [case.property]


@pytest.mark.parametrize("case", DEEP, ids=str)
def test_a_deep_bug_does_so_too(case):
    how = {"search": "delay", "threads": 1, "traces": None}
    if case.bug == "stale_ack":
        how = {"search": "bfs", "traces": None, "liveness": "rest"}
    report = check(system(case.model, bug=case.bug, **case.parameters), **how)
    assert [violation.prop for violation in report.violations] == [case.property]


def test_every_model_has_both_arms_for_every_bug():
    bugs = {
        (model, bug)
        for model in MODELS
        for bug in get_args(importlib.import_module(f"presage.systems.reactive.{model}").Bug)
    }
    deep = [getattr(case, "values", [case])[0] for case in DEEP]
    shown = {(case.model, case.bug) for case in (*BROKEN, *deep)}
    assert bugs <= shown | {(case.model, "none") for case in CORRECT}


@pytest.mark.parametrize(
    "case",
    [
        Correct("osr", {"devices": 2, "naps": 1, "changes": 2}, 17_052),
        Correct("truck_lift", {}, 105_796),
        Correct("tsp", {"announcements": 2}, 211_074),
        Correct("usb", {"ports": 2, "plugs": 2}, 280_003),
        Correct("lann", {"nodes": 5, "losses": 1}, 111_077),
    ],
    ids=str,
)
@pytest.mark.slow
def test_a_larger_one_holds_too(case):
    test_a_correct_model_holds_in_all_its_states(case)


@pytest.mark.parametrize("model", ["cts", "lcr", "sync_bfs"])
def test_a_sealed_model_says_what_it_assumes(model):
    assert check(system(model), traces=None).assumes
    unsealed = {"cts": "async", "lcr": "skipnull", "sync_bfs": "async"}[model]
    assert check(system(model, bug=unsealed), traces=None).assumes == ()
