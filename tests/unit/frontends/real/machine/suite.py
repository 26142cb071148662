"""CPython's own tests, each in a simulated process: `python suite.py '' MODULE...`.

Prints what became of each. The first argument is a pattern of those that are not even begun.

Threads take turns, timers come when nothing else can happen. A test that calls into C and stays
there is ended by a real alarm. `gc.collect` is let through, because tests wait for finalizers.
"""

import gc
import importlib
import json
import re
import signal
import sys
import unittest
from collections.abc import Iterator
from typing import Any

from presage.frontends.real.machine import kernel
from presage.frontends.real.machine.names import Host
from presage.frontends.real.machine.process import Process
from presage.process.leaves import ORIGINALS, TABLE, extend

EVENTS_MAX = 200_000
SECONDS_MAX = 20
assert kernel


class Slow(BaseException):
    """A test took too long."""


def flat(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from flat(each)
        else:
            yield each


def drive(process: Process) -> None:
    """Run a process to its end: threads in turn, timers last."""
    process.begin()
    for number in range(EVENTS_MAX):
        own = process.own_events()
        if process.ended or not own:
            return
        first = [event for event in own if event[0] != "timer"] or own
        process.go(first[number % len(first)])


def outcome(test: unittest.TestCase) -> tuple[str, str]:
    result = unittest.TestResult()
    process = Process(Host("a", ("a", "b")), lambda: unittest.TestSuite([test]).run(result))

    def end(*_: Any) -> None:
        process.dead = True
        raise Slow

    ORIGINALS[signal, "signal"](signal.SIGALRM, end)
    ORIGINALS[signal, "setitimer"](signal.ITIMER_REAL, SECONDS_MAX)
    try:
        drive(process)
        ended = process.ended
    except BaseException as error:
        return "raised", repr(error)
    finally:
        ORIGINALS[signal, "setitimer"](signal.ITIMER_REAL, 0)
        process.dispose()
    for kind, found in (("error", result.errors), ("fail", result.failures)):
        if found:
            return kind, found[0][1]
    if not ended:
        return "stuck", ""
    return ("skip", result.skipped[0][1]) if result.skipped else ("ok", "")


def main(left_out: str, names: list[str]) -> None:
    extend(answers={(gc, "collect"): ORIGINALS[gc, "collect"]})
    TABLE.up()
    for name in names:
        module = importlib.import_module(name)
        gc.freeze()  # what is loaded is no garbage, and tests collect often
        for test in flat(unittest.defaultTestLoader.loadTestsFromModule(module)):
            is_left_out = left_out and re.search(left_out, test.id())
            kind, why = ("left out", "") if is_left_out else outcome(test)
            print(json.dumps((test.id(), kind, why[:400] + why[-400:])), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
