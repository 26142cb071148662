"""Steps are judged before they are committed; what cannot be refused is let happen, and counted."""

import pytest
from unit.runtime.ahead import Grant, Holder, Manager, tokens

from presage import always, step
from presage._core import FAILED, UP
from presage.model.service.stream import LOST
from presage.runtime.check import KEPT, ImmediateCheck, can_be_refused


@pytest.fixture
def system():
    return tokens()


def local(system, **fields):
    automaton = system.automata[0]
    values = [automaton.initial()[0], False, fields.get("holds", False), fields.get("got", 0)]
    values[0] = (fields.get("status", UP), 0, frozenset(), fields.get("failure"))
    return tuple(map(system.codec.encode, values))


def check_of(system, now=lambda: 0.0):
    check = ImmediateCheck(system, system.automata[1], now, age_max=0.5)
    manager = [system.automata[2].initial()]
    check.learn("m", tuple(map(system.codec.encode, manager[0])), 0.0)
    return check


GRANTED = ("deliver", 0, Grant())


def test_a_step_that_breaks_a_property_is_refused_unless_its_event_cannot_be(system):
    check = check_of(system)
    check.learn("a", local(system, holds=True), 0.0)
    before, after = local(system), local(system, holds=True, got=1)
    danger = check.judge(before, after, GRANTED)
    assert danger.prop == "one_token" and danger.stale == ()
    assert check.judge(before, local(system, got=1), GRANTED) is None
    assert check.unpreventable == 0
    for stimulus in (("start",), ("restart",), ("deliver", 0, LOST), ("deliver", 1, Grant())):
        assert check.judge(before, after, stimulus) is None
    assert check.unpreventable == 4 and set(check.broken) == {"one_token"}


def test_what_is_mended_is_shown_as_broken_no_longer(system):
    check = check_of(system)
    check.learn("a", local(system, holds=True), 0.0)
    check.judge(local(system), local(system, holds=True), ("restart",))
    check.judge(local(system, holds=True), local(system, holds=True, got=1), GRANTED)
    assert set(check.broken) == {"one_token"}
    check.judge(local(system, holds=True, got=1), local(system, got=1), GRANTED)
    assert check.broken == {}
    check.broken = {"one_token": "why", "of a step": "why"}
    check.standing(())  # as a snapshot has it
    assert set(check.broken) == {"of a step"}


def test_what_was_broken_before_is_no_reason(system):
    check = check_of(system)
    check.learn("a", local(system, holds=True), 0.0)
    broken = local(system, holds=True)
    assert check.judge(broken, local(system, holds=True, got=1), GRANTED) is None


@always
def few_grants(world):
    return all(node.got < 2 for node in world.of(Holder))


def test_what_another_node_has_broken_hides_nothing():
    system = tokens(properties=(few_grants,))
    check = check_of(system)
    check.learn("a", local(system, got=5), 0.0)
    assert check.judge(local(system, got=1), local(system, got=2), GRANTED).prop == "few_grants"
    assert check.judge(local(system, got=2), local(system, got=3), GRANTED) is None
    assert check.judge(local(system), local(system, got=1), GRANTED) is None


def test_nothing_is_refused_for_a_neighbour_of_which_nothing_is_known(system):
    now = [0.0]
    check = check_of(system, lambda: now[0])
    assert check.judge(local(system), local(system, holds=True), GRANTED) is None
    check.learn("a", local(system, holds=True), 0.0)
    now[0] = KEPT
    assert check.judge(local(system), local(system, holds=True), GRANTED).stale == ("a",)
    now[0] = KEPT + 1
    assert check.judge(local(system), local(system, holds=True), GRANTED) is None


def test_an_old_state_of_a_neighbour_is_named_and_a_newer_one_replaces_it(system):
    now = [0.0]
    check = check_of(system, lambda: now[0])
    check.learn("a", local(system, holds=True), 0.0)
    now[0] = 2.0
    assert check.judge(local(system), local(system, holds=True), GRANTED).stale == ("a",)
    check.learn("a", local(system), 2.0)
    check.learn("a", local(system, holds=True), 1.0)  # came late
    assert check.judge(local(system), local(system, holds=True), GRANTED) is None


def test_a_handler_that_raises_is_dangerous_too(system):
    check = check_of(system)
    failed = local(system, status=FAILED, failure="ValueError")
    assert check.judge(local(system), failed, GRANTED).prop == "no_exception"


@pytest.mark.parametrize(
    ("stimulus", "can"),
    [
        (("deliver", 0, Grant()), True),
        (("deliver", 1, Grant()), False),
        (("deliver", 0, LOST), False),
        (("timer", "move"), True),
        (("action", "act"), True),
        (("call", "join"), True),
        (("write", "disk", 1), False),
        (("start",), False),
        (("restart",), False),
    ],
)
def test_only_what_a_network_or_a_clock_may_keep_away_is_refused(stimulus, can):
    assert can_be_refused(1, stimulus) == can


def test_a_manager_is_as_written():
    assert Manager(armed_once=False).armed_once is False


@step
def never_gets(before, after):
    return before.got == after.got


def test_how_a_process_begins_is_no_step_that_a_property_of_steps_speaks_of():
    check = check_of(tokens(properties=(never_gets,)))
    before, after = local(tokens()), local(tokens(), got=1)
    for stimulus in (("start",), ("restart",)):
        assert check.judge(before, after, stimulus) is None and check.unpreventable == 0
    assert check.judge(before, after, GRANTED).prop == "never_gets"
