"""Epochs of a window: which accesses a rank may make, and when they are made.

MPI leaves open when an access takes place between its call and the synchronisation that ends it,
and when a lock is taken between its call and the first access. So both wait until they have to be
done. If the rank calls MPI for something else before that, it may be now or later, and a search
tries both. Without such a call in between, nobody could tell the difference.

A lock of the rank's own memory is taken at once, since loads and stores may follow.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from presage.frontends.mpi.data.buffers import Buffer
from presage.frontends.mpi.data.hazards import Watched
from presage.frontends.mpi.rma.access import FETCHING, Access, elements, first_clash
from presage.frontends.mpi.rma.memory import Memory
from presage.process.context import Asking, asked
from presage.process.ops import Choose
from presage.records import record

EXCLUSIVE, SHARED, ALL, STARTED = "exclusive", "shared", "all", "started"


@record(eq=False)
class Pending:
    """An access that is not complete for the script."""

    access: Access
    call: str
    into: Buffer | None  # where to put what it fetches
    watched: tuple[Watched, ...]
    got: bytes | None = None  # once it has been made


@record(eq=False)
class Epoch:
    """What a rank may do at one target, for a while."""

    target: int
    kind: str
    call: str  # that opened it
    held: bool = False  # whether its lock was taken
    late: bool = False  # whether it is not taken before it is needed
    accesses: list[Pending] = field(default_factory=list)  # since the last flush

    @property
    def is_locking(self) -> bool:
        return self.kind != STARTED

    @property
    def is_open(self) -> bool:
        """Whether something is to be done, now or later."""
        if any(each.got is None for each in self.accesses):
            return True
        return self.kind in (EXCLUSIVE, SHARED) and not self.held

    def add(self, pending: Pending, memory: Memory) -> None:
        """A new access; refuse one that meets an earlier one that is not complete."""
        found = first_clash([*(each.access for each in self.accesses), pending.access])
        if found is not None:
            raise memory.clashed(self.target, *found)
        self.accesses.append(pending)

    def take_lock(self, memory: Memory) -> None:
        if self.is_locking and not self.held:
            memory.lock(self.target, self.kind == EXCLUSIVE)
            self.held = True
            if self.target == memory.core.rank:
                memory.exchange()

    def push(self, memory: Memory) -> None:
        """Take the lock and make the accesses, if that was not done before."""
        self.take_lock(memory)
        waiting = [each for each in self.accesses if each.got is None]
        if waiting and self.kind == EXCLUSIVE:
            accesses, calls = [each.access for each in waiting], [each.call for each in waiting]
            for each, got in zip(waiting, memory.alone(self.target, accesses, calls), strict=True):
                each.got = got
        else:
            for each in waiting:
                each.got = memory.among_others(self.target, each.access, each.call)

    def flush(self, memory: Memory, everywhere: bool = True) -> None:
        """Make all accesses, and give the script what they fetched.

        `everywhere`: they are complete for others, too.
        """
        if self.accesses:
            self.push(memory)
        for each in self.accesses:
            deliver(each)
        if everywhere:
            self.accesses = []
        self.forget(memory)

    def forget(self, memory: Memory) -> None:
        """What has fetched something for the script is complete for others, too."""
        done = (each.into is None and each.access.kind in FETCHING for each in self.accesses)
        self.accesses = [each for each, over in zip(self.accesses, done, strict=True) if not over]
        if not self.accesses:
            memory.complete(self.target)

    def close(self, memory: Memory) -> None:
        """The lock is given back, or was never taken, if there was nothing to do."""
        own = self.target == memory.core.rank
        if self.kind in (EXCLUSIVE, SHARED):
            self.take_lock(memory)
        touched = bool(self.accesses)
        self.flush(memory)
        if own:
            memory.exchange() if touched else memory.publish()
        if self.is_locking and self.held:
            memory.unlock(self.target, self.kind == EXCLUSIVE)

    def decide(self, memory: Memory) -> None:
        """The rank is about to do something else: now, or later.

        A lock is taken where it was called, which may wait, or not before it is needed: another
        call never waits for it.
        """
        if not self.is_open or self.late:
            return
        if now():
            self.push(memory)
        else:
            self.late = self.is_locking and not self.held


def deliver(pending: Pending) -> None:
    """The script may use the buffers again."""
    for each in pending.watched:
        each.check()
    pending.watched = ()
    if pending.into is not None and pending.got is not None:
        pending.into.write(elements(pending.access.sign, pending.got), pending.call)
        pending.into = None


def now() -> bool:
    """Whether what may be done now is not left for later."""
    return asked(Choose(2)).choice == 0


def in_order(accesses: Iterable[Access], racing: list[Access]) -> Asking[list[Access]]:
    """An order in which atomic accesses of several ranks are made; a search tries each."""
    rest = list(racing)
    ordered = []
    while rest:
        origins = sorted({each.origin for each in rest})
        at = 0 if len(origins) == 1 else (yield Choose(len(origins))).choice
        first = next(each for each in rest if each.origin == origins[at])
        rest.remove(first)
        ordered.append(first)
    return [*ordered, *(each for each in accesses if each not in racing)]
