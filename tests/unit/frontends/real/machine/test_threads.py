"""Threads of a simulated process: CPython's own `threading` on greenlets."""

import asyncio
import contextvars
import functools
import queue
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from unit.frontends.real.machine.fair_driver import Table, effects, process_of, run, table

from presage.frontends.real.machine.effects import Options
from presage.frontends.real.machine.process import current
from presage.model.choice import Chooser, following

pytestmark = pytest.mark.usefixtures(table.__name__)


def lines(program: Callable[[], Any], **options: Any) -> list[str]:
    found = effects(program, **options)
    assert not found.failures
    return found.logs


def test_threads_queues_and_joins_work_as_ever() -> None:
    def program() -> None:
        work: queue.Queue[int | None] = queue.Queue(1)
        done = []

        def worker() -> None:
            while (each := work.get()) is not None:
                done.append((threading.current_thread().name, each))
                time.sleep(0.5)

        threads = [threading.Thread(target=worker) for _ in range(2)]
        for each in threads:
            each.start()
        for number in (0, 1, 2, 3, None, None):
            work.put(number)
        for each in threads:
            each.join()
        print(sorted(number for _, number in done), sorted({name for name, _ in done}))
        print([each.is_alive() for each in threads], threading.active_count())
        print(threading.current_thread() is threading.main_thread(), time.monotonic())

    assert lines(program) == [
        "[0, 1, 2, 3] ['Thread-1 (worker)', 'Thread-2 (worker)']",
        "[False, False] 1",
        "True 1.0",
    ]
    assert threading.active_count() == len(threading.enumerate())


def test_events_conditions_semaphores_barriers_and_timers_work_as_ever() -> None:
    def program() -> None:
        event, condition = threading.Event(), threading.Condition()
        barrier, semaphore = threading.Barrier(2), threading.Semaphore(0)
        lock = threading.RLock()
        print(
            event.wait(2.5),
            time.monotonic(),
            lock.acquire(),
            lock.acquire(),
            semaphore.acquire(timeout=1),
        )

        def other() -> None:
            print("contended", lock.acquire(timeout=1))
            with condition:
                condition.notify()
            barrier.wait()
            semaphore.release()

        threading.Thread(target=other).start()
        with condition:
            print(condition.wait(10))
        barrier.wait()
        print(semaphore.acquire())
        threading.Timer(3, print, ["timer"]).start()

    assert lines(program) == [
        "False 2.5 True 1 False",
        "contended False",
        "True",
        "True",
        "timer",
    ]


def test_locals_and_contexts_belong_to_threads() -> None:
    def program() -> None:
        here, variable = threading.local(), contextvars.ContextVar("variable", default="none")

        class Initialized(threading.local):
            def __init__(self, value: str) -> None:
                self.value = value

        kept = Initialized("first")
        here.name = kept.value = "main"
        variable.set("main")

        def other() -> None:
            print(hasattr(here, "name"), kept.value, variable.get())
            here.name = "other"

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        print(here.name, kept.value, variable.get())

    assert lines(program) == ["False first none", "main main main"]


def test_executors_work_and_end_with_the_process() -> None:
    def program() -> None:
        with ThreadPoolExecutor(2) as pool:
            print(list(pool.map(lambda n: n * n, range(4))))
        left = ThreadPoolExecutor(2)
        left.submit(lambda: print(threading.current_thread().name))

    assert lines(program) == ["[0, 1, 4, 9]", "ThreadPoolExecutor-1_0"]


def test_asyncio_uses_threads() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        name = lambda: threading.current_thread().name  # noqa: E731
        print(await asyncio.gather(asyncio.to_thread(name), loop.run_in_executor(None, name)))
        heard = asyncio.Event()
        threading.Thread(target=lambda: loop.call_soon_threadsafe(heard.set)).start()
        print(await heard.wait())

    assert lines(lambda: asyncio.run(main())) == ["['asyncio_0', 'asyncio_0']", "True"]


def test_loops_of_two_threads_are_apart() -> None:
    async def sleeps(seconds: float) -> None:
        await asyncio.sleep(seconds)
        print(threading.current_thread().name, seconds, asyncio.get_running_loop().time())

    def program() -> None:
        other = threading.Thread(target=lambda: asyncio.run(sleeps(1)), name="other")
        other.start()
        asyncio.run(sleeps(2))
        other.join()
        try:
            asyncio.get_running_loop()
        except RuntimeError as error:
            print(error)

    assert lines(program) == ["other 1 1.0", "MainThread 2 2.0", "no running event loop"]


def test_an_exception_that_leaves_a_thread_is_a_failure() -> None:
    def program() -> None:
        def fails() -> None:
            raise ValueError("x")

        threading.Thread(target=fails, name="t").start()

    (failure,) = effects(program).failures
    assert (failure.where, repr(failure.error)) == ("t", "ValueError('x')")


def test_where_several_can_run_each_is_an_own_event() -> None:
    def program() -> None:
        for name in "xy":
            threading.Thread(target=print, args=(name,), name=name).start()
        time.sleep(1)

    def waits() -> None:
        gate = threading.Event()
        for name in "xy":
            threading.Thread(target=lambda n=name: print(gate.wait(), n), name=name).start()
        gate.set()

    process = run(waits, events=0)
    assert process.own_events() == [("run", "x"), ("run", "y")]
    with Table():
        process.go(("run", "y"))
    assert process.collect().logs == ["True y", "True x"]
    assert lines(program) == ["x", "y"]


