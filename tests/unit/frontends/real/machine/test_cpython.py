"""CPython's own tests of asyncio, threads and queues, on the simulated kernel.

A test that is refused by name, because it starts another program or forks, does not count. Every
other test passes, or stands below with the reason.
"""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SUITE = Path(__file__).with_name("suite.py")
QUICK = "locks queues taskgroups timeouts waitfor runners server protocols transports"
LONG = "tasks futures streams sock_lowlevel events selector_events"
REFUSED = re.compile(r"starts another program|forks|new_process")
SHARE = 0.98  # of all tests that are not refused

# What the tests need, and the simulated kernel has not.
TERMINALS = "pseudo-terminals"
TLS = "TLS runs in the clear: no certificate is checked, no cipher is there"
# These would wait in C, spin, or take 100,000 steps, until an alarm ends them.
NATIVE_WAITS = (
    r"CSimpleQueueTest\.test_(many_threads|order)|PySimpleQueueTest\.test_many_threads_nonblock"
    r"|test_can_interrupt_tight_loops|SetAsyncExc|SubinterpThreadingTests"
)
NATIVE = "C code that waits, prints or looks at threads by itself"
LOCKS = "the class of locks is another"
EXCEPTIONS = {
    r"test_events\..*_pty": TERMINALS,
    r"test_events\..*_pty_output": TERMINALS,
    r"test_events\..*ssl": TLS,
    r"test_streams\..*ssl": TLS,
    r"test_queue\.CSimpleQueueTest\.test_(many_threads|order)": NATIVE,
    r"test_queue\.PySimpleQueueTest\.test_many_threads": "fifty threads that spin: too many steps",
    r"test_threading\.ExceptHookTests\.test_excepthook(_thread_None)?$": NATIVE,
    r"test_threading\.InterruptMainTests\.test_can_interrupt_tight_loops": "spins without a call",
    r"test_threading\.SubinterpThreadingTests": "interpreters inside of the interpreter",
    r"test_threading\.ThreadTests\.test_PyThreadState_SetAsyncExc": NATIVE,
    r"test_threading\.ThreadTests\.test_lock_no_subclass": LOCKS,
}

needs_tests = pytest.mark.skipif(
    find_spec("test.test_asyncio") is None, reason="this Python came without its tests"
)


def outcomes(modules: list[str], seconds: int) -> list[tuple[str, str, str]]:
    command = [sys.executable, str(SUITE), NATIVE_WAITS, *modules]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


def judge(found: list[tuple[str, str, str]]) -> float:
    """The share that passed; fails with each outcome that nothing explains."""
    passed = [name for name, kind, _ in found if kind == "ok"]
    failed = [
        (name, kind, why)
        for name, kind, why in found
        if kind not in ("ok", "skip") and not (kind == "raised" and REFUSED.search(why))
        if not REFUSED.search(name)
    ]
    unknown = [
        f"{kind} {name}: {why[-300:]}"
        for name, kind, why in failed
        if not any(re.search(pattern, name) for pattern in EXCEPTIONS)
    ]
    assert not unknown, "\n".join(unknown)
    return len(passed) / (len(passed) + len(failed))


@needs_tests
def test_the_quick_ones_pass() -> None:
    found = outcomes([f"test.test_asyncio.test_{name}" for name in QUICK.split()], 100)
    assert len(found) > 200
    assert judge(found) == 1.0


@needs_tests
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_all_of_them_pass_but_for_the_exceptions() -> None:
    modules = [f"test.test_asyncio.test_{name}" for name in f"{QUICK} {LONG}".split()]
    found = outcomes([*modules, "test.test_queue", "test.test_threading"], 900)
    assert len(found) > 1500
    assert judge(found) >= SHARE
