"""Reads during hinted handoff: no more columns than asked for, and none that was deleted."""

import pytest

from presage import Delay, check
from presage.systems.samc import hints

SCHEDULERS = ["rtc", pytest.param("rr", marks=pytest.mark.slow)]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_search_by_delays_finds_the_read_that_returns_too_much(scheduler):
    broken = hints.system(bug="CASS-3395")
    report = check(broken, search="delay", delay=Delay(scheduler), threads=1, traces=None)
    [found] = report.violations
    assert found.prop == "reads_are_current"
    assert report.unique < 1_500


@pytest.mark.slow
def test_the_read_returns_a_deleted_column_of_a_replica_that_was_down():
    report = check(hints.system(bug="CASS-3395"), threads=1, traces=None)
    [found] = report.violations
    assert (found.prop, report.unique) == ("reads_are_current", 27_258)
    kinds = [step.kind for step in found.trace.steps]
    assert (kinds.count("crash"), kinds.count("restart"), kinds.count("call")) == (1, 1, 4)
    assert "Column(name=1, time=1, dead=False)" in found.message  # deleted at time 3


@pytest.mark.parametrize(
    ("parameters", "states"),
    [
        ({"writes": 2}, 11_020),
        pytest.param({}, 28_538, marks=pytest.mark.slow),
        pytest.param({"victims": "all"}, 41_442, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_a_read_that_is_cut_to_its_count_is_right_in_all_states(parameters, states):
    report = check(hints.system(**parameters), traces=None)
    report.assert_holds()
    assert (report.unique, report.exhausted) == (states, True)


@pytest.mark.parametrize(
    "budget", [{"crashes": 0}, {"restarts": 0, "writes": 2}, {"writes": 1}], ids=str
)
def test_the_bug_needs_a_crash_a_restart_and_a_missed_write(budget):
    report = check(hints.system(bug="CASS-3395", **budget), traces=None)
    report.assert_holds()
    assert report.exhausted


@pytest.mark.slow
def test_two_crashes_and_reads_hold_too():
    report = check(hints.system(crashes=2, restarts=2, reads=2), traces=None)
    report.assert_holds()
    assert report.exhausted


def test_what_a_read_may_return_depends_on_what_was_acknowledged():
    first, later, deletion = hints.WRITES
    assert hints.allowed(hints.History()) == {()}
    both = hints.History(begun=hints.WRITES, written=(first, later))
    assert hints.allowed(both) == {(later,)}
    unsure = hints.History(begun=(first, later), written=(first,))
    assert hints.allowed(unsure) == {(first,), (later,)}
    gone = hints.History(begun=(first, deletion), written=(first, deletion))
    assert hints.allowed(gone) == {()}
