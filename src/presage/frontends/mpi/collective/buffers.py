"""Collective calls of a communicator with buffers: the upper-case ones, blocking and not.

Each call is three things: what the rank contributes, how results come of contributions, and where
the rank's result goes. `_run` does them at once, `_start` when a request is complete.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.exchange import Call, Result
from presage.frontends.mpi.collective.objects import SUM, ObjectCollectives
from presage.frontends.mpi.collective.transport import gathered, started
from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.mistakes import MPIException, invalid
from presage.frontends.mpi.core.rank import named
from presage.frontends.mpi.data.buffers import Buffer, Data, buffer, is_in_place
from presage.frontends.mpi.data.hazards import Watched, use
from presage.frontends.mpi.data.op import Op
from presage.frontends.mpi.point.request import Request


class Plan(NamedTuple):
    """A collective call on buffers, ready to be made."""

    core: CommState
    call: Call
    text: str
    mine: Any
    result: Result
    store: Callable[[Any], None]
    watched: tuple[Watched, ...]


def into_one(buf: Buffer | None, text: str) -> Callable[[Any], None]:
    """Where one message goes."""

    def store(data: Data | None) -> None:
        if buf is not None and data is not None:
            buf.write(data, text)

    return store


def into_parts(buf: Buffer | None, core: CommState, text: str) -> Callable[[Any], None]:
    """Where one message of each rank goes."""

    def store(parts: list[Data] | None) -> None:
        if buf is None or parts is None:
            return
        for rank, data in enumerate(parts):
            count, start = buf.part(rank, core.size)
            if data[1] != count * len(buf.datatype.offsets):
                raise MPIException(
                    "count-mismatch",
                    f"{text}: {named(core.ranks[rank])} gives {data[1]} elements, the buffer has"
                    f" room for {count * len(buf.datatype.offsets)}",
                )
            buf.write(data, text, count, start)

    return store


def split(buf: Buffer, core: CommState) -> list[Data]:
    parts = (buf.part(rank, core.size) for rank in range(core.size))
    return [buf.read(count, start) for count, start in parts]


class BufferCollectives(ObjectCollectives):
    """Bcast, Gather, Reduce and their relatives."""

    def _plan(
        self,
        out: Buffer | None,
        into: Buffer | None,
        begun: tuple[CommState, Call, str, int],
        mine: Any,
        result: Result,
        store: Callable[[Any], None],
        count: int = -1,
    ) -> Plan:
        core, call, text, _ = begun
        sign = next((buf.sign for buf in (out, into) if buf is not None and buf.count), "")
        call = call._replace(sign=sign, elements=count)
        watched = () if out is None else use(out, text, writes=False)
        watched += () if into is None or into is out else use(into, text, writes=True)
        return Plan(core, call, text, mine, result, store, watched)

    def _bcast(self, name: str, buf: Any, root: int) -> Plan:
        begun = core, _, text, root = self._begin(name, root)
        given = buffer(buf, text)
        into = None if core.rank == root else given
        mine = given.read() if core.rank == root else None
        store = into_one(into, text)
        result = results.of_root(root)
        out = given if core.rank == root else None
        return self._plan(out, into, begun, mine, result, store, given.elements)

    def _gather(self, name: str, sendbuf: Any, recvbuf: Any, root: int | None) -> Plan:
        """Gather, Gatherv, and with no root Allgather, Allgatherv."""
        begun = core, _, text, number = self._begin(name, root)
        gets = root is None or core.rank == number
        into = buffer(recvbuf, text, core.size) if gets else None
        if is_in_place(sendbuf) and into is not None:
            out, mine = None, into.read(*into.part(core.rank, core.size))
        else:
            out = buffer(sendbuf, text)
            mine = out.read()
        result = results.everything if root is None else results.all_at_root(number)
        store = into_parts(into, core, text)
        count = -1 if name.endswith("v") else mine[1]
        return self._plan(out, into, begun, mine, result, store, count)

    def _scatter(self, name: str, sendbuf: Any, recvbuf: Any, root: int) -> Plan:
        begun = core, _, text, root = self._begin(name, root)
        is_root = core.rank == root
        out = buffer(sendbuf, text, core.size) if is_root else None
        into = None if is_in_place(recvbuf) else buffer(recvbuf, text)
        mine = split(out, core) if out is not None else None
        count = -1
        if not name.endswith("v"):
            count = mine[core.rank][1] if mine is not None else into.elements if into else -1
        store = into_one(into, text)
        result = results.part_of_root(root)
        return self._plan(out, into, begun, mine, result, store, count)

    def _alltoall(self, name: str, sendbuf: Any, recvbuf: Any) -> Plan:
        begun = core, _, text, _ = self._begin(name)
        into = buffer(recvbuf, text, core.size)
        out = into if is_in_place(sendbuf) else buffer(sendbuf, text, core.size)
        mine = split(out, core)
        store = into_parts(into, core, text)
        count = -1 if name.endswith(("v", "w")) else out.elements
        return self._plan(out, into, begun, mine, results.crosswise, store, count)

    def _reduce(
        self,
        name: str,
        sendbuf: Any,
        recvbuf: Any,
        op: Op,
        root: int | None,
        how: Callable[[results.Fold, int, str], Result],
    ) -> Plan:
        begun = core, _, text, number = self._begin(name, root, op)
        gets = root is None or core.rank == number
        into = buffer(recvbuf, text) if gets and recvbuf is not None else None
        out = into if is_in_place(sendbuf) else buffer(sendbuf, text)
        if out is None or (into is not None and into.elements < out.elements):
            raise invalid(f"{text}: the receive buffer is too small")
        result = how(lambda parts: op.fold_data(parts, text), number, text)
        store, mine = into_one(into, text), out.read()
        return self._plan(out, into, begun, mine, result, store, out.elements)

    def _reduce_scatter(self, name: str, sendbuf: Any, recvbuf: Any, counts: Any, op: Op) -> Plan:
        begun = core, _, text, _ = self._begin(name, op=op)
        into = buffer(recvbuf, text)
        out = into if is_in_place(sendbuf) else buffer(sendbuf, text)
        each = len(out.datatype.offsets)
        sizes: list[int] | None
        if counts is not None:
            sizes = [int(count) * each for count in counts]
        elif name.endswith("_block"):
            sizes = [out.elements // core.size] * core.size
        else:
            sizes = None
        result = results.folded_parts(op, sizes, text)
        mine = (out.read(), into.elements)
        store = into_one(into, text)
        return self._plan(out, into, begun, mine, result, store, out.elements)

    def Bcast(self, buf: Any, root: int = 0) -> None:
        _run(self._bcast("Bcast", buf, root))

    def Ibcast(self, buf: Any, root: int = 0) -> Request:
        return _start(self._bcast("Ibcast", buf, root))

    def Gather(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        _run(self._gather("Gather", sendbuf, recvbuf, root))

    def Gatherv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        _run(self._gather("Gatherv", sendbuf, recvbuf, root))

    def Igather(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        return _start(self._gather("Igather", sendbuf, recvbuf, root))

    def Igatherv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        return _start(self._gather("Igatherv", sendbuf, recvbuf, root))

    def Allgather(self, sendbuf: Any, recvbuf: Any) -> None:
        _run(self._gather("Allgather", sendbuf, recvbuf, None))

    def Allgatherv(self, sendbuf: Any, recvbuf: Any) -> None:
        _run(self._gather("Allgatherv", sendbuf, recvbuf, None))

    def Iallgather(self, sendbuf: Any, recvbuf: Any) -> Request:
        return _start(self._gather("Iallgather", sendbuf, recvbuf, None))

    def Iallgatherv(self, sendbuf: Any, recvbuf: Any) -> Request:
        return _start(self._gather("Iallgatherv", sendbuf, recvbuf, None))

    def Scatter(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        _run(self._scatter("Scatter", sendbuf, recvbuf, root))

    def Scatterv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:
        _run(self._scatter("Scatterv", sendbuf, recvbuf, root))

    def Iscatter(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        return _start(self._scatter("Iscatter", sendbuf, recvbuf, root))

    def Iscatterv(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> Request:
        return _start(self._scatter("Iscatterv", sendbuf, recvbuf, root))

    def Alltoall(self, sendbuf: Any, recvbuf: Any) -> None:
        _run(self._alltoall("Alltoall", sendbuf, recvbuf))

    def Alltoallv(self, sendbuf: Any, recvbuf: Any) -> None:
        _run(self._alltoall("Alltoallv", sendbuf, recvbuf))

    def Ialltoall(self, sendbuf: Any, recvbuf: Any) -> Request:
        return _start(self._alltoall("Ialltoall", sendbuf, recvbuf))

    def Ialltoallv(self, sendbuf: Any, recvbuf: Any) -> Request:
        return _start(self._alltoall("Ialltoallv", sendbuf, recvbuf))

    def Reduce(self, sendbuf: Any, recvbuf: Any, op: Op = SUM, root: int = 0) -> None:
        _run(self._reduce("Reduce", sendbuf, recvbuf, op, root, _at_root))

    def Ireduce(self, sendbuf: Any, recvbuf: Any, op: Op = SUM, root: int = 0) -> Request:
        return _start(self._reduce("Ireduce", sendbuf, recvbuf, op, root, _at_root))

    def Allreduce(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> None:
        _run(self._reduce("Allreduce", sendbuf, recvbuf, op, None, _for_all))

    def Iallreduce(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> Request:
        return _start(self._reduce("Iallreduce", sendbuf, recvbuf, op, None, _for_all))

    def Scan(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> None:
        _run(self._reduce("Scan", sendbuf, recvbuf, op, None, _up_to))

    def Iscan(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> Request:
        return _start(self._reduce("Iscan", sendbuf, recvbuf, op, None, _up_to))

    def Exscan(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> None:
        _run(self._reduce("Exscan", sendbuf, recvbuf, op, None, _before))

    def Iexscan(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> Request:
        return _start(self._reduce("Iexscan", sendbuf, recvbuf, op, None, _before))

    def Reduce_scatter(
        self, sendbuf: Any, recvbuf: Any, recvcounts: Any = None, op: Op = SUM
    ) -> None:
        _run(self._reduce_scatter("Reduce_scatter", sendbuf, recvbuf, recvcounts, op))

    def Reduce_scatter_block(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> None:
        _run(self._reduce_scatter("Reduce_scatter_block", sendbuf, recvbuf, None, op))

    def Ireduce_scatter(
        self, sendbuf: Any, recvbuf: Any, recvcounts: Any = None, op: Op = SUM
    ) -> Request:
        return _start(self._reduce_scatter("Ireduce_scatter", sendbuf, recvbuf, recvcounts, op))

    def Ireduce_scatter_block(self, sendbuf: Any, recvbuf: Any, op: Op = SUM) -> Request:
        return _start(self._reduce_scatter("Ireduce_scatter_block", sendbuf, recvbuf, None, op))


def _at_root(fold: results.Fold, root: int, text: str) -> Result:
    return results.folded_at_root(root, fold)


def _for_all(fold: results.Fold, root: int, text: str) -> Result:
    return results.folded(fold)


def _up_to(fold: results.Fold, root: int, text: str) -> Result:
    return results.folded_up_to(fold)


def _before(fold: results.Fold, root: int, text: str) -> Result:
    return results.folded_before(fold)


def _run(plan: Plan) -> None:
    plan.store(gathered(plan.core, plan.call, plan.mine, plan.result))


def _start(plan: Plan) -> Request:
    request = started(plan.core, plan.call, plan.mine, plan.result, plan.store, plan.text)
    request.watch(plan.watched)
    return request
