"""What is left to do when a thread ends: a greenlet can be unwound only by the thread that made it.

One that still stands somewhere then is never freed, nor is what its frames hold: the garbage
collector does not look into them.
"""

from __future__ import annotations

from contextlib import suppress
from threading import get_ident, local
from typing import Protocol
from weakref import WeakSet

from presage.errors import PresageError


class Leaver(Protocol):
    """Somebody who keeps greenlets of several threads."""

    def leave(self, thread: int) -> None:
        """Unwind those of a thread; called by the thread itself."""
        ...


_LEAVERS: WeakSet[Leaver] = WeakSet()
_THREAD = local()


def leave_at_end(leaver: Leaver) -> None:
    """Let `leaver` unwind what it keeps of this thread when the thread ends."""
    _LEAVERS.add(leaver)
    if not hasattr(_THREAD, "end"):
        _THREAD.end = _End()


class _End:
    """Kept by a thread; goes with it."""

    def __init__(self) -> None:
        self._thread = get_ident()

    def __del__(self) -> None:
        for leaver in list(_LEAVERS or ()):  # None while the interpreter ends
            with suppress(PresageError):  # of what is thrown away, nobody asks how it ends
                leaver.leave(self._thread)
