"""The one primitive on which `threading` and `queue` build the rest.

A lock belongs to whichever rank has taken it last: modules that ranks share may have some.
"""

from __future__ import annotations

from itertools import count

from presage.frontends.mpi.threads.lines import user_line
from presage.frontends.mpi.threads.threads import Threads, running_threads

TIMEOUT_MAX = 9223372036.0  # seconds, as `threading.TIMEOUT_MAX`
_OUTSIDE = count(1_000_000).__next__


class SimulatedLock:
    """As what `threading.Lock()` gives."""

    def __init__(self) -> None:
        self._holder: Threads | None = None
        threads = running_threads()
        # Sets of locks have the order in which they were made, in every run.
        self._number = _OUTSIDE() if threads is None else threads.count("lock")

    def __hash__(self) -> int:
        return self._number

    def __eq__(self, other: object) -> bool:
        return self is other

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As `threading.Lock.acquire`."""
        seconds = _checked(blocking, timeout)
        threads = running_threads()
        if threads is None or threads.is_over:
            return True
        waits = blocking and self._holder is threads  # others go on then anyway
        thread = threads.begin("Lock.acquire", yields=not waits)
        try:
            is_taken = self._holder is threads
            if is_taken and not (blocking and threads.block(self._is_free, seconds)):
                threads.tested_in_vain(f"lock at {user_line()}")
                return False
            self._holder = threads
            threads.touched()
        finally:
            thread.depth -= 1
        return True

    def release(self) -> None:
        """As `threading.Lock.release`."""
        if self._holder is None and (threads := running_threads()) and not threads.is_over:
            raise RuntimeError("release unlocked lock")
        self._holder = None

    def locked(self) -> bool:
        """As `threading.Lock.locked`."""
        return self._holder is not None and self._holder is running_threads()

    def _is_free(self) -> bool:
        return self._holder is None

    def _at_fork_reinit(self) -> None:
        self._holder = None

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"<{'locked' if self.locked() else 'unlocked'} lock {self._number}>"

    acquire_lock = acquire
    release_lock = release
    locked_lock = locked


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


class Sentinel(SimulatedLock):
    """A lock that is free once the thread which asked for it has ended; until Python 3.12."""

    def __init__(self) -> None:
        super().__init__()
        if (threads := running_threads()) is not None:
            threads.current.on_end.append(self._at_fork_reinit)


class Handle:
    """As `_thread._ThreadHandle` of Python 3.13: a thread that can be joined."""

    def __init__(self, ident: int = 0) -> None:
        self.ident = ident
        self._is_done = False

    def is_done(self) -> bool:
        return self._is_done

    def _set_done(self) -> None:
        self._is_done = True

    def join(self, timeout: float | None = None) -> None:
        """As `_ThreadHandle.join`."""
        threads = running_threads()
        if threads is None or self._is_done:
            return
        if self.ident == threads.current.number:
            raise RuntimeError("Cannot join current thread")
        threads.block(self.is_done, None if timeout is None or timeout < 0 else timeout)
