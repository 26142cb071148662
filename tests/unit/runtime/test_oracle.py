"""Predictions are made by another process, whose death costs predictions and nothing else."""

import os
import select
import signal
import time

import pytest
from unit.runtime.ahead import saved, tokens

from presage.runtime.foresight import Question
from presage.runtime.listening import Sockets
from presage.runtime.oracle import BUFFER, Oracle, Unable
from presage.runtime.up import local_cluster

PATIENCE = 60.0


@pytest.fixture
def oracle():
    made = Oracle(tokens(), "a")
    yield made
    made.close()


def answered(oracle):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        select.select([oracle.socket], [], [], 1.0)
        found = oracle.heard()
        if found:
            return found[-1]
    raise AssertionError("no answer")


def question(**more):
    system = tokens()
    return Question(saved(system, "timer"), seconds=20.0, **more)


def test_a_question_is_answered_by_another_process(oracle):
    assert oracle.ask(question())
    assert answered(oracle).decision == "filter"
    assert oracle.worker not in (None, os.getpid())


def test_a_question_that_is_given_up_makes_room_for_the_next(oracle):
    oracle.ask(question())
    answered(oracle)
    first = oracle.worker
    oracle.ask(question())
    oracle.end_question()
    assert oracle.killed == 1
    oracle.ask(question(acts=False))
    assert answered(oracle).decision == "watched"
    assert oracle.worker != first


def test_a_process_that_dies_is_replaced(oracle):
    oracle.ask(question())
    answered(oracle)
    os.kill(oracle.worker, signal.SIGKILL)
    oracle.ask(question())
    until = time.monotonic() + PATIENCE
    while not oracle.ask(question()) or not select.select([oracle.socket], [], [], 5.0)[0]:
        assert time.monotonic() < until
    assert answered(oracle).decision == "filter"


def test_a_question_too_large_to_be_asked_is_counted(oracle):
    large = question(known=(b"x" * (2 * BUFFER),))
    assert not oracle.ask(large)
    assert oracle.dropped == 1


@pytest.mark.slow
def test_nothing_is_left_behind():
    made = Oracle(tokens(), "a")
    made.ask(question())
    answered(made)
    keeper, worker = made.pid, made.worker
    made.close()
    until = time.monotonic() + PATIENCE
    for pid in (keeper, worker):
        while time.monotonic() < until:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.05)
        else:
            raise AssertionError("it still runs")


def test_the_oracle_holds_no_address_of_its_node():
    address = local_cluster(["a"], "unused").nodes["a"]
    sockets = Sockets("a", address)
    made = Oracle(tokens(), "a", None, sockets)
    try:
        made.ask(question())
        answered(made)
        sockets.close()
        Sockets("a", address).close()  # somebody else may have it at once
    finally:
        made.close()


def test_an_oracle_that_has_ended_is_asked_no_more(oracle):
    oracle.ask(question())
    answered(oracle)
    assert not oracle.ended
    os.kill(oracle.pid, signal.SIGKILL)
    select.select([oracle.socket], [], [], PATIENCE)
    assert oracle.heard() == [] and oracle.ended
    assert not oracle.ask(question())


def test_a_question_on_which_the_oracle_fails_is_answered_by_why(oracle):
    oracle.ask(Question(None))
    assert isinstance(answered(oracle), Unable)
