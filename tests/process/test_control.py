"""Chance and time under control; what escapes is reported by name; what differs, is found."""

import itertools
import os
import random
import socket
import subprocess
import threading
import time
import uuid

import pytest
from process.running import program, returned

from presage import Process, Program, check
from presage.errors import Escaped, Nondeterminism
from presage.mailbox import Mailbox, choose, this_actor

box = Mailbox.by_name("box")


def draws():
    numbers = random.random(), random.randint(1, 100), random.Random().random()
    this_actor.yield_()
    return numbers, uuid.uuid4().hex, uuid.uuid1().hex, os.urandom(4), random.choice("abc")


def test_chance_is_the_same_in_every_run():
    assert len(returned(a=draws, b=this_actor.yield_)) == 1


def test_chance_differs_between_processes_and_seeds():
    def drawn(seed):
        values = {}

        def draw(name):
            values[name] = random.random()

        check(Program({name: Process(draw, name) for name in "ab"}, seed=seed))
        return values["a"], values["b"]

    assert len({*drawn(0), *drawn(1)}) == 4


def test_time_moves_by_sleeping_only():
    def looks():
        before = time.time(), time.monotonic(), time.perf_counter_ns()
        time.sleep(2)
        return time.time() - before[0], time.monotonic() - before[1]

    assert returned(a=looks) == {((2.0, 2.0),)}


ESCAPES = {
    "starts a thread": lambda: threading.Thread(target=print).start(),
    "opens a socket": lambda: socket.socket(),
    "starts another program": lambda: subprocess.run(["true"]),
}


@pytest.mark.parametrize("what", ESCAPES)
@pytest.mark.parametrize("hidden", [False, True])
def test_what_escapes_control_is_reported_by_name(what, hidden):
    def escapes():
        this_actor.yield_()
        try:
            ESCAPES[what]()
        except Exception:
            if not hidden:
                raise

    with pytest.raises(Escaped, match=f"process `runaway` {what}") as caught:
        check(program({"runaway": escapes}))
    assert "test_control.py" in caught.value.location


def test_after_a_check_time_and_chance_are_real_again():
    before = time.time()
    check(program({"a": lambda: time.sleep(5)}))
    assert time.time() - before < 5
    assert socket.socket().close() is None


def test_a_global_counter_is_found():
    counter = itertools.count()

    def counts():
        this_actor.yield_()
        box.put_init(next(counter)).detach()

    with pytest.raises(Nondeterminism, match="process `counting`"):
        check(program({"counting": counts}))


def test_addresses_are_found():
    kept = []

    def looks():
        kept.append(object())
        this_actor.yield_()
        box.put_init(id(kept[-1])).detach()

    with pytest.raises(Nondeterminism, match="process `looking`"):
        check(program({"looking": looks}))


def test_an_order_that_depends_on_what_ran_before_is_found():
    seen = set()

    def remembers():
        number = choose(2)
        if number in seen:
            this_actor.yield_()
        seen.add(number)
        box.put_init(number).detach()

    with pytest.raises(Nondeterminism):
        check(program({"a": remembers}))
