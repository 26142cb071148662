"""Threads: they share the interpreter and the tables, and neither deadlock nor lose a state.

A search that deadlocks cannot be ended from inside, so what might hang runs in a process of its own
and under a guard.
"""

import os
import subprocess
import sys
from textwrap import dedent
from time import sleep  # taken before it is fenced, so that a handler can be slow
from types import SimpleNamespace

import pytest

from presage import Service, System, Verdict, action, always, check, on, sometimes
from presage.errors import BadSystem
from presage.limits import Limits
from presage.search import threads as module
from presage.search.threads import BY_CHANCE, Searched, settle
from presage.systems import paxos

GUARD = 60  # seconds; only against a hang
THREADS = 4


class Slow(Service):
    """Each handler lets go of the interpreter for a while, so that all threads are inside."""

    peer: str
    n: int = 0
    heard: int = 0

    @action(when=lambda self: self.n < 6)
    def go(self):
        sleep(0.002)
        self.n += 1
        self.send(self.peer, self.n)

    @on(int)
    def hear(self, n):
        sleep(0.002)
        self.heard = (self.heard + n) % 5


@always
def bounded(world):
    sleep(0.001)
    return Verdict(all(node.heard < 5 for node in world.nodes))


@sometimes
def heard(world):
    return world["b"].heard == 4


def slow(node=Slow):
    nodes = {"a": node(peer="b"), "b": node(peer="a")}
    return System(nodes, properties=[bounded, heard])


class Quick(Slow):
    """The same without waiting."""

    @action(when=lambda self: self.n < 6)
    def go(self):
        self.n += 1
        self.send(self.peer, self.n)

    @on(int)
    def hear(self, n):
        self.heard = (self.heard + n) % 5


@pytest.mark.timeout(GUARD)
@pytest.mark.parametrize("search", ["bfs", "dfs"])
def test_slow_handlers_on_many_threads_finish_with_the_right_counts(search):
    expected = check(slow(Quick), traces=None)
    assert expected.unique > 5_000
    report = check(slow(), search=search, threads=THREADS, traces=None)
    assert (report.unique, report.generated) == (expected.unique, expected.generated)
    assert report.properties == {"bounded": "held", "heard": "reached"}
    assert report.exhausted
    # Two threads may both be in a step that none has finished yet; no step is left out.
    assert 200 < expected.handler_runs <= report.handler_runs < 2000


@pytest.mark.timeout(GUARD)
def test_slow_handlers_on_many_threads_walk_as_on_one():
    one, many = (
        check(slow(), search="walk", walks=40, threads=threads, traces=None)
        for threads in (1, THREADS)
    )
    assert (one.unique, one.generated, one.executions) == (many.unique, many.generated, 40)


@pytest.mark.timeout(GUARD)
@pytest.mark.parametrize("search", ["bfs", "dfs", "walk"])
def test_a_limit_ends_all_threads(search):
    class Endless(Slow):
        @action
        def go(self):
            sleep(0.002)
            self.n += 1
            self.send(self.peer, self.n)

    report = check(slow(Endless), search=search, threads=THREADS, seconds=0.3, traces=None)
    assert (report.stopped_by, report.exhausted) == ("seconds", False)


@pytest.mark.usefixtures("no_good_runs")
@pytest.mark.parametrize("keep_going", [False, True])
def test_threads_tell_of_a_violation_what_one_thread_tells(keep_going):
    def told(threads):
        system = paxos.system(clients=2, bug="last_promise")
        report = check(system, threads=threads, keep_going=keep_going, traces=None)
        steps = [step.fingerprint for found in report.violations for step in found.trace.steps]
        counts = (report.unique, report.generated, report.depth, report.stopped_by)
        return steps, counts, report.properties, report.exhausted

    expected = told(1)
    assert expected[0]
    for _ in range(2):
        assert told(3) == expected == told(8)


def test_where_there_is_no_time_to_look_again_it_is_said_that_traces_may_differ():
    limits = Limits(threads=2)
    found = [SimpleNamespace(at=1, events=[7])]
    counts = {"unique": 5, "resumed_from": None, "notes": [], "checkpoints": 0}
    outcome = SimpleNamespace(found=found, seconds=1.0, **counts)
    again = SimpleNamespace(found=[], seconds=2.0, **counts)
    searched = settle(outcome, limits, (), lambda changed: again)
    assert searched == Searched(outcome, found, 3.0, [BY_CHANCE], 0)
    alone = settle(outcome, Limits(threads=1), (), lambda changed: again)
    assert alone == Searched(outcome, found, 1.0, [], 0)


