"""What opens and closes epochs of a window: fences, locks, and post, start, complete, wait."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.exchange import Call
from presage.frontends.mpi.collective.transport import gathered, note
from presage.frontends.mpi.core.group import Group
from presage.frontends.mpi.core.handle import check_root
from presage.frontends.mpi.core.mistakes import MPIException, invalid
from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.rma.access import Access, clash, first_clash, order_matters, perform
from presage.frontends.mpi.rma.calls import Accessed
from presage.frontends.mpi.rma.epochs import (
    ALL,
    EXCLUSIVE,
    SHARED,
    STARTED,
    Epoch,
    deliver,
    in_order,
    now,
)
from presage.frontends.mpi.rma.memory import Memory, leave, look, take
from presage.process.context import blocking

FENCE = Call("Fence")
LOCK_EXCLUSIVE, LOCK_SHARED = 234, 235
MODE_NOCHECK, MODE_NOSTORE, MODE_NOPUT = 1 << 10, 1 << 11, 1 << 12
MODE_NOPRECEDE, MODE_NOSUCCEED = 1 << 13, 1 << 14


class Synchronised(Accessed):
    """Fence, Lock and their relatives."""

    def __init__(self) -> None:
        super().__init__()
        self._all: str | None = None  # the call of Lock_all
        self._all_decided = False  # whether it takes locks where nothing is accessed
        self._posted: tuple[int, ...] | None = None  # for whom its own memory is open
        self._started: tuple[int, ...] | None = None  # whose memory it may access

    # Called when the rank calls MPI for something else, and when it has learned something.

    def between(self) -> None:
        """What may be done now or later; what the script has stored is there for others."""
        held = self._memory("MPI")
        held.publish()
        self._decide()
        if self._all and not self._all_decided:
            self._all_decided = True
            if held.core.size > 1 and now():
                for epoch in self._epochs.values():
                    epoch.take_lock(held)

    def _decide(self, but: int = -1) -> None:
        """What is open at other targets may be done now or later, too."""
        for target, epoch in self._epochs.items():
            if target != but:
                epoch.decide(self._memory("MPI"))

    def learned(self) -> None:
        self._memory("MPI").exchange()

    def _called(self, name: str, **given: Any) -> tuple[Memory, str]:
        """The memory, and the text of a call that may wait for any other rank of the window."""
        held = self._memory(name.removeprefix("Win."))
        return held, note(held.core, name, by=self, **given)

    def _check_closed(self, call: str, ends: bool = False) -> None:
        """Complain unless no epoch is open; `ends`: there will be none that closes it."""
        opened = [each.call for each in self._epochs.values()]
        opened += [self._all] if self._all else []
        opened += ["Post"] if self._posted is not None else []
        if opened:
            kind = "open-epoch" if ends else "double-epoch"
            raise MPIException(kind, f"{call}: the epoch of {opened[0]} is still open")
        if self._fenced and ends:
            parts = self._fenced[0][1].call
            raise MPIException("open-epoch", f"{call}: no Fence has completed {parts}")

    def complain(self, number: int) -> None:
        """At the end of the rank."""
        self._check_closed(f"rank {number} ends", ends=True)

    # Fences.

    def Fence(self, assertion: int = 0) -> None:
        """All together: what was begun is complete, and more may be begun."""
        held = self._memory("Fence")
        call = note(held.core, "Fence", by=self)
        self._check_closed(call)
        if assertion & MODE_NOPRECEDE and self._fenced:
            raise invalid(f"{call}: MODE_NOPRECEDE, but {self._fenced[0][1].call} precedes it")
        held.publish()
        size = held.core.size
        mine = [[tuple(p.access) for t, p in self._fenced if t == rank] for rank in range(size)]
        said = gathered(held.core, FENCE, mine, results.everything, learns=False)
        if any(part for each in said for part in each):
            answers = _fenced(held, [each[held.core.rank] for each in said])
            got = gathered(held.core, FENCE, answers, results.crosswise, learns=False)
            self._take_answers(got)
        else:
            held.exchange()
        held.stored.clear()
        self._fenced = []
        self._fence = None if assertion & MODE_NOSUCCEED else call

    def _take_answers(self, answers: list[list[bytes]]) -> None:
        for target, pending in self._fenced:
            pending.got = answers[target].pop(0)
            deliver(pending)

    # Locks.

    def Lock(self, rank: int, lock_type: int = LOCK_EXCLUSIVE, assertion: int = 0) -> None:
        kinds = {LOCK_EXCLUSIVE: EXCLUSIVE, LOCK_SHARED: SHARED}
        kind = kinds.get(lock_type)
        held, call = self._called("Lock", rank=rank, lock_type=kind)
        if kind is None:
            raise invalid(f"{call}: lock_type={lock_type} is neither exclusive nor shared")
        check_root(held.core, rank, call)
        if rank in self._epochs or self._all:
            raise _twice(call, self._epochs[rank].call if rank in self._epochs else self._all)
        if self._started is not None:
            raise _twice(call, "Start")
        self._end_fence(call)
        epoch = self._epochs[rank] = Epoch(rank, kind, call)
        if rank == held.core.rank:
            self._decide(rank)
            epoch.take_lock(held)  # its own loads and stores may follow

    def _end_fence(self, call: str) -> None:
        """An epoch of another kind begins; a fence before it ended one, and began none."""
        if self._fenced:
            raise _twice(call, self._fence)
        self._fence = None

    def Unlock(self, rank: int) -> None:
        held, call = self._called("Unlock", rank=rank)
        check_root(held.core, rank, call)
        epoch = self._epochs.get(rank)
        if epoch is None or epoch.kind not in (EXCLUSIVE, SHARED):
            raise MPIException("double-epoch", f"{call}: rank {rank} is not locked")
        self._decide(rank)
        epoch.close(held)
        del self._epochs[rank]

    def Lock_all(self, assertion: int = 0) -> None:
        held, call = self._called("Lock_all")
        if self._epochs or self._all:
            raise _twice(call, self._all or next(iter(self._epochs.values())).call)
        self._end_fence(call)
        self._all, self._all_decided = call, False
        for rank in range(held.core.size):
            self._epochs[rank] = Epoch(rank, ALL, call)
        self._epochs[held.core.rank].take_lock(held)

    def Unlock_all(self) -> None:
        held, call = self._called("Unlock_all")
        if self._all is None:
            raise MPIException("double-epoch", f"{call}: Lock_all was not called")
        many = [epoch for epoch in self._epochs.values() if epoch.is_open]
        if len(many) > 1 and now():  # all are locked together, or one after another
            for epoch in many:
                epoch.take_lock(held)
        for epoch in self._epochs.values():
            epoch.close(held)
        self._epochs, self._all = {}, None

    def _flush(
        self, name: str, ranks: Iterable[int] | None, everywhere: bool, **given: int
    ) -> None:
        held, call = self._called(name, **given)
        for rank in [*self._epochs] if ranks is None else ranks:
            check_root(held.core, rank, call)
            epoch = self._epochs.get(rank)
            if epoch is None or not epoch.is_locking:
                raise MPIException("missing-epoch", f"{call}: rank {rank} is not locked")
            self._decide(rank)
            epoch.flush(held, everywhere)
        if ranks is None and not any(epoch.is_locking for epoch in self._epochs.values()):
            raise MPIException("missing-epoch", f"{call}: no rank is locked")

    def Flush(self, rank: int) -> None:
        self._flush("Flush", [rank], True, rank=rank)

    def Flush_all(self) -> None:
        self._flush("Flush_all", None, True)

    def Flush_local(self, rank: int) -> None:
        self._flush("Flush_local", [rank], False, rank=rank)

    def Flush_local_all(self) -> None:
        self._flush("Flush_local_all", None, False)

    def Sync(self) -> None:
        """The rank's own memory as it is now."""
        enter_call("Sync", by=self)
        self._memory("Sync").exchange()

    # Post, Start, Complete, Wait.

    def _members(self, group: Group, call: str) -> tuple[int, ...]:
        ranks = self._memory(call).core.ranks
        strange = [rank for rank in group.members if rank not in ranks]
        if strange:
            raise invalid(f"{call}: the group has ranks outside of the window: {strange}")
        return tuple(ranks.index(rank) for rank in group.members)

    def Post(self, group: Group, assertion: int = 0) -> None:
        """Others may access this rank's memory."""
        held, call = self._called("Post")
        if self._posted is not None:
            raise _twice(call, "Post")
        self._end_fence(call)
        held.publish()
        self._posted = self._members(group, call)
        for origin in self._posted:
            leave(f"{held.core.name}@{held.core.rank}+{origin}", "post")

    def Start(self, group: Group, assertion: int = 0) -> None:
        """Access the memory of others, once they have posted it."""
        held, call = self._called("Start")
        if self._epochs or self._started is not None:
            raise _twice(call, next(iter(self._epochs.values())).call if self._epochs else "Start")
        self._end_fence(call)
        self._started = self._members(group, call)
        for target in self._started:
            take(f"{held.core.name}@{target}+{held.core.rank}")
            self._epochs[target] = Epoch(target, STARTED, call)

    def Complete(self) -> None:
        held, call = self._called("Complete")
        if self._started is None:
            raise MPIException("double-epoch", f"{call}: Start was not called")
        for epoch in self._epochs.values():
            epoch.close(held)
        for target in self._started:
            leave(f"{held.core.name}@{target}-{held.core.rank}", "complete")
        self._epochs, self._started = {}, None

    def Wait(self) -> bool:
        """Until all that may access this rank's memory have done so."""
        held, call = self._called("Win.Wait")
        if self._posted is None:
            raise MPIException("double-epoch", f"{call}: Post was not called")
        for origin in self._posted:
            take(f"{held.core.name}@{held.core.rank}-{origin}")
        self._posted = None
        held.exchange()
        return True

    def Test(self) -> bool:
        """Whether `Wait` would not wait; then it is done."""
        held, call = self._called("Win.Test")
        if self._posted is None:
            raise MPIException("double-epoch", f"{call}: Post was not called")
        boxes = [f"{held.core.name}@{held.core.rank}-{origin}" for origin in self._posted]
        return all(look(box).choice for box in boxes) and self.Wait()


def _twice(call: str, other: str | None) -> MPIException:
    return MPIException("double-epoch", f"{call}: the epoch of {other} is still open")


def _fenced(held: Memory, parts: list[list[Any]]) -> list[list[bytes]]:
    """Make all accesses to one's own memory; gives what each rank fetched by each of its own."""
    accesses = [Access(*each) for part in parts for each in part]
    stored = ((one, two) for one in held.stored for two in accesses if clash(one, two))
    found = first_clash(accesses) or next(stored, None)
    if found is not None:
        raise held.clashed(held.core.rank, *found)
    racing = [
        one
        for one in accesses
        if one.is_atomic and any(two.is_atomic and order_matters(one, two) for two in accesses)
    ]
    ordered = blocking(in_order(accesses, racing))
    call = "Fence"

    def change(memory: bytearray) -> dict[tuple[int, int], bytes]:
        return {(a.origin, a.number): perform(memory, a, call) for a in ordered}

    got = held.replace(change)
    return [[got[origin, each[2]] for each in part] for origin, part in enumerate(parts)]
