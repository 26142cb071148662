"""Loops in which a thread looks whether others have done something: they must not go on for ever.

A thread that has found nothing at one place, as often as a process may test in vain, goes on alone:
so what it does after a loop that has an end is explored. After many more rounds it counts as a
loop without end, which goes on only if another thread does something.
"""

from __future__ import annotations

from presage.frontends.mpi.threads.thread import RankThread

ROUNDS_MAX = 1_000


class Loops:
    """What the threads of a rank have found in vain."""

    current: RankThread

    def __init__(self, spins: int) -> None:
        self.spins = spins
        self.progress = 0  # what was done so far that some loop may wait for

    def tested_in_vain(self, where: str) -> None:
        """The thread that runs found nothing: a loop of this might go on for ever."""
        thread = self.current
        if thread.seen != self.progress:
            thread.vain.clear()
        thread.seen = self.progress
        thread.vain[where] = thread.vain.get(where, 0) + 1
        thread.runs_on += thread.runs_on > 0

    def done_something(self) -> None:
        """It has done something that others may wait for."""
        self.progress += 1
        self.current.vain.clear()
        self.current.runs_on = 0

    def touched(self) -> None:
        """It has taken a lock, as one does to change something, but also in a loop."""
        if not self.current.vain:
            self.progress += 1

    def has_spun(self, thread: RankThread, where: str = "") -> bool:
        """Whether it found nothing so often, at one place, that only others change that."""
        if thread.seen != self.progress or not self.spins:
            return False
        counts = thread.vain.values() if not where else [thread.vain.get(where, 0)]
        return any(count >= self.spins for count in counts)

    def is_exhausted(self, thread: RankThread) -> bool:
        """Whether it would loop for ever, as long as no other thread does anything."""
        return thread.exhausted == self.progress

    def chosen(self, thread: RankThread) -> None:
        """It is let go on; if it has spun, then alone, until it does something else."""
        if not thread.runs_on and self.has_spun(thread):
            thread.runs_on = 1

    def stays(self, thread: RankThread) -> bool:
        """Whether a thread that was let go on alone still is."""
        if thread.runs_on > ROUNDS_MAX:
            thread.runs_on, thread.exhausted = 0, self.progress
        return thread.runs_on > 0
