"""Collective calls of a communicator with buffers: the upper-case ones, blocking and not.

Each call is three things: what the rank contributes, how results come of contributions, and where
the rank's result goes. Who contributes and who gets a result is asked of the communicator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.exchange import Call, Result, is_vector
from presage.frontends.mpi.collective.objects import SUM, ObjectCollectives
from presage.frontends.mpi.collective.transport import Plan, made
from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.mistakes import MPIException, invalid
from presage.frontends.mpi.core.named import calls
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
            if data[1] != count * buf.each:
                raise MPIException(
                    "count-mismatch",
                    f"{text}: {rank_name(core.ranks[rank])} gives {data[1]} elements, the buffer"
                    f" has room for {count * buf.each}",
                )
            buf.write(data, text, count, start)

    return store


def split(buf: Buffer, core: CommState) -> list[Data]:
    parts = (buf.part(rank, core.size) for rank in range(core.size))
    return [buf.read(count, start) for count, start in parts]


def _elements(out: Buffer | None, into: Buffer | None) -> int:
    known = out if out is not None else into
    return -1 if known is None else known.elements


class BufferCollectives(ObjectCollectives):
    """Bcast, Gather, Reduce and their relatives.

    What they do follows from their names: those with `I` give a request.
    """

    def _exchanged(
        self,
        out: Buffer | None,
        into: Buffer | None,
        begun: tuple[CommState, Call, str, int],
        mine: Any,
        result: Result,
        store: Callable[[Any], None],
        count: int = -1,
    ) -> Any:
        core, call, text, _ = begun
        sign = next((buf.sign for buf in (out, into) if buf is not None and buf.count), "")
        if core.sides is not None and call.bare in ("allgather", "alltoall"):
            sign, count = "", -1  # what goes one way may differ from what goes the other
        call = replace(call, sign=sign, elements=count)
        watched = () if out is None else use(out, text, writes=False)
        watched += () if into is None or into is out else use(into, text, writes=True)
        return made(Plan(core, call, text, mine, result, store, watched))

    def _is_in_place(self, given: Any) -> bool:
        return is_in_place(given)

    def _buffer(self, given: Any, text: str, parts: int = 0, vector: bool = False) -> Buffer:
        return buffer(given, text, parts, vector)

    @calls("Bcast", "Ibcast")
    def _bcast_buffer(self, buf: Any, root: int = 0, *, _name: str = "") -> Any:
        begun = core, call, text, _ = self._begin(_name, root)
        gives, gets = self._roles(core, call, text)
        out = self._buffer(buf, text) if gives else None
        into = self._buffer(buf, text) if gets else None
        mine = None if out is None else out.read()
        result, store = self._result(core, call), into_one(into, text)
        return self._exchanged(out, into, begun, mine, result, store, _elements(out, into))

    @calls("Gather", "Gatherv", "Igather", "Igatherv")
    def _gather_buffer(self, sendbuf: Any, recvbuf: Any, root: int = 0, *, _name: str = "") -> Any:
        return self._gathered(_name, sendbuf, recvbuf, root)

    @calls("Allgather", "Allgatherv", "Iallgather", "Iallgatherv")
    def _allgather_buffer(self, sendbuf: Any, recvbuf: Any, *, _name: str = "") -> Any:
        return self._gathered(_name, sendbuf, recvbuf, None)

    def _gathered(self, name: str, sendbuf: Any, recvbuf: Any, root: int | None) -> Any:
        begun = core, call, text, _ = self._begin(name, root)
        (gives, gets), peers = self._roles(core, call, text), self._peers(core)
        vector = is_vector(call.kind)
        into = self._buffer(recvbuf, text, peers.size, vector) if gets else None
        out = mine = None
        if into is not None and self._is_in_place(sendbuf):
            mine = into.read(*into.part(core.rank, core.size))
        elif gives:
            out = self._buffer(sendbuf, text)
            mine = out.read()
        count = -1
        if not vector and (mine is not None or into is not None):
            count = mine[1] if mine is not None else _elements(into, None) // peers.size
        result, store = self._result(core, call), into_parts(into, peers, text)
        return self._exchanged(out, into, begun, mine, result, store, count)

    @calls("Scatter", "Scatterv", "Iscatter", "Iscatterv")
    def _scatter_buffer(self, sendbuf: Any, recvbuf: Any, root: int = 0, *, _name: str = "") -> Any:
        begun = core, call, text, _ = self._begin(_name, root)
        (gives, gets), peers = self._roles(core, call, text), self._peers(core)
        vector = is_vector(call.kind)
        out = self._buffer(sendbuf, text, peers.size, vector) if gives else None
        into = self._buffer(recvbuf, text) if gets and not self._is_in_place(recvbuf) else None
        mine = None if out is None else split(out, peers)
        count = mine[0][1] if mine else _elements(out, into)
        result, store = self._result(core, call), into_one(into, text)
        count = -1 if vector else count
        return self._exchanged(out, into, begun, mine, result, store, count)

    @calls("Alltoall", "Alltoallv", "Ialltoall", "Ialltoallv")
    def _alltoall_buffer(self, sendbuf: Any, recvbuf: Any, *, _name: str = "") -> Any:
        begun = core, call, text, _ = self._begin(_name)
        peers, vector = self._peers(core), is_vector(_name)
        into = self._buffer(recvbuf, text, peers.size, vector)
        in_place = self._is_in_place(sendbuf)
        out = into if in_place else self._buffer(sendbuf, text, peers.size, vector)
        result, store = self._result(core, call), into_parts(into, peers, text)
        count = -1 if vector else out.elements
        return self._exchanged(out, into, begun, split(out, peers), result, store, count)

    @calls("Reduce", "Ireduce")
    def _reduce_buffer(
        self, sendbuf: Any, recvbuf: Any, op: Op = SUM, root: int = 0, *, _name: str = ""
    ) -> Any:
        return self._reduced(_name, sendbuf, recvbuf, op, root)

    @calls("Allreduce", "Iallreduce", "Scan", "Iscan", "Exscan", "Iexscan")
    def _fold_buffer(self, sendbuf: Any, recvbuf: Any, op: Op = SUM, *, _name: str = "") -> Any:
        return self._reduced(_name, sendbuf, recvbuf, op, None)

    def _reduced(self, name: str, sendbuf: Any, recvbuf: Any, op: Op, root: int | None) -> Any:
        begun = core, call, text, _ = self._begin(name, root, op)
        gives, gets = self._roles(core, call, text)
        wanted = recvbuf is not None or core.sides is not None
        into = self._buffer(recvbuf, text) if gets and wanted else None
        out = None
        if gives:
            out = into if self._is_in_place(sendbuf) else self._buffer(sendbuf, text)
            if out is None or (into is not None and into.elements < out.elements):
                raise invalid(f"{text}: the receive buffer is too small")
        mine = None if out is None else out.read()
        result = self._result(core, call, lambda parts: op.fold_data(parts, text))
        store = into_one(into, text)
        return self._exchanged(out, into, begun, mine, result, store, _elements(out, into))

    @calls("Reduce_scatter", "Ireduce_scatter")
    def _counted(
        self, sendbuf: Any, recvbuf: Any, recvcounts: Any = None, op: Op = SUM, *, _name: str = ""
    ) -> Any:
        return self._reduce_scatter(_name, sendbuf, recvbuf, recvcounts, op)

    @calls("Reduce_scatter_block", "Ireduce_scatter_block")
    def _blocks(self, sendbuf: Any, recvbuf: Any, op: Op = SUM, *, _name: str = "") -> Any:
        return self._reduce_scatter(_name, sendbuf, recvbuf, None, op)

    def _reduce_scatter(self, name: str, sendbuf: Any, recvbuf: Any, counts: Any, op: Op) -> Any:
        begun = core, _, text, _ = self._begin(name, op=op)
        into = buffer(recvbuf, text)
        out = into if is_in_place(sendbuf) else buffer(sendbuf, text)
        each = out.each
        sizes: list[int] | None
        if counts is not None:
            sizes = [int(count) * each for count in counts]
        elif "_block" in name:
            sizes = [out.elements // core.size] * core.size
        else:
            sizes = None
        result = results.folded_parts(op, sizes, text)
        mine = (out.read(), into.elements)
        store = into_one(into, text)
        return self._exchanged(out, into, begun, mine, result, store, out.elements)
