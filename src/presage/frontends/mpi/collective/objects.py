"""Collective calls of a communicator with Python objects: the lower-case ones."""

from __future__ import annotations

from typing import Any

from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.exchange import Call, Result
from presage.frontends.mpi.collective.transport import gathered, note, started
from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.handle import check_root
from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.data.objects import pack, unpack
from presage.frontends.mpi.data.op import OPS, Op
from presage.frontends.mpi.point.buffers import BufferedPointToPoint
from presage.frontends.mpi.point.request import Request

SUM = OPS["SUM"]


def unpack_all(packed: list[Any] | None) -> list[Any] | None:
    return None if packed is None else [unpack(each) for each in packed]


def _unpack(packed: Any) -> Any:
    return None if packed is None else unpack(packed)


def fold_objects(op: Op) -> results.Fold:
    return lambda packed: pack(op.fold([unpack(each) for each in packed]))


class ObjectCollectives(BufferedPointToPoint):
    """bcast, gather, reduce and their relatives."""

    def _begin(
        self, name: str, root: Any = None, op: Op | None = None
    ) -> tuple[CommState, Call, str, int]:
        """The communicator, the call as others are told of it, its text, and the root."""
        core = self._core(name)
        given = {"root": root, "op": op}
        whole = core.whole or core
        text = note(whole, name, **given)
        number = -1 if root is None else check_root(core, root, text)
        if op is not None:
            if not isinstance(op, Op):
                raise invalid(f"{text}: {op!r} is no operation")
            op.check(text)
        called = "" if op is None else op.name
        return whole, Call(name, number, called), text, number

    def barrier(self) -> None:
        core, call, _, _ = self._begin("barrier")
        gathered(core, call, None, results.nothing)

    Barrier = barrier

    def bcast(self, obj: Any = None, root: int = 0) -> Any:
        core, call, _, root = self._begin("bcast", root)
        mine = pack(obj) if core.rank == root else None
        got = gathered(core, call, mine, results.of_root(root))
        return obj if core.rank == root else unpack(got)

    def scatter(self, sendobj: Any = None, root: int = 0) -> Any:
        core, call, text, root = self._begin("scatter", root)
        mine = parts_of(core, sendobj, text) if core.rank == root else None
        return unpack(gathered(core, call, mine, results.part_of_root(root)))

    def gather(self, sendobj: Any, root: int = 0) -> list[Any] | None:
        core, call, _, root = self._begin("gather", root)
        return unpack_all(gathered(core, call, pack(sendobj), results.all_at_root(root)))

    def allgather(self, sendobj: Any) -> list[Any] | None:
        core, call, _, _ = self._begin("allgather")
        return unpack_all(gathered(core, call, pack(sendobj), results.everything))

    def alltoall(self, sendobj: Any) -> list[Any] | None:
        core, call, text, _ = self._begin("alltoall")
        return unpack_all(gathered(core, call, parts_of(core, sendobj, text), results.crosswise))

    def reduce(self, sendobj: Any, op: Op = SUM, root: int = 0) -> Any:
        core, call, _, root = self._begin("reduce", root, op)
        result = results.folded_at_root(root, fold_objects(op))
        return _unpack(gathered(core, call, pack(sendobj), result))

    def allreduce(self, sendobj: Any, op: Op = SUM) -> Any:
        return self._folding("allreduce", sendobj, op, results.folded(fold_objects(op)))

    def scan(self, sendobj: Any, op: Op = SUM) -> Any:
        return self._folding("scan", sendobj, op, results.folded_up_to(fold_objects(op)))

    def exscan(self, sendobj: Any, op: Op = SUM) -> Any:
        return self._folding("exscan", sendobj, op, results.folded_before(fold_objects(op)))

    def _folding(self, name: str, sendobj: Any, op: Op, result: Result) -> Any:
        core, call, _, _ = self._begin(name, op=op)
        return _unpack(gathered(core, call, pack(sendobj), result))

    # Those that do not block. mpi4py itself has only the barrier in lower case.

    def ibarrier(self) -> Request:
        core, call, text, _ = self._begin("ibarrier")
        return started(core, call, None, results.nothing, lambda _: None, text)

    Ibarrier = ibarrier

    def ibcast(self, obj: Any = None, root: int = 0) -> Request:
        core, call, text, root = self._begin("ibcast", root)
        mine = pack(obj) if core.rank == root else None
        return started(core, call, mine, results.of_root(root), unpack, text)

    def iscatter(self, sendobj: Any = None, root: int = 0) -> Request:
        core, call, text, root = self._begin("iscatter", root)
        mine = parts_of(core, sendobj, text) if core.rank == root else None
        return started(core, call, mine, results.part_of_root(root), unpack, text)

    def igather(self, sendobj: Any, root: int = 0) -> Request:
        core, call, text, root = self._begin("igather", root)
        result = results.all_at_root(root)
        return started(core, call, pack(sendobj), result, unpack_all, text)

    def iallgather(self, sendobj: Any) -> Request:
        core, call, text, _ = self._begin("iallgather")
        return started(core, call, pack(sendobj), results.everything, unpack_all, text)

    def ialltoall(self, sendobj: Any) -> Request:
        core, call, text, _ = self._begin("ialltoall")
        parts = parts_of(core, sendobj, text)
        return started(core, call, parts, results.crosswise, unpack_all, text)

    def ireduce(self, sendobj: Any, op: Op = SUM, root: int = 0) -> Request:
        core, call, text, root = self._begin("ireduce", root, op)
        result = results.folded_at_root(root, fold_objects(op))
        return started(core, call, pack(sendobj), result, _unpack, text)

    def iallreduce(self, sendobj: Any, op: Op = SUM) -> Request:
        core, call, text, _ = self._begin("iallreduce", op=op)
        return started(core, call, pack(sendobj), results.folded(fold_objects(op)), _unpack, text)


def parts_of(core: CommState, given: Any, text: str) -> list[Any]:
    """One object for each rank."""
    parts = list(given) if given is not None else []
    if len(parts) != core.size:
        raise ValueError(f"{text}: {len(parts)} items for {core.size} ranks")
    return [pack(each) for each in parts]
