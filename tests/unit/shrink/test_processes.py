"""Traces of programs are made shorter: never longer, and the same violation."""

import pytest
from process.random_programs import random_program
from unit.debug.programs import choosing, found, ordered, stuck

from presage import Process, Program, check, replay
from presage.cli.target.load import load
from presage.execution.processes import PropertyFailure
from presage.mailbox import Mailbox
from presage.search import run_findings
from presage.shrink.processes import same


def as_found(program, monkeypatch):
    """The violations of a search that shortens nothing."""
    with monkeypatch.context() as patched:
        patched.setattr(run_findings, "_shorter", lambda _program, _steps, known, *_: (*known, []))
        return check(program, traces=None, keep_going=True).violations


def assert_shorter(program, monkeypatch):
    """The same violations in the same order, none with more steps; each replays. How many less."""
    before = as_found(program, monkeypatch)
    after = check(program, traces=None, keep_going=True).violations
    assert [(v.prop, v.kind) for v in before] == [(v.prop, v.kind) for v in after]
    less = 0
    for long, short in zip(before, after, strict=True):
        assert short.steps == len(short.trace.steps) <= long.steps
        assert short.found == (long.steps if short.steps < long.steps else None)
        assert short.source == long.source
        assert replay(program, short.trace).message == short.message
        less += long.steps - short.steps
    return less


@pytest.mark.parametrize(("name", "less"), [("bugged1", 1), ("bugged2", 0), ("chord", 3)])
def test_violations_of_simgrids_programs(name, less, monkeypatch):
    program = load(f"simgrid.{name}").system
    assert assert_shorter(program, monkeypatch) >= less


@pytest.mark.slow
def test_violations_of_random_programs(monkeypatch):
    assert sum(assert_shorter(random_program(seed), monkeypatch) for seed in range(20)) > 0


def test_deadlocks_and_published_values(monkeypatch):
    for program in (stuck(), choosing(), ordered(3)):
        assert_shorter(program, monkeypatch)


def gossip(number):
    for at in range(3):
        Mailbox.by_name(f"gossip {number}").put_init(at).detach()


def test_what_has_nothing_to_do_with_it_is_left_out():
    others = {f"gossip {number}": Process(gossip, number) for number in range(3)}
    program = Program({**others, **ordered().processes})
    violation = found(program, "no_exception")
    assert violation.found is not None
    assert {step.node for step in violation.trace.steps} == {"server", "client 1", "client 2"}


def test_bfs_is_left_alone():
    violation = found(ordered(), "no_exception", search="bfs")
    assert violation.found is None


def test_time_that_ran_out_is_told(monkeypatch):
    assert run_findings.LEFT_LONG not in check(ordered(3), traces=None).notes
    monkeypatch.setattr(run_findings, "SECONDS_MAX", 0.0)
    report = check(ordered(3), traces=None)
    assert report.violations[0].found is None
    assert report.notes.count(run_findings.LEFT_LONG) == 1


def test_two_violations_are_one_if_property_kind_and_place_agree():
    one = PropertyFailure("no_exception", "exception", "AssertionError: 1 at a.py:3 in f")
    assert same(
        one, PropertyFailure("no_exception", "exception", "AssertionError: 2 at a.py:3 in f")
    )
    assert not same(
        one, PropertyFailure("no_exception", "exception", "AssertionError: 1 at a.py:4 in f")
    )
    assert not same(
        one, PropertyFailure("no_exception", "leak", "AssertionError: 1 at a.py:3 in f")
    )
    assert not same(one, PropertyFailure("no_deadlock", "exception", one.message))
