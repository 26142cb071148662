"""End a program that never waits while a system is made; in a search the sandbox does that.

A system starts each real node once to learn the fields of its view, before any search begins. A
program that spins there would hang without a word.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from presage._core import Watchdog
from presage.errors import HandlerStuck
from presage.model.choice import Interrupted
from presage.model.source import frame_place
from presage.process.watchdog import native_watchdog

SECONDS = 10.0
LOOK_SECONDS = 0.2
AGAIN_SECONDS = 1.0  # until it is asked once more: code may catch what ends it


class Overdue(Interrupted):
    """Ends code that runs too long."""


def with_patience(function: Callable[..., Any], *args: Any, seconds: float = SECONDS) -> Any:
    """Call a function that may take so long; if it waits in C, then the process ends with it."""
    native, over, where = native_watchdog(seconds), threading.Event(), list[str]()
    look = threading.Thread(
        target=_look, args=(native, over, where, seconds), name="presage-patience", daemon=True
    )
    look.start()
    try:
        return native.call(1, function, *args)
    finally:
        over.set()
        look.join()
        native.stop()
        if where:
            raise HandlerStuck(where[0], seconds)


def _look(native: Watchdog, over: threading.Event, where: list[str], seconds: float) -> None:
    """End the run when it has taken its time, and again if it goes on; say `where` it was."""
    import ctypes  # seldom needed

    due = seconds
    while not over.wait(LOOK_SECONDS):
        for thread, _, spent in native.spent():
            if spent >= due:
                due = spent + AGAIN_SECONDS
                where.append(frame_place(sys._current_frames().get(thread)))
                raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
                raise_in(ctypes.c_ulong(thread), ctypes.py_object(Overdue))
