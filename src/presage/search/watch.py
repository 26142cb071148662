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
from presage.model.choice import Interrupted
from presage.model.source import frame_place

SECONDS_DEFAULT = 10.0  # for one run of a handler or predicate
LOOKS_PER_SECOND = 5
GRACE_SECONDS = 2.0  # between asking a stuck handler to stop and giving up on it

CLOCKS = (
    "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns"
    " thread_time thread_time_ns clock_gettime clock_gettime_ns sleep"
    " localtime gmtime ctime asctime strftime"
)
# Given a time, these only convert it; the number of arguments from which on they do.
CONVERTS = {"localtime": 1, "gmtime": 1, "ctime": 1, "asctime": 1, "strftime": 2}
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


NOW = time.monotonic  # taken before the fence goes up


class Stuck(Interrupted):
    """Ends a handler that runs too long."""


class _Fence:
    """Stands while any watch is active; several may be, in any order of coming and going."""

    def __init__(self) -> None:
        self._watches: list[Watch] = []
        self._saved: list[tuple[ModuleType, str, Any]] = []
        self._lock = threading.Lock()

    def enter(self, watch: Watch) -> None:
        with self._lock:
            if not self._watches:
                for module, name in FENCED:
                    original = getattr(module, name)
                    self._saved.append((module, name, original))
                    setattr(module, name, self._fenced(module, name, original))
            self._watches.append(watch)

    def leave(self, watch: Watch) -> None:
        with self._lock:
            self._watches.remove(watch)
            if not self._watches:
                for module, name, original in self._saved:
                    setattr(module, name, original)
                self._saved.clear()

    def _fenced(
        self, module: ModuleType, name: str, original: Callable[..., Any]
    ) -> Callable[..., Any]:
        watches, ident = self._watches, threading.get_ident
        converts = CONVERTS.get(name, sys.maxsize)

        def refuse(*args: Any, **named: Any) -> Any:
            thread = ident()
            inside = [watch for watch in watches if watch.inside(thread)]
            if not inside or len(args) >= converts:
                return original(*args, **named)
            caller = sys._getframe(1)
            if caller.f_globals.get("__name__") in EXEMPT:
                return original(*args, **named)
            error = Impure(f"{module.__name__}.{name.lstrip('_')}", frame_place(caller))
            inside[-1].error = error
            raise error

        return refuse


FENCE = _Fence()


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
        self._now = NOW

    def __enter__(self) -> Watch:
        FENCE.enter(self)
        self._dog.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        FENCE.leave(self)
        self._dog.join()

    def inside(self, thread: int) -> bool:
        """Whether user code under this watch runs on `thread`."""
        return thread in self._running

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
