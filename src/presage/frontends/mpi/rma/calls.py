"""Accesses to the memory of a window, as scripts call them: Put, Get and their relatives."""

from __future__ import annotations

from typing import Any

from presage.frontends.mpi.core.handle import check_dest
from presage.frontends.mpi.core.mistakes import MPIException, invalid, wrong_value
from presage.frontends.mpi.core.named import calls
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.core.shared_handle import Owned
from presage.frontends.mpi.core.status import PROC_NULL, Status
from presage.frontends.mpi.data.buffers import Buffer, agree, buffer
from presage.frontends.mpi.data.hazards import Watched, use
from presage.frontends.mpi.data.op import OPS, Op
from presage.frontends.mpi.data.type_handle import TypeHandle, by_letter
from presage.frontends.mpi.point.request import Request, at_once
from presage.frontends.mpi.rma import access as kinds
from presage.frontends.mpi.rma.access import Access, runs_of
from presage.frontends.mpi.rma.epochs import Epoch, Pending, deliver
from presage.frontends.mpi.rma.memory import Memory
from presage.process.ops import Response

SUM = OPS["SUM"]


class Accessed(Owned):
    """What can be done with the memory of others."""

    _held: Memory | None

    def __init__(self) -> None:
        super().__init__()
        self._begun = 0  # accesses so far
        self._epochs: dict[int, Epoch] = {}  # by target
        self._fence: str | None = None  # the call that opened a fence's epoch
        self._fenced: list[tuple[int, Pending]] = []  # with their targets

    def _memory(self, call: str) -> Memory:
        if self._held is None:
            raise invalid(f"{call}: the window is WIN_NULL, or was freed before")
        return self._held

    @property
    def watched(self) -> tuple[Watched, ...]:
        pending = [each for epoch in self._epochs.values() for each in epoch.accesses]
        pending += [each for _, each in self._fenced]
        return tuple(watched for each in pending for watched in each.watched)

    def _access(self, name: str, rank: int, target: Any, **given: Any) -> Request | None:
        """Begin an access by the call of that name; a request, if it gives one."""
        pending = self._begin(name, rank, target, **given)
        return self._requested(name, pending) if name.startswith("R") else None

    def _begin(
        self,
        name: str,
        rank: int,
        target: Any,
        out: Any = None,
        into: Any = None,
        op: Op | None = None,
        compare: Any = None,
    ) -> Pending | None:
        """Begin an access; None if it is to nobody."""
        call = enter_call(name, target_rank=rank, target=target, op=op, by=self)
        memory = self._memory(call)
        if check_dest(memory.core, rank, call) == PROC_NULL:
            return None
        epoch = self._epochs.get(rank)  # of a fence, none
        if epoch is None and self._fence is None:
            raise MPIException(
                "missing-epoch",
                f"{call}: no epoch is open for rank {rank}; call Fence, Lock or Start before",
            )
        given = buffer(out if out is not None else into, call)
        if op is not None:
            op.check(call)
            if not op.is_predefined:
                raise invalid(f"{call}: only predefined operations can be used on windows")
        runs = self._runs(memory, rank, target, given, call)
        watched = use(given, call, writes=False) if out is not None else ()
        result = buffer(into, call) if into is not None else None
        if result is not None:
            _same(result, given, call, "the result")
            watched += use(result, call, writes=True)
        data = given.read()[2] if out is not None else b""
        other = b""
        if compare is not None:
            _same(buffer(compare, call), given, call, "what is compared")
            other = buffer(compare, call).read()[2]
        operation = op.name if op else ""
        kind = name.removeprefix("R").capitalize()
        made = Access(kind, memory.core.rank, self._begun, runs, given.sign, data, operation, other)
        current_rank().places.keep(memory.box(made.origin), current_rank().number, self._begun)
        self._begun += 1
        pending = Pending(made, call, result, watched)
        if epoch is None:
            self._fenced.append((rank, pending))
        else:
            epoch.add(pending, memory)
        return pending

    def _runs(self, memory: Memory, rank: int, target: Any, given: Buffer, call: str) -> kinds.Runs:
        """The bytes of the target that are meant."""
        disp, count, datatype = _target(target, given, call)
        datatype.check(call)
        if not agree(given.sign, datatype.sign, given.elements):
            raise MPIException(
                "type-mismatch",
                f"{call}: elements of type {given.sign}, at the target {datatype.sign}",
            )
        if count * datatype.layout.many != given.elements:
            raise MPIException(
                "count-mismatch",
                f"{call}: {given.elements} elements, at the target {count * datatype.layout.many}",
            )
        runs = runs_of(disp * memory.units[rank], count, datatype)
        size = memory.sizes[rank]
        beyond = [(at, n) for at, n in runs if at < 0 or at + n > size]
        if beyond:
            first, last = beyond[0][0], sum(beyond[-1])
            raise MPIException(
                "rma-range",
                f"{call}: bytes {first} to {last} are outside of the window of rank {rank}, which"
                f" has {size}",
            )
        return runs

    def _requested(self, name: str, pending: Pending | None) -> Request:
        if pending is None:
            return at_once()
        memory = self._memory(name)
        target = next((t for t, e in self._epochs.items() if pending in e.accesses), None)
        if target is None or not self._epochs[target].is_locking:
            raise MPIException("missing-epoch", f"{pending.call}: it needs a lock, and has none")
        epoch = self._epochs[target]

        def finish(_: list[Response]) -> tuple[Any, Status]:
            if pending.got is None:
                epoch.push(memory)
            deliver(pending)
            epoch.forget(memory)
            return None, Status()

        return Request.of((), finish, pending.call)

    # The calls of scripts. Those with `R` give a request, and need a lock.

    @calls("Put", "Rput")
    def _put(self, origin: Any, target_rank: int, target: Any = None, *, _name: str = "") -> Any:
        return self._access(_name, target_rank, target, out=origin)

    @calls("Get", "Rget")
    def _get(self, origin: Any, target_rank: int, target: Any = None, *, _name: str = "") -> Any:
        return self._access(_name, target_rank, target, into=origin)

    @calls("Accumulate", "Raccumulate")
    def _accumulate(
        self, origin: Any, target_rank: int, target: Any = None, op: Op = SUM, *, _name: str = ""
    ) -> Any:
        return self._access(_name, target_rank, target, out=origin, op=op)

    @calls("Get_accumulate", "Rget_accumulate")
    def _get_accumulate(
        self,
        origin: Any,
        result: Any,
        target_rank: int,
        target: Any = None,
        op: Op = SUM,
        *,
        _name: str = "",
    ) -> Any:
        out = result if op.name == "NO_OP" and origin is None else origin
        return self._access(_name, target_rank, target, out=out, into=result, op=op)

    def Fetch_and_op(
        self, origin: Any, result: Any, target_rank: int, target_disp: int = 0, op: Op = SUM
    ) -> None:
        out = result if op.name == "NO_OP" and origin is None else origin
        self._access(kinds.FETCH_AND_OP, target_rank, target_disp, out=out, into=result, op=op)

    def Compare_and_swap(
        self, origin: Any, compare: Any, result: Any, target_rank: int, target_disp: int = 0
    ) -> None:
        kind = kinds.COMPARE_AND_SWAP
        self._access(kind, target_rank, target_disp, out=origin, into=result, compare=compare)


def _target(target: Any, given: Buffer, call: str) -> tuple[int, int, TypeHandle]:
    """Displacement, count and type, as far as they are given; the rest as at the origin."""
    if target is None:
        return 0, given.count, given.datatype
    if not isinstance(target, list | tuple):
        return int(target), given.count, given.datatype
    if not 1 <= len(target) <= 3:
        raise invalid(f"{call}: {target!r} is no target; give (displacement, count, TYPE)")
    disp, count, datatype = [*target, None, None][:3]
    if isinstance(datatype, str):
        datatype = by_letter(datatype)
    datatype = given.datatype if datatype is None else datatype
    if count is None:
        count = given.elements // max(1, datatype.layout.many)
    return int(disp or 0), int(count), datatype


def _same(buffer_: Buffer, given: Buffer, call: str, what: str) -> None:
    if (buffer_.sign, buffer_.elements) != (given.sign, given.elements):
        raise wrong_value(f"{call}: {what} has another type or length")
