"""End a program that never waits while a system is made; in a search the sandbox does that.

A system starts each real node once to learn the fields of its view, before any search begins. A
program that spins there would hang without a word.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from presage.errors import HandlerStuck
from presage.model.choice import Interrupted
from presage.model.source import frame_place
from presage.process.leaves import ORIGINALS
from presage.process.watchdog import native_watchdog

SECONDS = 10.0
AGAIN_SECONDS = 1.0  # until it is asked once more: code may catch what ends it
IDLE_SHARE = 0.001  # of a second of the processor per second: who takes less is waiting
NATIVE_TIMES = 6  # as long for code in C, where only the clock on the wall tells
CPU: Callable[[], float] = ORIGINALS[time, "process_time"]


class Overdue(Interrupted):
    """Ends code that runs too long."""


class Patience:
    """A context manager: what runs inside on this thread may take so many seconds.

    What is called by `run` is ended also if it waits in C; then the process ends with it.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._thread = threading.get_ident()
        self._over = threading.Event()
        self._where = ""
        self._dog = threading.Thread(target=self._look, name="presage-patience", daemon=True)

    def __enter__(self) -> Patience:
        self._dog.start()
        return self

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function that may wait in C for ever."""
        native = native_watchdog(self._seconds * NATIVE_TIMES)
        try:
            return native.call(1, function, *args)
        finally:
            native.stop()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._dog.join()
        if self._where:
            raise HandlerStuck(self._where, self._seconds) from error

    def _look(self) -> None:
        began = spent = CPU()
        seconds = self._seconds
        while not self._over.wait(seconds):
            spent, before = CPU(), spent
            if spent - before > IDLE_SHARE * seconds and spent - began < self._seconds / 2:
                seconds = AGAIN_SECONDS
                continue  # it gets on, on a machine that has much to do
            frame = sys._current_frames().get(self._thread)
            self._where = self._where or frame_place(frame)
            raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
            raise_in(ctypes.c_ulong(self._thread), ctypes.py_object(Overdue))
            seconds = AGAIN_SECONDS
