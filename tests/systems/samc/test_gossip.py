"""Gossip: a node that dies is convicted, unless it was first heard of when it was dead."""

import pytest

from presage import Delay, check
from presage.systems.samc import gossip

SMALL = {"rounds": 1, "crashes": 2, "restarts": 1, "nodes": 2}


SCHEDULERS = ["rtc", pytest.param("rr", marks=pytest.mark.slow)]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_search_by_delays_finds_the_dead_node_that_stays_up(scheduler):
    broken = gossip.system(bug="CASS-3626")
    report = check(broken, search="delay", delay=Delay(scheduler), threads=1, traces=None)
    [found] = report.violations
    assert found.prop == "dead_can_be_convicted"
    kinds = [step.kind for step in found.trace.steps]
    assert (kinds.count("crash"), kinds.count("restart")) == (2, 1)
    assert report.unique < 5_000


def test_the_believer_has_booted_and_heard_of_the_dead_node_only_once():
    [found] = check(gossip.system(bug="CASS-3626"), threads=1, traces=None).violations
    assert (found.prop, found.steps) == ("dead_can_be_convicted", 6)
    [booted] = [step.node for step in found.trace.steps if step.kind == "restart"]
    assert found.message.startswith(f"{booted} takes ")
    heard = [s for s in found.trace.steps if s.node == booted and s.label.startswith("Ack")]
    assert len(heard) == 1


@pytest.mark.parametrize(
    "budget", [{"crashes": 1, "restarts": 1}, {"crashes": 2, "restarts": 0}], ids=str
)
def test_it_needs_two_crashes_and_a_restart(budget):
    report = check(gossip.system(bug="CASS-3626", **{**SMALL, **budget}), traces=None)
    report.assert_holds()
    assert report.exhausted


def test_crashes_are_noticed_where_the_detector_hears_of_new_nodes():
    report = check(gossip.system(**SMALL), traces=None)
    report.assert_holds()
    assert (report.unique, report.exhausted) == (2_304, True)
    assert report.properties == {"dead_can_be_convicted": "held", "crashes_are_noticed": "held"}


@pytest.mark.slow
def test_the_mended_one_is_silent_for_ten_times_the_executions():
    report = check(gossip.system(), search="delay", threads=1, states=60_000, traces=None)
    assert (report.violations, report.executions > 5_650) == ((), True)


@pytest.mark.slow
def test_one_round_of_all_three_holds_with_the_budget_of_the_paper():
    report = check(gossip.system(rounds=1), liveness="rest", traces=None)
    report.assert_holds()
    assert (report.unique, report.exhausted) == (9_127_144, True)


@pytest.mark.slow
def test_with_one_round_the_bug_is_there():
    [found] = check(gossip.system(rounds=1, bug="CASS-3626"), traces=None).violations
    assert found.prop == "dead_can_be_convicted"
