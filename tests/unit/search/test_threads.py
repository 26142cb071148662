"""Threads: they share the interpreter and the tables, and neither deadlock nor lose a state.

A search that deadlocks cannot be ended from inside, so what might hang runs in a process of its own
and under a guard.
"""

import subprocess
import sys
from textwrap import dedent
from time import sleep  # taken before it is fenced, so that a handler can be slow

import pytest

from presage import Service, System, Verdict, action, always, check, on, sometimes

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
