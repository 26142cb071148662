"""Collective calls of a communicator with buffers: the upper-case ones, blocking and not.

Each call is three things: what the rank contributes, how results come of contributions, and where
the rank's result goes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.exchange import Call, Result
from presage.frontends.mpi.collective.objects import SUM, ObjectCollectives
from presage.frontends.mpi.collective.transport import Plan, made
from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.mistakes import MPIException, invalid
from presage.frontends.mpi.core.named import named
from presage.frontends.mpi.core.rank import named as rank_name
from presage.frontends.mpi.data.buffers import Buffer, Data, buffer, is_in_place
from presage.frontends.mpi.data.hazards import use
from presage.frontends.mpi.data.op import Op


def into_one(buf: Buffer | None, text: str) -> Callable[[Any], None]:
    def store(data: Data | None) -> None:
        if buf is not None and data is not None:
            buf.write(data, text)

    return store


def into_parts(buf: Buffer | None, core: CommState, text: str) -> Callable[[Any], None]:
    def store(parts: list[Data] | None) -> None:
        if buf is None or parts is None:
            return
        for rank, data in enumerate(parts):
            count, start = buf.part(rank, core.size)
            if data[1] != count * len(buf.datatype.offsets):
                raise MPIException(
                    "count-mismatch",
                    f"{text}: {rank_name(core.ranks[rank])} gives {data[1]} elements, the buffer"
                    f" has room for {count * len(buf.datatype.offsets)}",
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

    def _reduce(self, name: str, sendbuf: Any, recvbuf: Any, op: Op, root: int | None) -> Plan:
        begun = core, call, text, number = self._begin(name, root, op)
        gets = root is None or core.rank == number
        into = buffer(recvbuf, text) if gets and recvbuf is not None else None
        out = into if is_in_place(sendbuf) else buffer(sendbuf, text)
        if out is None or (into is not None and into.elements < out.elements):
            raise invalid(f"{text}: the receive buffer is too small")
        fold = results.FOLDED[call.bare]
        result = fold(number, lambda parts: op.fold_data(parts, text))
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

    # The calls of scripts. What they do follows from their names: those with `I` give a request.

    def _call_bcast(self, buf: Any, root: int = 0, *, _name: str = "") -> Any:
        return made(self._bcast(_name, buf, root))

    def _call_gather(self, sendbuf: Any, recvbuf: Any, root: int = 0, *, _name: str = "") -> Any:
        return made(self._gather(_name, sendbuf, recvbuf, root))

    def _call_allgather(self, sendbuf: Any, recvbuf: Any, *, _name: str = "") -> Any:
        return made(self._gather(_name, sendbuf, recvbuf, None))

    def _call_scatter(self, sendbuf: Any, recvbuf: Any, root: int = 0, *, _name: str = "") -> Any:
        return made(self._scatter(_name, sendbuf, recvbuf, root))

    def _call_alltoall(self, sendbuf: Any, recvbuf: Any, *, _name: str = "") -> Any:
        return made(self._alltoall(_name, sendbuf, recvbuf))

    def _call_reduce(
        self, sendbuf: Any, recvbuf: Any, op: Op = SUM, root: int = 0, *, _name: str = ""
    ) -> Any:
        return made(self._reduce(_name, sendbuf, recvbuf, op, root))

    def _call_fold(self, sendbuf: Any, recvbuf: Any, op: Op = SUM, *, _name: str = "") -> Any:
        return made(self._reduce(_name, sendbuf, recvbuf, op, None))

    def _call_reduce_scatter(
        self, sendbuf: Any, recvbuf: Any, recvcounts: Any = None, op: Op = SUM, *, _name: str = ""
    ) -> Any:
        return made(self._reduce_scatter(_name, sendbuf, recvbuf, recvcounts, op))

    def _call_blocks(self, sendbuf: Any, recvbuf: Any, op: Op = SUM, *, _name: str = "") -> Any:
        return made(self._reduce_scatter(_name, sendbuf, recvbuf, None, op))

    Bcast, Ibcast = named(_call_bcast, "Bcast", "Ibcast")
    Gather, Gatherv, Igather, Igatherv = named(
        _call_gather, "Gather", "Gatherv", "Igather", "Igatherv"
    )
    Allgather, Allgatherv, Iallgather, Iallgatherv = named(
        _call_allgather, "Allgather", "Allgatherv", "Iallgather", "Iallgatherv"
    )
    Scatter, Scatterv, Iscatter, Iscatterv = named(
        _call_scatter, "Scatter", "Scatterv", "Iscatter", "Iscatterv"
    )
    Alltoall, Alltoallv, Ialltoall, Ialltoallv = named(
        _call_alltoall, "Alltoall", "Alltoallv", "Ialltoall", "Ialltoallv"
    )
    Reduce, Ireduce = named(_call_reduce, "Reduce", "Ireduce")
    Allreduce, Iallreduce, Scan, Iscan, Exscan, Iexscan = named(
        _call_fold, "Allreduce", "Iallreduce", "Scan", "Iscan", "Exscan", "Iexscan"
    )
    Reduce_scatter, Ireduce_scatter = named(
        _call_reduce_scatter, "Reduce_scatter", "Ireduce_scatter"
    )
    Reduce_scatter_block, Ireduce_scatter_block = named(
        _call_blocks, "Reduce_scatter_block", "Ireduce_scatter_block"
    )
