"""ZooKeeper's leader election: each bug breaks its claim, and with `fixed` the claim holds."""

from functools import cache
from typing import get_args

import pytest

from presage import World, check
from presage.systems.samc.zle import CLAIMS, PROFILES, Bug, system
from presage.systems.samc.zle.messages import Vote

BUGS = [bug for bug in get_args(Bug) if bug != "none"]


def explored(search="bfs", states=None, **parameters):
    return check(system(**parameters), search=search, states=states, threads=1, traces=None)


@cache
def broken(bug):
    """The report of a search that uses the budget of the paper."""
    return explored("delay", bug=bug)


def steps_of(bug):
    [violation] = broken(bug).violations
    return violation.trace.steps


def nodes_of(bug, kind):
    return [step.node for step in steps_of(bug) if step.kind == kind]


def test_every_bug_has_a_profile_and_a_claim():
    assert list(PROFILES) == ["none", *BUGS]
    assert list(CLAIMS) == BUGS


@pytest.mark.parametrize(
    "bug", [bug if bug == "ZK-975" else pytest.param(bug, marks=pytest.mark.slow) for bug in BUGS]
)
def test_a_bug_breaks_its_claim_within_the_budget_of_the_paper(bug):
    assert [violation.prop for violation in broken(bug).violations] == [CLAIMS[bug].name]
    assert len(nodes_of(bug, "crash")) <= PROFILES[bug].crashes
    assert len(nodes_of(bug, "restart")) <= PROFILES[bug].restarts


@pytest.mark.slow
def test_who_falsely_led_is_ahead_of_the_leader_of_an_ensemble():
    assert nodes_of("ZK-790", "crash") == nodes_of("ZK-790", "restart")
    last = steps_of("ZK-790")[-1]
    assert [last.node] == nodes_of("ZK-790", "restart")
    assert (last.kind, last.label) == ("timer", "give_up")


def test_who_joins_leads_when_it_has_a_vote_of_everybody():
    last = steps_of("ZK-975")[-1]
    assert [last.node] == nodes_of("ZK-975", "restart")
    assert last.kind == "deliver"  # a majority would have made it wait for `finalize`


def test_a_leader_goes_on_with_an_observer_for_a_majority():
    report = explored("delay", bug="ZK-1492", nodes=2)
    [violation] = report.violations
    assert violation.prop == "leaves_without_majority"
    assert violation.message == "z2 leads, with ['o1', 'z2']"


@pytest.mark.parametrize(("version", "states"), [("3.3", 271), ("3.4", 420)])
def test_the_correct_version_holds_for_two_servers(version, states):
    report = explored(version=version, nodes=2)
    report.assert_holds()
    assert report.unique == states


def test_a_server_that_counts_itself_can_join():
    report = explored(bug="ZK-1075", fixed=True, nodes=2, crashes=1, restarts=1)
    report.assert_holds()
    assert report.unique == 345


@pytest.mark.parametrize(
    ("bug", "states"),
    [
        ("ZK-790", 50_174),
        pytest.param("ZK-975", 52_679, marks=pytest.mark.slow),
        pytest.param("ZK-1075", 199_193, marks=pytest.mark.slow),
        pytest.param("ZK-1419", 74_406, marks=pytest.mark.slow),
    ],
)
def test_no_bug_shows_without_a_crash(bug, states):
    report = explored(bug=bug, crashes=0, restarts=0)
    report.assert_holds()
    assert report.unique == states


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bug", "parameters", "states"),
    [
        ("ZK-790", {}, 590_219),
        ("ZK-975", {}, 616_053),
        ("ZK-1419", {}, 925_257),
        ("ZK-1492", {"nodes": 2}, 88_752),
    ],
)
def test_a_mended_one_holds_with_one_crash(bug, parameters, states):
    report = explored(bug=bug, fixed=True, crashes=1, restarts=0, **parameters)
    report.assert_holds()
    assert report.unique == states


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_mended_one_is_silent_for_ten_times_as_long(bug):
    mended = explored("delay", bug=bug, fixed=True, states=10 * broken(bug).unique)
    assert not mended.violations
    assert mended.stopped_by == "states"


def test_recovery_depends_on_what_a_server_votes_for():
    world = World.initial(system(nodes=2)).view()
    assert world["z1"].recovery() == ("looking", 0, Vote(0, 0, "z1"), 1, 0, 0)
    assert world["z2"].recovery() == ("looking", 0, Vote(0, 0, "z2"), 1, 0, 0)
