"""One simulated process: its clock, chance, identity, signals and end."""

import asyncio
import atexit
import contextlib
import gc
import os
import pickle
import random
import secrets
import select
import signal
import socket
import subprocess
import sys
import time
import uuid
from typing import Any

import pytest
from unit.frontends.real.machine.fair_driver import Table, effects, process_of, run, table

from presage.errors import Escaped
from presage.frontends.real.machine.effects import Killed, Options
from presage.frontends.real.machine.packets import Datagram
from presage.model.choice import Chooser

pytestmark = pytest.mark.usefixtures(table.__name__)


def lines(program: Any, **options: Any) -> list[str]:
    return effects(program, **options).logs


def test_the_clock_stands_still_in_a_step_and_jumps_to_deadlines() -> None:
    def program() -> None:
        before = time.monotonic()
        print(time.monotonic() - before, time.time_ns() - round(time.time() * 1e9))
        time.sleep(2.5)
        print(time.monotonic() - before, time.perf_counter() - before)

    assert lines(program, clock=7.0) == ["0.0 0", "2.5 2.5"]


def test_a_timer_is_named_after_what_waits() -> None:
    async def waits() -> None:
        await asyncio.sleep(1)

    process = run(lambda: asyncio.run(waits()), events=0)
    name = "test_a_timer_is_named_after_what_waits.<locals>.waits"
    assert process.own_events() == [("timer", name)]
    assert process.deadline == 1.0
    process.dispose()


def test_chance_is_one_stream_per_node_and_life() -> None:
    def program() -> None:
        print(random.random(), os.urandom(2), uuid.uuid4(), uuid.uuid1(), secrets.token_hex(4))
        print(random.Random().random(), random.SystemRandom().random())

    first, again = lines(program), lines(program)
    assert first == again
    assert lines(program, life=1) != first


def test_integers_may_be_choices_of_the_step() -> None:
    chooser = Chooser((2, 1), extends=True)
    options = Options(random="branch")

    def program():
        print(random.randrange(3), random.choice("ab"), random.random() < 1)

    assert lines(program, chooser=chooser, options=options) == ["2 b True"]
    assert chooser.taken == [(2, 3), (1, 2)]


def test_a_process_has_a_host_a_number_and_an_environment_of_its_own() -> None:
    def program() -> None:
        os.environ["SIMULATED"] = "yes"
        del os.environ["PATH"]
        print(os.getenv("SIMULATED"), "PATH" in os.environ, "SIMULATED" in list(os.environ))
        print(socket.gethostname(), os.uname().nodename, os.getpid() == os.getpid())

    assert lines(program, life=3) == ["yes False True", "a a True"]
    assert "SIMULATED" not in os.environ and "PATH" in os.environ
    assert socket.gethostname() != "a"


def test_dates_come_from_the_clock_of_the_process() -> None:
    import datetime as outside

    real = outside.datetime(2001, 9, 9, 1, 46, 40, tzinfo=outside.UTC)

    def program() -> None:
        import datetime

        first = datetime.datetime.now(datetime.UTC)
        time.sleep(60)
        again = datetime.datetime.now(datetime.UTC)
        print(again - first, first == real, isinstance(real, datetime.datetime), type(first))
        print(datetime.datetime.utcnow() == first.replace(tzinfo=None) + (again - first))
        print(datetime.date.today() == datetime.datetime.today().date())
        print(isinstance(first, datetime.date), pickle.loads(pickle.dumps(first)) == first)

    assert lines(program) == [
        "0:01:00 True True <class 'datetime.datetime'>",
        "True",
        "True",
        "True True",
    ]
    import datetime

    assert datetime is outside and isinstance(real, datetime.datetime)


def test_code_outside_sees_the_originals() -> None:
    process = run(lambda: time.sleep(1), events=0)
    with Table():
        before = time.monotonic()
        assert time.monotonic() >= before > 0.5
        assert os.getpid() != 1000
        process.dispose()


def test_a_thread_that_reads_the_clock_for_ever_is_stopped_as_if_it_slept() -> None:
    def program() -> None:
        end = time.monotonic() + 0.01
        while time.monotonic() < end:
            pass
        print("over")

    process = run(program)
    assert process.collect().logs == ["over"]
    assert process.spins == ["MainThread"]


def test_a_thread_that_polls_for_ever_waits_until_something_comes() -> None:
    heard: list[bytes] = []

    def program() -> None:
        end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        end.bind(("", 9))
        while len(heard) < 2:
            readable, _, _ = select.select([end], [end], [], 0.1)
            if readable:
                heard.append(end.recv(9))
        end.setblocking(False)
        while len(heard) < 3:
            with contextlib.suppress(BlockingIOError):
                heard.append(end.recv(9))

    with Table():
        process = process_of(program)
        process.begin()
        for number in range(3):
            assert len(heard) == number and process.own_events()
            process.receive("b", Datagram(1, 9, b"%d" % number))
        assert heard == [b"0", b"1", b"2"] and process.ended


def test_exceptions_that_nothing_handles_are_failures() -> None:
    def raises() -> None:
        raise ValueError("main")

    async def calls_back() -> None:
        asyncio.get_running_loop().call_soon(raises)
        task = asyncio.create_task(asyncio.wait_for(_fails(), 1))
        await asyncio.sleep(0.1)
        del task

    async def _fails() -> None:
        raise KeyError("task")

    failures = effects(raises).failures
    assert [(each.where, repr(each.error)) for each in failures] == [("main", "ValueError('main')")]
    found = {repr(each.error) for each in effects(lambda: asyncio.run(calls_back())).failures}
    assert found == {"ValueError('main')", "KeyError('task')"}


