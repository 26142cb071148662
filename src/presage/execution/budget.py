"""What a whole command may spend: its seconds, and the patience of whoever presses Ctrl-C.

There is one budget from loading to the last explanation. Each phase asks it how much is left, so a
limit of 40 seconds is 40 seconds, not 40 for each phase.

The first Ctrl-C asks everything that runs to stop and to tell what it has; so does any other signal
whose handler calls `presage._core.stop_once`. The second one ends the command.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from presage._core import forget_stop, listen_for_stop, stop_once, stop_requested
from presage._results import StopReason
from presage.execution.sandbox import NOW


class Budget:
    """The seconds of one command, counted from when this is made; None: as many as it takes."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self._began = NOW()
        self._interrupted = False
        self._watching = False

    @property
    def interrupted(self) -> bool:
        """Whether somebody asked the command to stop."""
        return self._interrupted or stop_requested()

    @property
    def spent_by(self) -> StopReason | None:
        """What ended the budget, INTERRUPT or SECONDS; None while there is some left."""
        if self.interrupted:
            return StopReason.INTERRUPT
        return StopReason.SECONDS if self.remaining() == 0 else None

    def remaining(self) -> float | None:
        """The seconds that are left; None: no end."""
        if self.interrupted:
            return 0.0
        if self.seconds is None:
            return None
        return max(0.0, self._began + self.seconds - NOW())

    def deadline(self, most: float) -> Deadline:
        """The end of a phase that takes `most` seconds, or what is left."""
        remaining = self.remaining()
        return Deadline(self, NOW() + (most if remaining is None else min(most, remaining)))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Take the first Ctrl-C for a request to stop. May be entered again inside itself."""
        if self._watching:
            yield
            return
        self._watching = True
        listen_for_stop(True)
        replaced = _replace_handler()
        try:
            yield
        finally:
            if replaced:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            self._watching = False
            self._interrupted = self.interrupted
            listen_for_stop(False)
            forget_stop()


class Deadline:
    """A moment, and whether a phase may go on."""

    def __init__(self, budget: Budget, at: float) -> None:
        self._budget = budget
        self._at = at

    def allows(self) -> bool:
        """Whether there is time, and nobody asked to stop."""
        return NOW() < self._at and not self._budget.interrupted

    def remaining(self) -> float:
        """The seconds that are left; 0 once somebody asked to stop."""
        return max(0.0, self._at - NOW()) if self.allows() else 0.0


def _replace_handler() -> bool:
    """Put ours in the place of Python's own; whoever has another one calls `stop_once` there."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False
    try:
        signal.signal(signal.SIGINT, _interrupt)
    except ValueError:  # signals are for the main thread alone
        return False
    return True


def _interrupt(number: int, frame: FrameType | None) -> None:
    if not stop_once():
        raise KeyboardInterrupt
