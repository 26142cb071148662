"""`mpi4py.util.sync`: ranks take turns, count together, and exclude one another.

A lock is a message that is there while nobody holds it; the rank that takes the message has the
lock. So nobody polls, and a search tries every order in which ranks can get it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Self

from presage.frontends.mpi.communicator.comm import COMM_SELF
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.rma.memory import leave, take
from presage.process.context import blocking as blocked
from presage.process.context import cancel, post, test_any, wait_any
from presage.process.ops import NONE, Recv


class Sequential:
    """Ranks take turns, in their order."""

    def __init__(self, comm: Any, tag: int = 0) -> None:
        self.comm, self.tag = comm, tag

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()

    def begin(self) -> None:
        """Wait for the rank before."""
        if self.comm.rank:
            self.comm.Recv([None, 0, "B"], self.comm.rank - 1, self.tag)

    def end(self) -> None:
        """Let the next rank begin."""
        if self.comm.rank + 1 < self.comm.size:
            self.comm.Send([None, 0, "B"], self.comm.rank + 1, self.tag)


class Shared:
    """What the ranks of a communicator have in common: messages in boxes of its own."""

    def __init__(self, comm: Any, what: str) -> None:
        self._comm = comm.Dup()
        self._name = f"{self._comm._core(what).name} {what}"
        self._rank = self._comm.rank
        self._freed = False

    def _check(self, name: str, waits: bool = False) -> str:
        if self._freed:
            raise RuntimeError(f"{name}: it was freed before")
        others = [who for who in self._comm._core(name).ranks if who != current_rank().number]
        enter_call(name, others if waits else ())
        return self._name

    def _first_leaves(self, *payloads: Any) -> None:
        """At the beginning, what the first rank puts there; nobody goes on before."""
        if self._rank == 0:
            for each in payloads:
                leave(self._name, each)
        self._comm.Barrier()

    def _free(self, messages: int) -> None:
        """All together: the first rank clears away what is left."""
        if self._freed:
            return
        self._comm.Barrier()
        if self._rank == 0:
            for _ in range(messages):
                take(self._name)
        self._comm.Barrier()
        self._comm.Free()
        self._freed = True


class Counter(Shared):
    """Numbers, each for one rank alone."""

    def __init__(
        self,
        start: int = 0,
        step: int = 1,
        *,
        typecode: str = "i",
        comm: Any = COMM_SELF,
        info: Any = None,
        root: int = 0,
    ) -> None:
        super().__init__(comm, "counter")
        self._step = step
        self._first_leaves(start)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> int:
        return self.next()

    def next(self, incr: int | None = None) -> int:
        """The next number; the one after it is so much more."""
        box = self._check("Counter.next", waits=True)
        value = int(take(box))
        leave(box, value + (self._step if incr is None else incr))
        return value

    def free(self) -> None:
        """Let go of it, all together."""
        self._free(1)


class Mutex(Shared):
    """A lock of one rank at a time."""

    def __init__(self, *, recursive: bool = False, comm: Any = COMM_SELF, info: Any = None) -> None:
        super().__init__(comm, "mutex")
        self._recursive, self._count = recursive, 0
        self._first_leaves("lock")

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *exc: object) -> None:
        self.release()

    def acquire(self, blocking: bool = True) -> bool:
        """Get it; without `blocking`, only if it can be had at once."""
        box = self._check("Mutex.acquire", waits=blocking)
        if self._count and not self._recursive:
            raise RuntimeError("cannot acquire already held mutex")
        if self._count or taken(box, blocking):
            self._count += 1
            return True
        return False

    def release(self) -> None:
        """Give it back."""
        box = self._check("Mutex.release")
        if not self._count:
            raise RuntimeError("cannot release unheld mutex")
        self._count -= 1
        if not self._count:
            leave(box, "lock")

    def locked(self) -> bool:
        """Whether this rank has it."""
        self._check("Mutex.locked")
        return self._count > 0

    def count(self) -> int:
        """How often this rank has it."""
        self._check("Mutex.count")
        return self._count

    def reset(self) -> None:
        """Give it back, if this rank has it."""
        if self._count:
            self._count = 0
            leave(self._name, "lock")

    def free(self) -> None:
        """Let go of it, all together; who has it gives it back."""
        if not self._freed:
            self.reset()
            self._free(1)


def taken(box: str, blocking: bool) -> bool:
    """Take a message; without `blocking`, only if it is there."""
    if blocking:
        take(box)
        return True
    slot = blocked(post(Recv(box)))
    if blocked(test_any((slot,))).choice != NONE:
        return True
    if blocked(cancel(slot)):
        return False
    blocked(wait_any((slot,)))  # it came in between
    return True


class Condition(Shared):
    """Ranks wait until others notify them."""

    def __init__(
        self,
        mutex: Mutex | None = None,
        *,
        recursive: bool = True,
        comm: Any = COMM_SELF,
        info: Any = None,
    ) -> None:
        super().__init__(comm if mutex is None else mutex._comm, "condition")
        self._own = mutex is None
        self._mutex = Mutex(recursive=recursive, comm=comm) if mutex is None else mutex
        self._first_leaves([])

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *exc: object) -> None:
        self.release()

    def acquire(self, blocking: bool = True) -> bool:
        """Get its lock."""
        self._check("Condition.acquire")
        return self._mutex.acquire(blocking)

    def release(self) -> None:
        """Give its lock back."""
        self._check("Condition.release")
        self._mutex.release()

    def locked(self) -> bool:
        """Whether this rank has its lock."""
        self._check("Condition.locked")
        return self._mutex.locked()

    def _held(self, name: str) -> str:
        box = self._check(name)
        if not self._mutex.locked():
            raise RuntimeError(f"{name}: the mutex is not held")
        return box

    def wait(self) -> bool:
        """Give the lock back, wait for a notification, and get the lock again."""
        box = self._held("Condition.wait")
        waiting = take(box)
        leave(box, [*waiting, self._rank])
        depth = self._mutex.count()
        for _ in range(depth):
            self._mutex.release()
        self._check("Condition.wait", waits=True)
        take(f"{box} {self._rank}")
        for _ in range(depth):
            self._mutex.acquire()
        return True

    def wait_for(self, predicate: Callable[[], Any]) -> Any:
        """Wait until something is true."""
        self._held("Condition.wait_for")
        result = predicate()
        while not result:
            self.wait()
            result = predicate()
        return result

    def notify(self, n: int = 1) -> int:
        """Wake some of those that wait; gives how many."""
        box = self._held("Condition.notify")
        waiting = take(box)
        chosen = waiting[:n]
        leave(box, waiting[n:])
        for rank in chosen:
            leave(f"{box} {rank}", "wake")
        return len(chosen)

    def notify_all(self) -> int:
        """Wake all that wait."""
        self._held("Condition.notify_all")
        return self.notify(self._comm.size)

    def free(self) -> None:
        """Let go of it, all together; who has its lock gives that back."""
        if self._freed:
            return
        self._mutex.reset()
        self._free(1)
        if self._own:
            self._mutex.free()


class Semaphore(Shared):
    """A lock of so many ranks at a time."""

    def __init__(
        self, value: int = 1, *, bounded: bool = True, comm: Any = COMM_SELF, info: Any = None
    ) -> None:
        if value < 0:
            raise ValueError("initial value must be non-negative")
        super().__init__(comm, "semaphore")
        self._bounded, self._most = bounded, value
        self._counter = Counter(value, comm=comm)  # of permits that are there
        self._first_leaves(*["permit"] * value)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *exc: object) -> None:
        self.release()

    def _changed(self, by: int) -> None:
        """Count the permits that are there."""
        box = self._counter._name
        free = int(take(box))
        bad = self._bounded and free + by > self._most
        leave(box, free if bad else free + by)
        if bad:
            raise ValueError("semaphore released too many times")

    def acquire(self, blocking: bool = True) -> bool:
        """Get one; without `blocking`, only if it can be had at once."""
        box = self._check("Semaphore.acquire", waits=blocking)
        if not taken(box, blocking):
            return False
        self._changed(-1)
        return True

    def release(self, n: int = 1) -> None:
        """Give some back."""
        box = self._check("Semaphore.release")
        if n < 1:
            raise ValueError("increment must be one or more")
        self._changed(n)
        for _ in range(n):
            leave(box, "permit")

    def free(self) -> None:
        """Let go of it, all together."""
        if self._freed:
            return
        self._comm.Barrier()
        left = self._counter.next(0) if self._rank == 0 else 0
        self._counter.free()
        self._free(left)


def names(mpi: ModuleType) -> dict[str, Any]:
    """What the module has."""
    classes = (Sequential, Counter, Mutex, Condition, Semaphore)
    return {"__doc__": "Synchronization utilities.", **{c.__name__: c for c in classes}}