def test_a_failed_task_that_nobody_awaits_at_rest_is_a_failure_if_strict() -> None:
    kept = []

    async def fails() -> None:
        raise KeyError("kept")

    async def main() -> None:
        kept.append(asyncio.create_task(fails()))
        await asyncio.sleep(1)

    for strict in (False, True):
        process = run(lambda: asyncio.run(main()), events=0, options=Options(strict=strict))
        failures = process.collect().failures
        assert [repr(each.error) for each in failures] == ["KeyError('kept')"] * strict
        kept.clear()
        process.dispose()


def test_a_signal_runs_the_handler_in_the_main_thread_or_ends_the_process() -> None:
    async def served() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        await stop.wait()
        print("shut down")

    process = run(lambda: asyncio.run(served()), events=0)
    with Table():
        process.go(("signal", signal.SIGTERM))
    assert process.ended and process.collect().logs == ["shut down"]

    def plain() -> None:
        try:
            time.sleep(10)
        finally:
            print("unwound")

    process = run(plain, events=0)
    with Table():
        process.go(("signal", signal.SIGTERM))
    assert process.ended and process.exit_status == -signal.SIGTERM
    assert process.collect().logs == []
    process.dispose()


def test_sigint_is_a_keyboard_interrupt() -> None:
    def program() -> None:
        try:
            time.sleep(10)
        except KeyboardInterrupt:
            print("interrupted")

    process = run(program, events=0)
    with Table():
        process.go(("signal", signal.SIGINT))
    assert process.collect().logs == ["interrupted"]


def test_an_alarm_is_a_timer() -> None:
    def program() -> None:
        signal.signal(signal.SIGALRM, lambda *_: print("alarm", time.monotonic()))
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        time.sleep(2)
        print("over", time.monotonic())

    assert lines(program) == ["alarm 0.5", "over 2.0"]


def test_the_end_runs_what_was_registered_and_says_its_status() -> None:
    def program() -> None:
        atexit.register(print, "at exit")
        sys.exit(3)

    process = run(program)
    assert process.exit_status == 3 and process.collect().logs == ["at exit"]
    process = run(lambda: os._exit(4))
    assert process.ended and process.exit_status == 4


@pytest.mark.parametrize(
    "escape",
    [
        lambda: subprocess.run(["true"]),
        os.fork,
        lambda: os.execv("true", ["true"]),
        lambda: os.kill(os.getppid(), 0),
    ],
)
def test_what_leaves_the_machine_is_refused_by_name(escape: Any) -> None:
    def program() -> None:
        try:
            escape()
        except Exception:
            print("eaten")

    process = process_of(program)
    with Table(), pytest.raises(Escaped, match=r"test_process\.py:\d+: process `a` "):
        process.begin()
    process.dispose()


def test_a_loop_of_an_extension_module_is_refused_by_name() -> None:
    uvloop = pytest.importorskip("uvloop")

    async def main() -> None:
        await asyncio.sleep(1)

    def installs() -> None:
        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
        asyncio.new_event_loop().run_until_complete(main())

    programs: list[Any] = [
        lambda: asyncio.Runner(loop_factory=uvloop.new_event_loop).run(main()),
        lambda: uvloop.new_event_loop().run_until_complete(main()),
        installs,
    ]
    for program in programs:
        process = process_of(program)
        with Table(), pytest.raises(Escaped, match="runs on `uvloop"):
            process.begin()
        process.dispose()


def test_a_dead_process_raises_from_every_call() -> None:
    process = run(lambda: time.sleep(1), events=0)
    process.dispose()
    with pytest.raises(Killed):
        process.go(("timer", ""))
    with pytest.raises(Killed):
        process.send("b", b"")


class Noisy:
    def __del__(self) -> None:
        print("deleted", time.time())
        time.sleep(1)


class Closing:
    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *_: object) -> None:
        print("closing")
        await asyncio.sleep(1)
        print("closed")


async def _untidy() -> None:
    async def worker(queue: Any) -> None:
        noisy = Noisy()
        cycle = [noisy]
        cycle.append(cycle)  # type: ignore[arg-type]
        try:
            async with Closing():
                await queue.get()
        finally:
            print("finally")
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"late", ("b", 1))

    queue: Any = asyncio.Queue()
    workers = [asyncio.create_task(worker(queue)) for _ in range(2)]
    await asyncio.gather(*workers)


def _disposed(count: int) -> int:
    """How many objects are alive after so many processes were let go of."""
    with Table():
        for _ in range(count):
            process = process_of(lambda: asyncio.run(_untidy()))
            process.begin()
            process.dispose()
            assert not process.effects.sends
        del process
    gc.collect()
    return len(gc.get_objects())


def test_nothing_is_seen_of_what_a_process_does_when_it_is_let_go_of(capfd: Any) -> None:
    before = _disposed(20)
    assert _disposed(100) - before < 100
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_ten_thousand_processes_leave_nothing_behind(capfd: Any) -> None:
    before = _disposed(100)
    assert _disposed(10_000) - before < 100
    assert capfd.readouterr() == ("", "")


def test_a_thread_that_catches_everything_is_given_up() -> None:
    def stubborn() -> None:
        while True:
            try:
                time.sleep(1)
            except BaseException:
                continue

    process = run(stubborn, events=0)
    process.dispose()
    assert process.dead
