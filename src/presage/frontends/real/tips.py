"""Live processes by the history that led to them: resumed where they stand, or made again.

A process stands at the end of one history, its tip. One stimulus moves it on, and it is then the
tip of the longer history. Every other stimulus of the same state needs a process of its own: it is
booted, and the events of its history happen to it again.

Real code runs under one lock: a process takes over `sys.modules`, the running loop and the leaves,
and it needs the interpreter anyway. A greenlet belongs to the thread that made it, so a tip serves
only that thread. The garbage collector stands still while a process lives, because a finalizer may
send; once in a while all tips are given up and their garbage is collected.

Invariant: a process whose step raised is never used again.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import RLock, get_ident
from typing import Protocol
from weakref import WeakSet

from presage.frontends.real.finder import FINDER
from presage.frontends.real.histories import Entry, Histories
from presage.frontends.real.machine.process import Process
from presage.frontends.real.surroundings import around
from presage.process.ending import leave_at_end
from presage.process.leaves import TABLE

HEFT_FIRST = 1024  # of the processes that wait; two more per boot, since copies take time
HEFT_MAX = 4096
DEAD_MAX = 512  # processes whose garbage waits to be collected
HEFT = 2  # of a process without modules of its own
DEEP_EVERY = 16  # collections of the young between two of the middle-aged


LOCK = RLock()  # around all real code, of whichever system


class Replay(Protocol):
    """Boots a process, and lets the events of its history happen to it again."""

    def boot(self, entry: Entry) -> Process: ...
    def again(self, process: Process, entries: Iterable[Entry]) -> None: ...


class Tips:
    """The live processes of one system."""

    def __init__(self, histories: Histories) -> None:
        self._histories = histories
        self._lives: dict[int, dict[bytes, Process]] = {}  # thread -> history -> process
        self._doomed: dict[int, list[Process]] = {}  # thread -> dead processes, not unwound yet
        self._lock = LOCK
        self._depth = 0
        self._collects = False  # whether the collector was on when the first process began
        self.boots = 0
        self.resumed = 0
        self.replayed = 0  # events
        self.alive = 0  # heft of all processes that wait
        self.dead = 0  # processes whose garbage was not collected yet
        self._turn = False
        self._collections = 0
        self.collected: list[Callable[[], None]] = []  # called after garbage was collected
        EVERY.add(self)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Around all that runs real code."""
        with self._lock:
            TABLE.up()
            self._depth += 1
            if self._depth == 1:
                FINDER.look()
                FINDER.is_alone = True
            if gc.isenabled():
                gc.disable()
                self._collects = True
            if get_ident() not in self._lives:
                self._lives[get_ident()] = {}
                leave_at_end(self)
            if self._doomed:
                self.bury()
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    FINDER.is_alone = False
                    if self.dead >= DEAD_MAX:
                        self._collect()
                TABLE.down()

    def take(self, name: bytes, replay: Replay) -> Process:
        """A process that stands at the end of history `name`; it is the caller's from now on."""
        mine = self._lives[get_ident()]
        process = mine.pop(name, None)
        if process is not None:
            self.resumed += 1
            self.alive -= heft(process)
            return process
        path = self._histories.path(name)
        first = 0
        for at in range(len(path) - 2, -1, -1):
            process = mine.pop(path[at][0], None)
            if process is not None:
                first = at + 1
                self.alive -= heft(process)
                break
        try:
            if process is None:
                self.boots += 1
                process = replay.boot(path[0][1])
            self.replayed += len(path) - first
            replay.again(process, [entry for _, entry in path[first:]])
        except BaseException:
            if process is not None:
                self.drop(process)
            raise
        return process

    def keep(self, name: bytes, process: Process) -> None:
        """Let a process wait at the end of history `name`."""
        mine = self._lives[get_ident()]
        older = mine.pop(name, None)
        if older is not None:
            self._dispose(older)
        elif self.alive >= min(HEFT_MAX, HEFT_FIRST + 2 * self.boots):
            self._turn = (
                not self._turn
            )  # a search in breadth needs the oldest next, one in depth not
            if not self._turn or not mine:
                self.drop(process)
                return
            self._dispose(mine.pop(next(iter(mine))))
        mine[name] = process
        self.alive += heft(process)

    def drop(self, process: Process) -> None:
        """Give up a process that nobody keeps."""
        self.dead += 1
        process.dispose()

    def _dispose(self, process: Process) -> None:
        self.alive -= heft(process)
        self.drop(process)

    def clear(self) -> None:
        """Give up all processes; those of other threads are dead now, and unwound by them."""
        with self._lock:
            lives, self._lives = self._lives, {}
            for thread, mine in lives.items():
                for process in mine.values():
                    process.dead = True
                self._doomed.setdefault(thread, []).extend(mine.values())
            self.bury()

    def bury(self) -> None:
        """Unwind the dead processes of this thread."""
        for process in self._doomed.pop(get_ident(), ()):
            process.dead = False
            process.dispose()

    def leave(self, thread: int) -> None:
        """A thread of the search ends."""
        with self._lock:
            mine = self._lives.pop(thread, {})
            self._doomed.setdefault(thread, []).extend(mine.values())
            self.bury()

    def _collect(self) -> None:
        """Collect the garbage of processes; none of them lives, so no finalizer can matter."""
        self.clear()
        self.alive = self.dead = 0
        self._collections += 1
        gc.collect(0 if self._collections % DEEP_EVERY else 1)
        for each in self.collected:
            each()

    def rest(self) -> None:
        """Nobody needs the leaves any more: a search is over."""
        self.clear()
        if self._collects:
            self._collects = False
            gc.collect(0)
            gc.enable()


def heft(process: Process) -> int:
    """What a process keeps in memory, roughly, in modules."""
    return HEFT + len(around(process).copy.modules)


EVERY: WeakSet[Tips] = WeakSet()


def _rest() -> None:
    for tips in list(EVERY):
        tips.rest()


TABLE.leaving.append(_rest)
