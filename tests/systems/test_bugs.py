"""Every bug the shipped systems claim to have: found with the switch on, absent with it off."""

import re
from typing import Any

import pytest

import presage
from presage.systems import counter, paxos, single_copy


def only_violation(system: presage.System, **options: Any) -> Any:
    report = presage.check(system, traces=None, **options)
    assert report.stopped_by == "violation"
    assert report.exit_status == 1
    [violation] = report.violations
    return violation


def test_paxos_with_the_value_of_the_last_promise_decides_twice() -> None:
    violation = only_violation(paxos.system(bug="last_promise"))
    assert (violation.prop, violation.kind, violation.steps) == ("one_value", "safety", 10)
    assert re.fullmatch(r"s\d decided on '[AB]', s\d on '[AB]'", violation.message)


def test_paxos_that_forgets_its_promise_in_a_crash_decides_twice() -> None:
    violation = only_violation(paxos.system(bug="no_disk"))
    assert (violation.prop, violation.kind, violation.steps) == ("one_value", "safety", 12)
    kinds = [step.kind for step in violation.trace.steps]
    assert (kinds.count("crash"), kinds.count("restart")) == (1, 1)


@pytest.mark.parametrize("bug", ["last_promise", "no_disk"])
def test_one_client_alone_cannot_show_the_bugs_of_paxos(bug: Any) -> None:
    presage.check(paxos.system(clients=1, bug=bug)).assert_holds()


def test_correct_paxos_has_neither_bug() -> None:
    presage.check(paxos.system(clients=2, bug="none")).assert_holds()
    presage.check(paxos.system(clients=2, bug="none", crashes=1)).assert_holds()


def test_two_copies_of_a_register_are_not_linearizable() -> None:
    violation = only_violation(single_copy.system(servers=2))
    assert (violation.prop, violation.kind, violation.steps) == ("linearizable", "safety", 4)
    assert "Read() -> None, begun after" in violation.message
    presage.check(single_copy.system(servers=1)).assert_holds()


def test_threads_without_a_lock_lose_an_increment() -> None:
    violation = only_violation(counter.system(threads=2, locked=False))
    assert (violation.prop, violation.steps) == ("no_lost_increment", 4)
    assert violation.message == "2 threads have incremented, the counter is 1"
    presage.check(counter.system(threads=2, locked=True)).assert_holds()
    presage.check(counter.system(threads=3, locked=True)).assert_holds()
