"""Who runs next: the threads of a process, one at a time, until each of them waits.

A thread leaves the processor in `block` only. Where exactly one can run, it runs; where several do,
the step ends, and each is an own event. The clock stands still meanwhile: code that reads it again
and again, as `while monotonic() < t: pass` does, is stopped as if it slept for a while. So is code
that polls again and again, and code that takes locks and never waits while there are other threads:
the real system would stop it, too. Both go on when something comes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from presage.errors import PresageError
from presage.frontends.real.machine.effects import Effects, Failure, Killed, Options, Outlived
from presage.frontends.real.machine.entering import Entered
from presage.frontends.real.machine.greenlets import (
    SPIN_SECONDS,
    SPIN_SECONDS_MAX,
    SimulatedThread,
    forget_returned,
    program_instruction,
    resume,
    wait,
)
from presage.frontends.real.machine.strange import strange
from presage.model.choice import NOT_THEIRS, Beyond, Chooser
from presage.model.source import raised
from presage.process.leaves import TABLE
from presage.process.live import ENDED

POINTS_MAX = 100  # places of one step at which stopping a thread is tried
SPINS_MAX = 1000  # readings of the clock in one step, after which a thread counts as spinning
LOCKS_MAX = 10_000  # locks taken in one step, after which a thread does, if it is not alone


class Scheduler:
    """The threads of one process, and its clock."""

    name: str  # of the node

    def __init__(self, clock: float, chooser: Chooser | None, options: Options) -> None:
        self.now = clock
        self.chooser = chooser  # of the step; set before each stimulus
        self.options = options
        self.effects = Effects()
        self.threads: list[SimulatedThread] = []
        self.thread: SimulatedThread | None = None  # which runs now
        self.main: SimulatedThread | None = None
        self.ended = False
        self.dead = False
        self.is_brittle = False  # code in C was refused something: no exception may reach it
        self.steps = 0  # stimuli given to it so far
        self.turns = 0  # how often a thread gave the processor back
        self.error: PresageError | None = None  # kept, because an `except` may eat it
        self.spins: list[str] = []  # threads that were found spinning
        self.counters: dict[str, int] = {}
        self._broken: BaseException | None = None  # what ended a thread, and is not its doing
        self.preemptions = 0  # so far, in this life
        self.is_crowded = False  # some step had more such places than are tried
        self.policy: Any = None  # of asyncio
        self._readings = 0
        self._locks = 0  # taken in this step
        self._points = 0  # places of this step where a thread could have been stopped
        self._last_point: Any = None
        self._last_thread: SimulatedThread | None = None  # whose point that was

    def count(self, what: str) -> int:
        """The next number, from 1, in a series of this process."""
        number = self.counters[what] = self.counters.get(what, 0) + 1
        return number

    def fail(self, where: str, error: BaseException) -> None:
        """Keep an exception that nothing handles; an answer of the real kernel is an error."""
        self.error = self.error or strange(self.name, error)
        self.effects.failures.append(Failure(where, error))

    def read_clock(self) -> float:
        """The time now, for code that runs inside; a thread that reads it too often is stopped."""
        self._readings += 1
        if self._readings >= SPINS_MAX:
            if self.dead:
                raise Killed
            if self.thread is not None:
                self._spin(self.thread)
        return self.now

    def block(self, ready: Callable[[], bool], deadline: float | None, what: str) -> bool:
        """Wait until `ready()`; False if the deadline came first. A deadline of now is a poll."""
        thread = self.thread
        if self.dead:
            self._readings += 1
            if self._readings > SPINS_MAX and thread is not None:
                wait(thread)  # for ever: it catches whatever is raised
            raise Killed
        if thread is None:  # the kernel itself, between two steps of the program
            return ready()
        if deadline is not None and deadline <= self.now:
            if self.options.granularity != "iteration":
                return ready()
            thread.is_paused = True
        elif ready():
            if what != "lock":
                self.preempt()
            return True
        return self._wait(thread, ready, deadline, what)

    def sleep(self, seconds: float) -> None:
        """Wait so long; a sleep of no time is short, if another thread can run meanwhile."""
        if seconds <= 0:
            self.read_clock()
            if len(self.threads) < 2 or len(self._runnable()) < 2:
                return
        self.block(_never, self.now + (seconds or SPIN_SECONDS), "sleep")

    def take(self, lock: Any) -> None:
        """Note that the thread that runs has got a lock."""
        if self.thread is not None and len(self.threads) > 1:
            forget_returned(self.thread.taken)
            self.thread.taken[lock] = program_instruction()

    def let_go(self, lock: Any) -> None:
        """A lock is free again; the thread that runs may be stopped.

        It is not where the same instruction still holds another lock: who waits for both could
        not go on. Who lets go of a lock need not be who took it.
        """
        for each in self.threads:
            each.taken.pop(lock, None)
        thread = self.thread
        if thread is None:
            return
        instruction = program_instruction() if thread.taken else None
        self.preempt(ends=all(each != instruction for each in thread.taken.values()))

    def preempt(self, *, ends: bool = False) -> None:
        """A place where the thread that runs may be stopped, though it need not wait.

        Only where another thread may do something meanwhile: before an instruction of the program
        that takes a lock, sends or receives, and where it `ends`, as often as the options allow.
        Whether it is stopped is a choice of the step.
        """
        thread, chooser = self.thread, self.chooser
        if len(self.threads) < 2 or chooser is None or thread is None or self.dead:
            return
        if self.preemptions >= self.options.preemptions:
            return
        if self._points >= POINTS_MAX:
            self.is_crowded = True
            return
        if all(each is thread or each.what in ("lock", "end") for each in self.threads):
            if len(self._runnable()) < 2:
                return
        instruction = program_instruction()
        if instruction == self._last_point and not ends:
            return
        self._last_point, self._last_thread = instruction, thread
        self._points += 1
        if chooser.pick(2):
            self.preemptions += 1
            thread.is_stopped = True
            self._wait(thread, _always, None, "preempted")

    def stop(self) -> None:
        """Never return: the process has ended."""
        if self.thread is not None:
            self._wait(self.thread, _never, None, "end")

    def _wait(
        self,
        thread: SimulatedThread,
        ready: Callable[[], bool],
        deadline: float | None,
        what: str,
    ) -> bool:
        while True:
            thread.ready, thread.deadline, thread.what = ready, deadline, what
            is_ready = bool(wait(thread))
            if self.dead:
                raise Killed
            if not thread.interrupts:
                if what != "spin":
                    thread.slept = SPIN_SECONDS
                return is_ready
            while thread.interrupts:
                thread.interrupts.pop(0)()
            if ready():
                return True

    def interrupt(self, call: Callable[[], Any]) -> None:
        """Let the main thread call something, wherever it waits; it waits on afterwards."""
        if self.main is not None:
            self.main.interrupts.append(call)

    def note_poll(self) -> None:
        """A poll did not wait; a thread that polls too often waits until something comes."""
        self._readings += 1
        if self._readings >= SPINS_MAX:
            self._poll_later()

    def note_lock(self) -> None:
        """A thread takes a lock; one that takes too many waits until something comes."""
        self._locks += 1
        if self._locks >= LOCKS_MAX and len(self.threads) > 1:
            self._poll_later()

    def _poll_later(self) -> None:
        if self.dead:
            raise Killed
        step = self.steps
        if self.thread is not None:
            self._spin(self.thread, lambda: self.steps != step)

    def _spin(self, thread: SimulatedThread, ready: Callable[[], bool] | None = None) -> None:
        if thread.name not in self.spins:
            self.spins.append(thread.name)
        seconds, thread.slept = thread.slept, min(thread.slept * 2, SPIN_SECONDS_MAX)
        self._readings = self._locks = 0
        self.block(ready or _never, self.now + seconds, "spin")

    def start(self, run: Callable[[], Any], name: str = "") -> SimulatedThread:
        """A new thread, which can run from now on."""
        if self.dead:
            raise Killed
        ident = self.count("thread")
        name = name or f"thread {ident}"
        if any(each.name == name for each in self.threads):
            name = f"{name} #{ident}"
        thread = SimulatedThread(ident, name, run, self)
        self.threads.append(thread)
        return thread

    @property
    def deadline(self) -> float | None:
        """When the next thread wakes by itself."""
        waiting = self._next_to_wake()
        return None if waiting is None else waiting.deadline

    def _runnable(self) -> list[SimulatedThread]:
        found, now = [], self.now
        for each in self.threads:
            if each.is_paused:
                continue
            ready, deadline = each.ready, each.deadline
            each.is_ready = is_ready = ready is None or ready()
            if is_ready or each.interrupts or (deadline is not None and deadline <= now):
                found.append(each)
        return found

    @property
    def choices(self) -> list[SimulatedThread]:
        """The threads that can run between two steps; a thread that is alone never can."""
        if len(self.threads) == 1 and not self.threads[0].is_stopped:
            return []
        return self._runnable()

    def _next_to_wake(self) -> SimulatedThread | None:
        earliest, soonest = None, math.inf
        for each in self.threads:
            deadline = each.deadline
            if deadline is not None and self.now < deadline < soonest and not each.is_paused:
                earliest, soonest = each, deadline
        return earliest

    def _resume_named(self, name: str) -> None:
        for each in self._runnable():
            if each.name == name:
                return self._resume(each)
        raise LookupError(f"no thread `{name}` can run")

    def _unpause(self) -> None:
        for each in self.threads:
            each.is_paused = False

    def _settle(self, first: Callable[..., Any] | None = None, *args: Any) -> None:
        if self.dead:
            raise Killed
        self._readings = self._locks = self._points = 0
        self._last_point = None
        self.steps += 1
        if not TABLE.everywhere:
            TABLE.spread()
        with Entered(self):
            if first is not None:
                first(*args)
            threads = self.threads
            while not self.ended:
                runnable = self._runnable()
                if len(runnable) != 1 or runnable[0].is_stopped:
                    break
                self._resume(runnable[0])
                if len(threads) == 1 and threads[0] is runnable[0]:
                    break  # it waits for what was not there, and nothing has happened since
            if self.options.strict:
                self.rest()
                if self.error is not None:
                    raise self.error

    def rest(self) -> None:
        """Every thread waits, or there is a choice among them; asked of those that are strict."""

    def _resume(self, thread: SimulatedThread) -> None:
        self.thread = thread
        thread.is_stopped = False
        try:
            if resume(thread, self._body):
                self.threads.remove(thread)
                if thread is self._last_thread:  # nothing keeps the variables of a thread
                    self._last_point = self._last_thread = None
                for call in thread.on_end:
                    call()
        finally:
            self.thread = None
            self.turns += 1
        chooser = self.chooser
        if self._broken is not None:
            raise self._broken
        if self.error is not None:
            raise self.error
        if chooser is not None and (chooser.beyond is not None or chooser.error is not None):
            raise chooser.error or Beyond

    def _body(self, run: Callable[[], Any]) -> object:
        """What the greenlet of a thread runs."""
        try:
            run()
        except Killed as error:
            if not self.dead:
                self._broken = Outlived(raised(error.__traceback__))
        except NOT_THEIRS as error:
            self._broken = error
        except BaseException as error:
            thread = self.thread
            self.fail(thread.name if thread is not None else "thread", error)
        if self.thread is not None and not self.dead:
            for kept in self.thread.locals.values():
                kept.clear()  # while it is still the thread that runs
        return ENDED


def _never() -> bool:
    return False


def _always() -> bool:
    return True
