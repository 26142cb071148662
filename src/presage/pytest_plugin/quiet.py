"""What happens inside simulated processes is no business of pytest's own watchers.

A process that is let go of ends in the midst of its code: coroutines and threads end by exceptions,
and say so. pytest listens to hooks for that, and would blame the test. presage itself tells what
leaves a thread of a process that is alive.

Imports nothing of presage: the hooks have to stand below those that real nodes bring along.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PROCESS = "presage.frontends.real.machine.process"
KILLED = ("presage.frontends.real.machine.effects", "Killed")


def is_inside() -> bool:
    """Whether the code of a simulated process runs."""
    module = sys.modules.get(PROCESS)
    return module is not None and module.current() is not None


class Quiet:
    """Passes on what is outside of simulated processes."""

    def __init__(self, outer: Callable[[Any], Any]) -> None:
        self._outer = outer

    def __call__(self, args: Any) -> None:
        kind = args.exc_type
        if not is_inside() and (kind.__module__, kind.__name__) != KILLED:
            self._outer(args)


def install() -> None:
    """Stand before the hooks of pytest, from the first marked test on."""
    if not isinstance(sys.unraisablehook, Quiet) and PROCESS not in sys.modules:
        sys.unraisablehook = Quiet(sys.unraisablehook)
        threading.excepthook = Quiet(threading.excepthook)


@contextmanager
def logs_apart() -> Iterator[None]:
    """Keep what simulated processes log from pytest's handlers."""
    handlers = list(logging.getLogger().handlers)
    for handler in handlers:
        handler.addFilter(_is_outside)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(_is_outside)


def _is_outside(record: logging.LogRecord) -> bool:
    return not is_inside()
