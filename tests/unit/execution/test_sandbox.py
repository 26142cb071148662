"""The fence around the outside world and the watchdog: what they refuse, and what they leave."""

import logging
import os
import random
import threading
import time
from itertools import count
from time import sleep  # as user code may have it: taken before there was a fence
from types import SimpleNamespace

import pytest

from presage import Service, System, action, check
from presage.errors import HandlerStuck, Impure, NoThread
from presage.execution import sandbox as module
from presage.execution.sandbox import Sandbox
from presage.process.leaves import ORIGINALS, TABLE


def originals():
    return [getattr(owner, name) for owner, name in ORIGINALS]


@pytest.fixture(autouse=True)
def fence_taken_down():
    """Whatever a test does, in the end everything is as it was."""
    before = originals()
    yield
    after = originals()
    for (owner, name), original in zip(ORIGINALS, before, strict=True):
        setattr(owner, name, original)
    assert after == before


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (time.time_ns, "time.time_ns"),
        (time.monotonic, "time.monotonic"),
        (random.random, "random.random"),
        (random.getrandbits, "random.getrandbits"),
        (os.urandom, "os.urandom"),
        (os.getpid, "os.getpid"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_fenced_call_is_refused_inside_a_run_and_answered_outside(call, name):
    module, function = name.split(".")
    modules = {"time": time, "random": random, "os": os}

    def impure():
        return getattr(modules[module], function)()

    with Sandbox() as sandbox:
        if name not in ("random.getrandbits", "os.urandom"):
            assert impure() is not None
        with pytest.raises(Impure, match=f"`{name}`") as refused:
            sandbox.run(impure)
    assert "test_sandbox.py:" in refused.value.location


def test_other_threads_are_not_fenced_in():
    answers = []
    asked, answered = threading.Event(), threading.Event()

    def answer():
        asked.wait()
        answers.append(time.time())
        answered.set()

    other = threading.Thread(target=answer)
    other.start()
    with Sandbox() as sandbox:

        def handler():
            asked.set()
            answered.wait()

        sandbox.run(handler)
    other.join()
    assert len(answers) == 1


def test_a_handler_may_log(caplog):
    with Sandbox() as sandbox, caplog.at_level(logging.INFO):
        sandbox.run(logging.getLogger("node").info, "hello %s", "world")
    assert caplog.messages == ["hello world"]


def test_the_fence_is_taken_down_after_any_error():
    before = originals()
    for error in (ValueError, KeyboardInterrupt, SystemExit):
        with pytest.raises(error), Sandbox() as sandbox:

            def fail(error=error):
                raise error

            sandbox.run(fail)
        assert originals() == before
    with pytest.raises(Impure), Sandbox() as sandbox:
        sandbox.run(time.time)
    assert originals() == before


def test_an_impure_call_is_told_even_if_the_handler_caught_the_error():
    def handler():
        try:
            time.time()
        except Exception:
            return "nothing happened"

    with Sandbox() as sandbox, pytest.raises(Impure):
        sandbox.run(handler)


def test_what_a_run_returns_and_raises_passes_through():
    with Sandbox() as sandbox:
        assert sandbox.run(lambda a, b: a + b, 1, 2) == 3
        with pytest.raises(KeyError, match="lost"):
            sandbox.run({}.__getitem__, "lost")


def test_an_endless_loop_is_ended_with_its_line():
    def endless():
        while True:
            pass

    with Sandbox(seconds=0.2) as sandbox, pytest.raises(HandlerStuck) as stuck:
        sandbox.run(endless)
    assert "test_sandbox.py:" in stuck.value.location
    assert stuck.value.seconds == 0.2


def test_a_loop_cannot_catch_its_end():
    def stubborn():
        while True:
            try:
                while True:
                    pass
            except Exception:
                pass

    with Sandbox(seconds=0.2) as sandbox, pytest.raises(HandlerStuck):
        sandbox.run(stubborn)


ASLEEP = (sleep,)  # where no fence finds it, not even that of real nodes


def test_a_run_that_waits_for_the_processor_is_not_ended():
    """Its thread works now and then, as on a busy machine, and far less than it may."""
    ends = threading.Event()

    def waits():
        while not ends.is_set():
            ASLEEP[0](0.02)

    with Sandbox(seconds=0.3) as sandbox:
        threading.Timer(1.2, ends.set).start()
        sandbox.run(waits)


def test_many_short_runs_are_not_one_long_run():
    with Sandbox(seconds=0.3) as sandbox:
        for _ in range(12):
            sandbox.run(ASLEEP[0], 0.05)


def test_a_handler_blocked_in_native_code_is_given_up_on():
    given_up = []
    release = threading.Event()

    def blocked():
        release.wait()

    def give_up(error):
        given_up.append(error)
        release.set()

    with Sandbox(seconds=0.2, give_up=give_up) as sandbox, pytest.raises(HandlerStuck):
        sandbox.run(blocked)
    [error] = given_up
    assert "test_sandbox.py:" in error.location


def test_a_watchdog_that_cannot_start_is_an_error_and_leaves_nothing_behind(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    stopped, before, depth = [], originals(), TABLE.depth
    native = SimpleNamespace(stop=lambda: stopped.append(True))
    monkeypatch.setattr(module, "native_watchdog", lambda seconds: native)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(NoThread) as refused, Sandbox():
        pass
    assert "watchdog of handlers could not be started: can't start new thread" in str(refused.value)
    assert "way out: raise the limit" in str(refused.value)
    assert (stopped, originals(), TABLE.depth) == ([True], before, depth)


def test_code_that_someone_debugs_is_not_ended_with_its_process():
    forgotten = []
    asked = threading.Event()
    seconds = count(1.0)

    class Native:
        run = 0  # none yet

        def call(self, run, function):
            self.run = run
            return function()

        def spent(self):
            return [(threading.main_thread().ident, self.run, next(seconds))]

        def forget(self, thread):
            forgotten.append(thread)
            asked.set()

        def stop(self):
            """Nothing runs."""

    prompt = {"__name__": "pdb", "wait": asked.wait}
    exec("def interaction(): wait()", prompt)  # as `pdb` does, under its name

    with Sandbox(seconds=0.2) as sandbox:
        sandbox._native.stop()
        sandbox._native = Native()
        with pytest.raises(HandlerStuck):
            sandbox.run(prompt["interaction"])
    assert forgotten == [threading.get_ident()]


def test_watches_may_be_nested():
    before = originals()
    with Sandbox() as outer:
        fenced = originals()
        with Sandbox() as inner, pytest.raises(Impure):
            inner.run(time.time)
        assert originals() == fenced
        with pytest.raises(Impure):
            outer.run(time.time)
    assert originals() == before


def test_watches_may_overlap_in_any_order():
    before = originals()
    first, second = Sandbox(), Sandbox()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    try:
        with pytest.raises(Impure):
            second.run(lambda: time.time())
    finally:
        second.__exit__(None, None, None)
    assert originals() == before


def test_a_check_within_a_handler_of_another_leaves_the_fence_in_place():
    class Plain(Service):
        pass

    class Checking(Service):
        done: bool = False

        @action(when=lambda self: not self.done)
        def go(self):
            self.done = check(System({"a": Plain()}), traces=None).exhausted
            time.time()

    with pytest.raises(Impure):
        check(System({"a": Checking()}), traces=None)