def every_run(program: Callable[[], Any], preemptions: int) -> list[list[str]]:
    """What a program prints in each of its runs, over all choices and orders of threads."""
    found: list[list[str]] = []
    orders: list[tuple[int, ...]] = [()]
    options = Options(preemptions=preemptions)
    with Table():
        while orders:
            chooser = Chooser(orders.pop(), extends=True)
            process = process_of(program, chooser=chooser, options=options)
            process.begin()
            while not process.ended and (own := process.own_events()):
                process.go(own[chooser.pick(len(own))])
            found.append(process.collect().logs)
            process.dispose()
            further = following(chooser.taken)
            orders += [tuple(further)] if further is not None else []
    return found


def lost_update() -> None:
    lock, kept = threading.Lock(), {"count": 0}

    def increment() -> None:
        with lock:
            read = kept["count"]
        with lock:
            kept["count"] = read + 1

    threads = [threading.Thread(target=increment) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    print(kept["count"])


def test_a_lost_update_needs_a_preemption() -> None:
    assert {each[0] for each in every_run(lost_update, 0)} == {"2"}
    runs = every_run(lost_update, 1)
    assert {each[0] for each in runs} == {"1", "2"}
    assert len(runs) < 500


def test_a_lock_held_by_a_preempted_thread_excludes_others() -> None:
    def program() -> None:
        lock, kept = threading.Lock(), [0]

        def increment() -> None:
            with lock:
                read = kept[0]
                threading.Event().is_set()
                kept[0] = read + 1

        threads = [threading.Thread(target=increment) for _ in range(2)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        print(kept[0])

    assert {each[0] for each in every_run(program, 2)} == {"2"}


def test_a_deadlock_leaves_nothing_to_happen() -> None:
    def program() -> None:
        one, two = threading.Lock(), threading.Lock()

        def locks(first: Any, second: Any) -> None:
            with first, second:
                pass

        other = threading.Thread(target=locks, args=(two, one))
        other.start()
        locks(one, two)
        other.join()
        print("over")

    runs = every_run(program, 1)
    assert ["over"] in runs and [] in runs


@pytest.mark.parametrize("seconds", [0, 0.001])
def test_a_thread_that_polls_lets_others_run(seconds: float) -> None:
    def program() -> None:
        done: list[int] = []
        threading.Thread(target=lambda: (time.sleep(0.01), done.append(1))).start()
        while not done:
            time.sleep(seconds)
        print("seen")

    assert lines(program) == ["seen"]


def test_a_thread_that_asks_a_queue_for_ever_lets_others_run() -> None:
    def program() -> None:
        work: queue.Queue[int] = queue.Queue()
        found: list[int] = []

        def reader() -> None:
            while len(found) < 3:
                try:
                    found.append(work.get(block=False))
                except queue.Empty:
                    pass

        threads = [threading.Thread(target=reader) for _ in range(2)]
        for each in threads:
            each.start()
        for number in range(3):
            work.put(number)
            time.sleep(1)
        for each in threads:
            each.join()
        print(sorted(found))

    assert lines(program) == ["[0, 1, 2]"]


def test_a_thread_that_takes_many_locks_is_stopped_only_where_it_is_not_alone() -> None:
    def many() -> None:
        lock = threading.Lock()
        for _ in range(30_000):
            with lock:
                pass
        print("over")

    def beside() -> None:
        other = threading.Thread(target=time.sleep, args=(9,))
        other.start()
        many()

    alone = run(many)
    assert (alone.collect().logs, alone.spins) == (["over"], [])
    crowded = run(beside)
    assert (crowded.collect().logs, crowded.spins) == (["over"], ["MainThread"])
    with Table():
        alone.dispose()
        crowded.dispose()


def test_code_outside_keeps_its_threads_and_locks() -> None:
    process = run(lambda: time.sleep(1), events=0)
    with Table():
        heard = threading.Event()
        thread = threading.Thread(target=heard.set)
        thread.start()
        thread.join(5)
        assert heard.is_set() and type(threading.Lock()).__module__ == "_thread"
        assert isinstance(threading.local(), threading.local)
        assert functools.lru_cache(len)("xx") == 2
    process.dispose()


def test_a_call_that_returned_keeps_nothing_though_it_left_a_lock_locked() -> None:
    def program() -> None:
        class Thing:
            def run(self) -> None:
                pass

        def hold(thread_too: bool) -> weakref.ref[Thing]:
            thing = Thing()
            if thread_too:
                threading.Thread(target=thing.run).start()  # waits for a lock that another frees
            else:
                threading.Lock().acquire()
            return weakref.ref(thing)

        other = threading.Thread(target=time.sleep, args=(9,))
        other.start()
        for thread_too in (False, True):
            held = hold(thread_too)
            time.sleep(1)
            print(held())
        other.join()

    assert lines(program) == ["None", "None"]


def test_a_lock_that_another_thread_frees_is_held_by_nobody() -> None:
    def program() -> None:
        gate, mine = threading.Lock(), threading.Lock()

        def opener() -> None:
            gate.release()
            time.sleep(9)

        gate.acquire()
        threading.Thread(target=opener).start()
        gate.acquire()
        thread = current().thread
        print(len(thread.taken))
        gate.release()
        with mine:
            print(len(thread.taken))
        print(len(thread.taken))

    assert lines(program) == ["1", "1", "0"]
