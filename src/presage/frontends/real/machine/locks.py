"""Locks of simulated threads: the one primitive on which `threading` and `queue` build the rest.

An acquire and a release are places where a thread may be stopped (`preempt`). A lock that code
outside of its process touches, such as a finalizer, never waits.
"""

from __future__ import annotations

import sys
from typing import Any

from presage.frontends.real.machine.effects import Killed
from presage.frontends.real.machine.process import Process, current

TIMEOUT_MAX = 9223372036.0  # seconds, as `threading.TIMEOUT_MAX`


class SimulatedLock:
    """As what `threading.Lock()` gives."""

    __slots__ = ("__weakref__", "is_locked")

    def __new__(cls) -> SimulatedLock:
        """Before Python 3.13 a program cannot call the class of its locks."""
        if sys.version_info < (3, 13):
            raise TypeError("cannot create '_thread.lock' instances")
        return new_lock()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As `threading.Lock.acquire`."""
        process = current()
        if process is None:
            self.is_locked = True
            return True
        seconds = _checked(blocking, timeout)
        process.note_lock()
        process.preempt()
        if self.is_locked:
            if not blocking:
                process.read_clock()  # a loop around this spins
                return False
            deadline = None if seconds is None else process.now + seconds
            if not process.block(self._is_free, deadline, "lock"):
                return False
        elif process.dead:
            raise Killed
        self.is_locked = True
        process.take(self)
        return True

    def release(self) -> None:
        """As `threading.Lock.release`."""
        if not self.is_locked:
            raise RuntimeError("release unlocked lock")
        self.is_locked = False
        process = current()
        if process is not None:
            process.let_go(self)

    def locked(self) -> bool:
        """As `threading.Lock.locked`."""
        return self.is_locked

    def _is_free(self) -> bool:
        return not self.is_locked

    def _at_fork_reinit(self) -> None:
        self.is_locked = False

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        state = "locked" if self.is_locked else "unlocked"
        return f"<{state} _thread.lock object at {id(self):#x}>"

    acquire_lock = acquire
    release_lock = release
    locked_lock = locked


SimulatedLock.__module__, SimulatedLock.__name__ = "_thread", "lock"
SimulatedLock.__qualname__ = "lock"


def new_lock() -> SimulatedLock:
    """What `_thread.allocate_lock` gives."""
    made = object.__new__(SimulatedLock)
    made.is_locked = False
    return made


def _checked(blocking: bool, timeout: float) -> float | None:
    """How long an acquire waits; None: for ever."""
    if timeout == -1:
        return None
    if not blocking:
        raise ValueError("can't specify a timeout for a non-blocking call")
    if timeout < 0:
        raise ValueError("timeout value must be a non-negative number")
    if timeout > TIMEOUT_MAX:
        raise OverflowError("timeout value is too large")
    return timeout


class LockByProcess:
    """A lock of a module that all processes share; each process has one of its own."""

    def __init__(self, name: str, original: Any) -> None:
        self._name = name
        self._original = original

    def _mine(self) -> Any:
        process: Process | None = current()
        if process is None:
            return self._original
        locks = process.notes.setdefault("locks", {})
        if self._name not in locks:
            locks[self._name] = new_lock()
        return locks[self._name]

    def acquire(self, *args: Any, **named: Any) -> bool:
        return bool(self._mine().acquire(*args, **named))

    def release(self) -> None:
        self._mine().release()

    def locked(self) -> bool:
        return bool(self._mine().locked())

    def _at_fork_reinit(self) -> None:
        self._mine()._at_fork_reinit()

    def __enter__(self) -> Any:
        return self._mine().__enter__()

    def __exit__(self, *raised: Any) -> None:
        self._mine().__exit__(*raised)
