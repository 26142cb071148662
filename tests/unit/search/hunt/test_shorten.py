"""Delta debugging, courses that begin alike, and fewer steps to the same death."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.debug.samples import found, ordered

from presage import check
from presage.execution.prefix import PrefixReplay, events_of, likeness
from presage.execution.replay import replay
from presage.execution.sandbox import Sandbox
from presage.execution.services import ServiceExecution
from presage.model.world.world import World
from presage.shrink.delta import minimize
from presage.systems import chord, pastry


def for_ever() -> bool:
    return True


@given(st.integers(0, 40), st.sets(st.integers(0, 39)))
def test_what_is_left_is_exactly_what_is_needed(count, wanted):
    needed = {item for item in wanted if item < count}
    kept = minimize(range(count), lambda some: some if needed <= set(some) else None, for_ever)
    assert set(kept) == needed


def test_when_it_is_enough_the_best_so_far_is_kept():
    turns = iter([True, True, True] + [False] * 100)
    kept = minimize(range(64), lambda some: some if 63 in some else None, lambda: next(turns))
    assert 1 < len(kept) < 64
    assert 63 in kept


def test_a_course_restores_what_it_has_in_common_with_the_last_and_ends_the_same():
    trace = found(ordered(), "in_order")
    with Sandbox() as sandbox:
        replayed = replay(ordered(), trace)
        events = events_of(replayed.steps)
        system = ordered()
        course = PrefixReplay(system, sandbox, (), system.properties[0])
        for left_out in [None, 5, 4, 3, 2, 1, 0, None]:
            some = [event for at, event in enumerate(events) if at != left_out]
            run = course.take(some, ServiceExecution.verdict)
            alone = PrefixReplay(system, sandbox, (), system.properties[0])
            fresh = alone.take(some, ServiceExecution.verdict)
            assert [s.fingerprint for s in run.steps] == [s.fingerprint for s in fresh.steps]
            assert (course.why, course.taken) == (alone.why, alone.taken)
            assert run.world.fingerprint == fresh.world.fingerprint
        assert course.spent < 8 * len(events)


def test_like_events_stand_in_only_where_that_is_asked_for():
    system = ordered()
    events = events_of(replay(system, found(system, "in_order")).steps)
    late = [events[0], events[3]]  # the second question is delivered, and only the first was asked
    with Sandbox() as sandbox:
        assert len(PrefixReplay(system, sandbox, (), None).take(late, lambda run: None).steps) == 1
        course = PrefixReplay(system, sandbox, (), None, alike=True)
        run = course.take(late, lambda run: None)
    assert [str(step.event) for step in run.steps] == ["ask", "Ask client -> server"]
    assert run.steps[1].event.message.number == 1
    assert likeness(events[3][0]) == ("deliver", "server", "client", "Ask")


@pytest.mark.parametrize(
    "module, name", [(chord, "CH-8"), (pastry, "PA-lu")], ids=["chord", "pastry"]
)
def test_a_shorter_way_to_a_death_is_confirmed_and_its_last_step_critical(module, name):
    [bug] = [bug for bug in module.bugs.BUGS if bug.id == name]
    system = partial(module.system, **bug.parameters)
    report = check(system(), search="hunt", hunt=bug.hunt, walks=60_000, traces=None)
    [violation] = [each for each in report.violations if each.prop == bug.property]
    assert violation.kind == "liveness"
    assert violation.critical < violation.found
    assert replay(system(), violation.trace).message is not None
    world = World.initial(system(), violation.trace.choices)
    assert world.fingerprint == violation.trace.initial


def test_a_shortened_safety_violation_says_how_long_it_was():
    report = check(ordered(), search="walk", seed=1, walks=200, traces=None)
    [found_] = [each for each in report.violations if each.prop == "in_order"]
    assert found_.steps == 6
    assert found_.found is None or found_.found > 6
    assert found_.to_json()["found"] == found_.found