def test_auto_is_all_cores_where_the_order_of_states_does_not_matter(monkeypatch):
    monkeypatch.setattr(module, "cores", lambda: 6)
    several = module.with_defaults("auto", "bfs", ordered=False)
    assert several == (6, module.ALONE_UNTIL)
    assert module.with_defaults("auto", "bfs", ordered=True) == (1, 0)
    assert module.with_defaults("auto", "walk", ordered=False) == (1, 0)
    assert module.with_defaults(3, "walk", ordered=False) == (3, 0)
    monkeypatch.setattr(module, "cores", lambda: 1000)
    assert module.with_defaults("auto", "bfs", ordered=False)[0] == module.THREADS_MAX


@pytest.mark.parametrize("threads", [0, -1, 257, 10**9, "all", 1.5])
def test_a_number_of_threads_that_makes_no_sense_is_refused(threads):
    with pytest.raises(BadSystem, match="`threads` is .*\n.*\n.*from 1 to 256"):
        check(slow(Quick), threads=threads, traces=None)


UNSTARTED = """
    import resource
    import time
    from pathlib import Path
    from presage import check
    from presage.errors import NoThread
    from presage.systems import counter

    system = counter.system(threads=2)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    # Too little for 200 threads; more than the 40 MiB of old stacks that the C library may keep.
    room = pages * resource.getpagesize() + (100 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    for search in ("bfs", "dfs", "walk"):
        try:
            check(system, search=search, threads=200, traces=None)
        except NoThread as error:
            print(error)
    while len(list(Path("/proc/self/task").iterdir())) > 1:
        time.sleep(0.01)  # a busy machine takes its time to end those that had started
    print(check(system, threads=1, traces=None).stopped_by)
"""


def test_threads_that_cannot_start_are_an_error_and_no_hang():
    ended = subprocess.run(
        [sys.executable, "-c", dedent(UNSTARTED)],
        env=os.environ | {"MALLOC_ARENA_MAX": "1"},  # others take addresses, when they like
        capture_output=True,
        text=True,
        timeout=GUARD,
        check=False,
    )
    assert ended.stderr == ""
    assert ended.stdout.count("of 200 could not be started") == 3
    assert ended.stdout.count("way out: give fewer `--threads`, or raise the limit") == 3
    assert ended.stdout.endswith("violation\n")


UNWATCHED = """
    import resource
    from pathlib import Path
    from presage import check
    from presage.errors import NoThread
    from presage.systems import counter

    system = counter.system(threads=2)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    room = pages * resource.getpagesize() + (6 << 20)  # less than the stack of one thread
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    try:
        check(system, traces=None)
    except NoThread as error:
        print(error)
"""


def test_a_watchdog_that_cannot_start_is_an_error_of_the_check():
    ended = subprocess.run(
        [sys.executable, "-c", dedent(UNWATCHED)],
        env=os.environ | {"MALLOC_ARENA_MAX": "1"},
        capture_output=True,
        text=True,
        timeout=GUARD,
        check=False,
    )
    assert ended.stderr == ""
    assert ended.stdout.startswith("the watchdog of handlers could not be started: ")


FAILING = """
    import sys
    from presage import PresageError, Service, System, action, always, check

    class Node(Service):
        n: int = 0
        @action(when=lambda self: self.n < 40)
        def go(self) -> None:
            import time
            self.n += 1
            if self.n == {handler}:
                time.time()

    @always
    def late(world):
        import time
        return world["a"].n != {prop} or time.time() > 0

    system = System({{"a": Node(), "b": Node()}}, properties=[late])
    for search in ("bfs", "dfs", "walk"):
        for threads in (2, 2, 2, 4, 8):
            try:
                check(system, search=search, threads=threads, traces=None)
            except PresageError as error:
                continue
            sys.exit("nothing was noticed")
"""


@pytest.mark.parametrize(
    ("handler", "prop"),
    [(20, -1), (-1, 20), (-1, 0)],
    ids=["in a handler", "in a property", "in the initial state"],
)
def test_an_error_on_one_thread_ends_them_all(handler, prop):
    program = dedent(FAILING).format(handler=handler, prop=prop)
    ended = subprocess.run(
        [sys.executable, "-P", "-c", program],
        check=False,
        capture_output=True,
        text=True,
        timeout=GUARD / 3,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
