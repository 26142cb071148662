"""The threads of a rank: greenlets of one process, of which one runs at a time.

A rank stays one process: its local state is still the history of the answers it got, and one of
those answers is which thread goes on. A thread gives way before a call of MPI, before an operation
of `threading` or `queue`, and where it has to wait; between two such points nobody else runs. So
an execution is a sequence of such pieces of code, and every sequence is explored. What races within
two pieces is not: that is said in the report.

Only the greenlet of the main thread asks the world. The others ask it to, and it decides who is
next whenever one gives way (`turns`).

Invariant: `current` is the thread whose code runs; the call notes of the process are its own.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import local
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet

from presage.errors import PresageError
from presage.frontends.mpi.threads.asking import Asking
from presage.frontends.mpi.threads.lines import user_line
from presage.frontends.mpi.threads.loops import Loops
from presage.frontends.mpi.threads.slots import Slots
from presage.frontends.mpi.threads.thread import CALL, MAIN, RankThread
from presage.process import ops
from presage.process.context import Context, running
from presage.process.live import ENDED
from presage.process.ops import Op, Response

NOTE = "threads"  # where they are kept among the notes of their process


class _Idle(local):
    """Greenlets of threads that have ended.

    A greenlet begins with the depth of calls of its maker; those of threads are made deeper
    than those of processes, and so are no use to them.
    """

    def __init__(self) -> None:
        self.greenlets: list[Any] = []


_IDLE = _Idle()


class ThreadFailed(BaseException):
    """Raised in the main thread: another one has ended the rank."""


class Threads(Loops):
    """Those of one rank."""

    def __init__(self, context: Context, turns: Any, spins: int) -> None:
        super().__init__(spins)
        self.context = context
        self.main = self.current = RankThread(1, MAIN, None)
        self.alive = [self.main]
        self.started = 0  # so many threads were started so far
        self.failure: BaseException | None = None  # what ends the rank
        self.is_over = False  # the rank has ended
        self.last: RankThread | None = None  # who gave way last
        self.turns = 0  # how often a thread gave way
        self.forced: RankThread | None = None  # which begins at once
        self.asker: RankThread | None = None  # for whom the world is asked
        self.on_start: Callable[[], None] = lambda: None
        self.on_call: Callable[[str], None] = lambda _: None  # of MPI
        self.tells = False  # what leaves a thread is printed, and the rank goes on
        self.modules: Any = None  # `threading` and the like, of this rank
        self.order = turns
        self._counters: dict[str, int] = {}
        self.slots = Slots(context)
        self._ask: Callable[[Op], Response] | None = None  # of the process

    def count(self, what: str) -> int:
        """The next number, from 1, in a series of this rank."""
        number = self._counters[what] = self._counters.get(what, 0) + 1
        return number

    @property
    def is_alone(self) -> bool:
        """Whether there is one thread."""
        return len(self.alive) == 1

    # What the code of a thread does.

    def start(self, run: Callable[[], object], name: str, *, daemon: bool) -> RankThread:
        """A new thread, which can run from now on."""
        if self._ask is None:
            self._take_over()
        self.started += 1
        self.on_start()
        thread = RankThread(self.started + 1, name, run, daemon)
        thread.notes = {"call": "its start", "waits_for": ()}
        self.alive.append(thread)
        self.progress += 1
        return thread

    def begin(self, name: str, *, yields: bool = True) -> RankThread:
        """A call of `threading` and the like: others may go first, but none while it runs.

        The caller takes one off the depth of the thread at its end.
        """
        thread = self.current
        if not thread.depth and not self.is_over:
            if yields:
                self.give_way(name)
            else:
                self.context.notes.update(self._own_notes(name))
        thread.depth += 1
        return thread

    def give_way(self, name: str = "") -> None:
        """A place where another thread may go on."""
        thread = self.current
        if self.is_alone or self.is_over or self.stays(thread):
            return
        if name:
            thread.notes = self._own_notes(name)
        self.turn(thread)

    def block(self, ready: Callable[[], bool], seconds: float | None, name: str = "") -> bool:
        """Wait until something is true in the rank; False if the time was over before."""
        if ready():
            return True
        thread = self.current
        if seconds is not None and self.stays(thread):
            return False
        thread.runs_on = 0
        thread.ready = ready
        thread.deadline = None if seconds is None else self.context.clock + seconds
        thread.notes = self._own_notes(name) if name else thread.notes
        is_ready = bool(self.turn(thread))
        thread.ready = thread.deadline = None
        if not is_ready and not self.order.has_time:
            self.context.clock += seconds or 0.0
        return is_ready

    def failed(self, error: BaseException) -> None:
        """An exception has left a thread: it ends the rank."""
        self.failure = self.failure or error

    # What is asked of the world.

    def ask_world(self, op: Op) -> Response:
        """Ask the world, from any thread."""
        if getcurrent() is self.main.greenlet or self.current is self.main:
            return self.put(op)
        return self.current.greenlet.parent.switch(op)  # type: ignore[no-any-return]

    def put(self, op: Op) -> Response:
        """Ask the world, from the main thread."""
        assert self._ask is not None
        return self._ask(op)

    def wait_for_ever(self, *, is_wrong: bool = False) -> None:
        """No thread can go on, whatever others do; `is_wrong`: or none is to, which is no end."""
        self.put(ops.Recv(f"threads of {self.context.name}"))
        slot = (self.slots.take(),)
        self.put(ops.WaitAny(slot, None, ((),)) if is_wrong else ops.WaitAny(slot))

    # Who is next.

    def turn(self, thread: RankThread) -> Any:
        """Give the processor back until it is this thread's turn."""
        self.turns += 1
        thread.since = self.turns
        self.last = thread
        if not thread.notes:
            thread.notes = self._own_notes("")
        if thread is self.main:
            return self._loop()
        return thread.greenlet.parent.switch(None)

    def _loop(self) -> Any:
        """Run in the main thread: let threads go on until it is its own turn."""
        if self._ask is None:
            self._take_over()
        try:
            while True:
                if self.failure is not None:
                    raise ThreadFailed
                thread, answer = self._next()
                self.current = self.asker = thread
                self.context.notes.update(thread.notes)
                thread.notes = {}
                if thread is self.main:
                    return answer
                self._resume(thread, answer)
        except BaseException:
            self.current = self.main
            raise

    def _next(self) -> tuple[RankThread, Any]:
        forced, self.forced = self.forced, None
        if forced is not None:
            return forced, None
        return self.order.next(self)  # type: ignore[no-any-return]

    def _resume(self, thread: RankThread, given: Any) -> None:
        if thread.run is not None:
            thread.greenlet = _lent()
            given, thread.run = thread.run, None
        work = thread.greenlet
        work.parent = getcurrent()
        said = work.switch(given)
        while said is not None and said is not ENDED:
            said = work.switch(self.put(said))
        if said is ENDED:
            _IDLE.greenlets.append(work)
            self._ended(thread)

    def _ended(self, thread: RankThread) -> None:
        thread.greenlet = None
        self.alive.remove(thread)
        self.progress += 1
        for call in thread.on_end:
            call()

    def _own_notes(self, name: str) -> dict[str, Any]:
        """Which call the thread that runs is in."""
        notes = self.context.notes
        if name:
            return {"call": f"{name} at {user_line()}", "waits_for": ()}
        return {key: notes.get(key, "" if key == "call" else ()) for key in CALL}

    def _frame(self) -> Any:
        """Where the thread stands for which the world is asked, if it is not the main one."""
        work = None if self.asker is None else self.asker.greenlet
        return None if self.asker is self.main or work is None else work.gr_frame

    # Its beginning and end.

    def _take_over(self) -> None:
        """From now on, what the process asks goes through here."""
        context = self.context
        self.main.greenlet = getcurrent()
        self._ask = context.ask
        asking = Asking(self)
        context.ask, context.guide, context.frame = asking.ask, asking, self._frame
        self.slots.begin()

    def finish(self) -> None:
        """The main thread has ended: wait for all others but daemons, as the interpreter does."""
        if not self.is_alone:
            if self.modules is not None:
                self.modules.at_end()
            self.block(self._is_last, None, "the end of other threads")
        self.raise_failure()

    def raise_failure(self) -> None:
        if self.failure is not None:
            raise self.failure

    def _is_last(self) -> bool:
        return all(each.daemon or each is self.main for each in self.alive)

    def close(self) -> None:
        """The rank has ended: threads that have not are unwound."""
        self.is_over = True
        for thread in self.alive:
            work, thread.greenlet = thread.greenlet, None
            if work is not None and thread is not self.main and not work.dead:
                work.parent, self.current = getcurrent(), thread
                _unwind(work)
        self.current = self.main

    def waiting(self) -> list[tuple[str, str, tuple[Any, ...]]]:
        """Of each thread, while all wait: its name, its call, and for whom it waits."""
        found = []
        for each in self.alive:
            if each.daemon and each.wait is None:
                continue
            notes = each.notes or self._own_notes("")
            found.append((each.name, str(notes["call"]), tuple(notes["waits_for"])))
        return found


def running_threads() -> Threads | None:
    """The threads of the rank that runs here."""
    stack = running.stack
    return stack[-1].notes.get(NOTE) if stack else None


def _lent() -> Any:
    return _IDLE.greenlets.pop() if _IDLE.greenlets else greenlet(_work)


def _work(run: Callable[[], object]) -> None:
    """Run one thread after another; the first begins at once."""
    while True:
        ended = run()
        del run
        run = getcurrent().parent.switch(ended)  # type: ignore[union-attr]


def _unwind(work: Any) -> None:
    try:
        if work.throw(GreenletExit) is ENDED:
            _IDLE.greenlets.append(work)
    except PresageError:
        raise
    except BaseException:  # of `finally` clauses that raised
        return
