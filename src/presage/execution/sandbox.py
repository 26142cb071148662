"""Keep user code honest while it runs: what it may not call is refused, what never ends is ended.

Handlers, guards, properties and observers run under a watch. While they do, the leaves (see
`presage.process.leaves`) refuse to tell them of the world outside. The watchdog looks a few times a
second whether one has been in the same run for too long, and if so ends it and says where it was.
On a busy machine a run may take any time on the wall: what counts is `Watchdog.spent`.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from presage._core import Watchdog
from presage.errors import HandlerStuck, Impure, NoThread
from presage.model.choice import Interrupted
from presage.model.source import frame_place
from presage.process.fence import take_leaves  # who knows the answers of processes, too
from presage.process.leaves import HANDLERS, ORIGINALS, TABLE
from presage.process.watchdog import native_watchdog

SECONDS_DEFAULT = 10.0  # for one run of a handler or predicate
LOOKS_PER_SECOND = 5
GRACE_SECONDS = 2.0  # between asking a stuck handler to stop and giving up on it
WATCHDOG = "the watchdog of handlers"
DEBUGGERS = {"bdb", "pdb", "pydevd", "_pydevd_bundle"}  # who stops there takes any time

NOW: Callable[[], float] = ORIGINALS[time, "monotonic"]
CPU: Callable[[], float] = ORIGINALS[time, "process_time"]


class Stuck(Interrupted):
    """Ends a handler that runs too long."""


class Sandbox:
    """A context manager around everything that runs user code.

    `give_up` is called with the error when a stuck handler cannot be ended from inside, because
    it waits in native code; it may end the process. If it does not, the watchdog in Rust does.
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
        self._native: Watchdog | None = None  # for code that keeps the interpreter

    def __enter__(self) -> Sandbox:
        self._native = native_watchdog(self.seconds)
        try:
            self._dog.start()
        except RuntimeError as error:
            self._native.stop()
            raise NoThread(WATCHDOG, str(error)) from None
        take_leaves()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._native is not None:
            self._native.stop()
        TABLE.down()
        self._dog.join()

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call user code. Raises what the fence or the watchdog has to say about it."""
        thread = threading.get_ident()
        outer, running, native = HANDLERS.get(thread), self._running, self._native
        HANDLERS[thread] = self
        self._runs = running[thread] = run = self._runs + 1
        try:
            return function(*args) if native is None else native.call(run, function, *args)
        except Stuck:
            pass
        finally:
            del running[thread]
            if outer is None:
                del HANDLERS[thread]
            else:
                HANDLERS[thread] = outer
            if self.error is not None:
                raise self.error

    def _look(self) -> None:
        asked: dict[int, tuple[int, float]] = {}  # thread -> its run, and when it was asked to end
        while not self._over.wait(1 / LOOKS_PER_SECOND):
            assert self._native is not None
            for thread, run, seconds in self._native.spent():
                if seconds < self.seconds or self._running.get(thread) != run:
                    continue
                known, before = asked.get(thread, (0, 0.0))
                if known != run:
                    asked[thread] = run, seconds
                    self._end(thread)
                elif seconds - before >= GRACE_SECONDS:
                    asked[thread] = run, seconds
                    self._end(thread)
                    self._bear_debugger(thread)
                    if self._give_up is not None and isinstance(self.error, HandlerStuck):
                        self._give_up(self.error)

    def _bear_debugger(self, thread: int) -> None:
        """Let the process live while somebody looks at the stuck code."""
        frame = sys._current_frames().get(thread)
        while frame is not None:
            if str(frame.f_globals.get("__name__")).partition(".")[0] in DEBUGGERS:
                if self._native is not None:
                    self._native.forget(thread)
                return
            frame = frame.f_back

    def _end(self, thread: int) -> None:
        frame: FrameType | None = sys._current_frames().get(thread)
        if self.error is None:
            where = frame_place(frame) if frame is not None else "unknown place"
            self.error = HandlerStuck(where, self.seconds)
        import ctypes  # seldom needed

        raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
        raise_in(ctypes.c_ulong(thread), ctypes.py_object(Stuck))
