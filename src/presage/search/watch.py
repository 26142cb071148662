"""Keep user code honest while it runs: a fence around the outside world, and a watchdog.

The fence replaces the clock, the global `random` and the system's entropy by functions that refuse
to answer a handler and answer everybody else as before. The watchdog looks a few times a second
whether a handler has been in the same run for too long, and if so ends it and says where it was.

The only pure-package module that may import the clock, `random` and `threading`: to fence them off.
"""

from __future__ import annotations

import ctypes
import os
import random
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType, ModuleType, TracebackType
from typing import Any

from presage.errors import HandlerStuck, Impure
from presage.model.source import frame_place

SECONDS_DEFAULT = 10.0  # for one run of a handler or predicate
LOOKS_PER_SECOND = 5
GRACE_SECONDS = 2.0  # between asking a stuck handler to stop and giving up on it

CLOCKS = "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time sleep"
DRAWS = (
    "random uniform triangular randint choice randrange sample shuffle choices normalvariate"
    " lognormvariate expovariate vonmisesvariate gammavariate gauss betavariate paretovariate"
    " weibullvariate getrandbits randbytes"
)
FENCED: tuple[tuple[ModuleType, str], ...] = (
    *((time, name) for name in CLOCKS.split()),
    *((random, name) for name in DRAWS.split()),
    (random, "_urandom"),
    (os, "urandom"),
    (os, "getpid"),
)
# `logging` stamps each record with the time; nothing of that reaches a node's state.
EXEMPT = frozenset({"logging"})


class Stuck(BaseException):
    """Ends a handler that runs too long. Not an `Exception`: a handler must not catch it."""


class Watch:
    """A context manager around everything that runs user code.

    `give_up` is called with the error when a stuck handler cannot be ended from inside, because
    it waits in native code; it may end the process.
    """

    def __init__(
        self,
        seconds: float = SECONDS_DEFAULT,
        give_up: Callable[[HandlerStuck], None] | None = None,
    ) -> None:
        self.seconds = seconds
        self.error: Impure | HandlerStuck | None = None  # kept: a handler's `except` may eat it
        self._give_up = give_up
        self._running: dict[int, int] = {}  # thread -> number of the run it is in
        self._runs = 0
        self._over = threading.Event()
        self._dog = threading.Thread(target=self._look, name="presage-watchdog", daemon=True)
        self._saved: list[tuple[ModuleType, str, Any]] = []
        self._now = time.monotonic

    def __enter__(self) -> Watch:
        for module, name in FENCED:
            original = getattr(module, name)
            self._saved.append((module, name, original))
            setattr(module, name, self._fenced(module, name, original))
        self._dog.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        for module, name, original in self._saved:
            setattr(module, name, original)
        self._dog.join()

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call user code. Raises what the fence or the watchdog has to say about it."""
        thread = threading.get_ident()
        self._runs += 1
        self._running[thread] = self._runs
        try:
            return function(*args)
        except Stuck:
            pass
        finally:
            del self._running[thread]
            if self.error is not None:
                raise self.error

    def _fenced(
        self, module: ModuleType, name: str, original: Callable[..., Any]
    ) -> Callable[..., Any]:
        running, ident = self._running, threading.get_ident

        def refuse(*args: Any, **named: Any) -> Any:
            if ident() not in running:
                return original(*args, **named)
            caller = sys._getframe(1)
            if caller.f_globals.get("__name__") in EXEMPT:
                return original(*args, **named)
            self.error = Impure(f"{module.__name__}.{name.lstrip('_')}", frame_place(caller))
            raise self.error

        return refuse

    def _look(self) -> None:
        since: dict[int, tuple[int, float]] = {}
        asked: dict[int, float] = {}
        while not self._over.wait(1 / LOOKS_PER_SECOND):
            now = self._now()
            for thread, run in list(self._running.items()):
                known, started = since.get(thread, (0, 0.0))
                if known != run:
                    since[thread] = (run, now)
                    asked.pop(thread, None)
                elif now - started >= self.seconds and thread not in asked:
                    asked[thread] = now
                    self._end(thread)
                elif thread in asked and now - asked[thread] >= GRACE_SECONDS:
                    asked[thread] = now
                    self._end(thread)
                    if self._give_up is not None and isinstance(self.error, HandlerStuck):
                        self._give_up(self.error)

    def _end(self, thread: int) -> None:
        frame: FrameType | None = sys._current_frames().get(thread)
        if self.error is None:
            where = frame_place(frame) if frame is not None else "unknown place"
            self.error = HandlerStuck(where, self.seconds)
        raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
        raise_in(ctypes.c_ulong(thread), ctypes.py_object(Stuck))
