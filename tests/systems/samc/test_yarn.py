"""Cluster management: an ended job is not run again, and a job does not hang."""

import pytest

from presage import always, check
from presage.systems.samc import yarn

BAD_NODE = {"bad": True, "polls": 0}


def only(system, name):
    """The system with one of its properties alone."""
    system.properties = tuple(each for each in system.properties if each.name == name)
    return system


@pytest.mark.parametrize("search", ["delay", "bfs"])
def test_a_job_whose_end_was_acknowledged_is_launched_again(search):
    report = check(yarn.system(bug="MR-5505"), search=search, threads=1, traces=None)
    [found] = report.violations
    assert found.prop == "ended_jobs_stay_ended"
    kinds = [step.kind for step in found.trace.steps]
    assert (kinds.count("crash"), kinds.count("restart"), kinds[-1]) == (1, 1, "restart")
    assert any(step.label.startswith("Unregistered") for step in found.trace.steps)


@always
def ends_are_on_disk(world):
    """Whatever AM or client know of the end, the store does not have the job any more."""
    ended = world.observer("onlooker").ended
    return not ended or not world["rm"].store.stored.get("app", False)


def test_an_end_is_known_only_when_it_is_on_disk():
    for bug, verdict in (("MR-5505", "violated"), ("none", "held")):
        system = yarn.system(bug=bug)
        system.properties = (ends_are_on_disk,)
        assert check(system, traces=None).properties["ends_are_on_disk"] == verdict


def test_a_client_that_never_asks_changes_nothing():
    report = check(yarn.system(bug="MR-5505", polls=0), traces=None)
    assert [found.prop for found in report.violations] == ["ended_jobs_stay_ended"]


@pytest.mark.parametrize("search", ["delay", "bfs"])
def test_a_node_is_granted_again_and_again_that_the_master_does_not_want(search):
    report = check(yarn.system(bug="MR-5489"), search=search, threads=1, traces=None)
    [found] = report.violations
    assert found.prop == "few_grants_are_refused"
    assert [step.label for step in found.trace.steps].count("heartbeat('nm1')") == 3


@pytest.mark.parametrize("search", ["cycles", "bfs"])
def test_so_the_job_hangs(search):
    system = only(yarn.system(bug="MR-5489"), "jobs_end")
    [found] = check(system, search=search, threads=1, traces=None).violations
    assert (found.prop, found.kind, found.fairness) == ("jobs_end", "liveness", "weak")
    looping = [step.label.split(" ")[0] for step in found.trace.steps[found.loop - 1 :]]
    assert looping == ["Allocated", "Allocate", "heartbeat('nm1')"]


@pytest.mark.parametrize(
    ("parameters", "states"),
    [({}, 2_600), (BAD_NODE, 1_896), ({"bad": True, "polls": 1}, 7_858)],
    ids=str,
)
def test_the_mended_one_holds_in_all_states(parameters, states):
    report = check(yarn.system(**parameters), traces=None)
    report.assert_holds()
    assert (report.unique, report.exhausted) == (states, True)
    assert len(report.properties) == 3


@pytest.mark.parametrize("bug", ["MR-5505", "MR-5489"])
def test_each_bug_breaks_the_claim_of_the_other_nowhere(bug):
    other = {"MR-5505": "few_grants_are_refused", "MR-5489": "ended_jobs_stay_ended"}[bug]
    report = check(only(yarn.system(bug=bug, bad=True, polls=1), other), traces=None)
    report.assert_holds()


@pytest.mark.slow
def test_two_crashes_and_tasks_hold_too():
    report = check(yarn.system(crashes=2, restarts=2, tasks=2, bad=True, polls=1), traces=None)
    report.assert_holds()
    assert (report.unique, report.exhausted) == (443_670, True)
