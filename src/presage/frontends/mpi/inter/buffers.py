"""Collective calls over intercommunicators, of buffers.

What a rank gives goes to the other group, what it gets comes from there. The root says `MPI.ROOT`,
others of its group `MPI.PROC_NULL`; those of the other group name its rank.
"""

from __future__ import annotations

from typing import Any

from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.buffers import (
    BufferCollectives,
    into_one,
    into_parts,
    split,
)
from presage.frontends.mpi.collective.transport import Plan
from presage.frontends.mpi.core.comm_state import CommState, both
from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.data.buffers import IN_PLACE, Buffer, buffer
from presage.frontends.mpi.data.op import Op
from presage.frontends.mpi.inter.objects import InterObjects, Role, across, given, given_part


class InterCollectives(InterObjects, BufferCollectives):
    """Bcast, Gather, Reduce and their relatives, from one group to the other."""

    def _far(self) -> CommState:
        return both(self._core())[1]

    def _bcast(self, name: str, buf: Any, root: int) -> Plan:
        begun = whole, _, text, claim = self._begin(name, root)
        role = Role.of(whole, claim)
        out = _buffer(buf, text) if role.is_root else None
        into = _buffer(buf, text) if role.is_other else None
        mine = None if out is None else out.read()
        store = into_one(into, text)
        result = across(whole, given)
        return self._plan(out, into, begun, mine, result, store, _elements(out, into))

    def _gather(self, name: str, sendbuf: Any, recvbuf: Any, root: int | None) -> Plan:
        begun = whole, _, text, claim = self._begin(name, root)
        role, far = Role.of(whole, claim), self._far()
        out = _buffer(sendbuf, text) if role.is_other else None
        into = _buffer(recvbuf, text, far.size) if role.is_root else None
        mine = None if out is None else out.read()
        store = into_parts(into, far, text)
        result = across(whole, results.everything)
        count = -1
        if root is not None and not name.endswith("v"):
            count = _elements(out, into) // (far.size if role.is_root else 1)
        return _typed(self._plan(out, into, begun, mine, result, store, count), root)

    def _scatter(self, name: str, sendbuf: Any, recvbuf: Any, root: int) -> Plan:
        begun = whole, _, text, claim = self._begin(name, root)
        role, far = Role.of(whole, claim), self._far()
        out = _buffer(sendbuf, text, far.size) if role.is_root else None
        into = _buffer(recvbuf, text) if role.is_other else None
        mine = None if out is None else split(out, far)
        store = into_one(into, text)
        result = across(whole, given_part)
        count = -1
        if not name.endswith("v"):
            count = mine[0][1] if mine else _elements(out, into)
        return self._plan(out, into, begun, mine, result, store, count)

    def _alltoall(self, name: str, sendbuf: Any, recvbuf: Any) -> Plan:
        begun = whole, _, text, _ = self._begin(name)
        far = self._far()
        out, into = _buffer(sendbuf, text, far.size), _buffer(recvbuf, text, far.size)
        store = into_parts(into, far, text)
        result = across(whole, results.crosswise)
        return _typed(self._plan(out, into, begun, split(out, far), result, store), None)

    def _reduce(self, name: str, sendbuf: Any, recvbuf: Any, op: Op, root: int | None) -> Plan:
        begun = whole, _, text, claim = self._begin(name, root, op)
        self._refuse_scan(name, text)
        role = Role.of(whole, claim)
        out = _buffer(sendbuf, text) if role.is_other else None
        into = _buffer(recvbuf, text) if role.is_root else None
        mine = None if out is None else out.read()
        result = across(whole, results.folded(lambda parts: op.fold_data(parts, text)))
        if into is not None and out is not None and into.elements < out.elements:
            raise invalid(f"{text}: the receive buffer is too small")
        store = into_one(into, text)
        return self._plan(out, into, begun, mine, result, store, _elements(out, into))

    def _reduce_scatter(self, name: str, sendbuf: Any, recvbuf: Any, counts: Any, op: Op) -> Plan:
        text = self._begin(name, op=op)[2]
        raise invalid(
            f"{text}: presage's mpi4py cannot do this on an intercommunicator; reduce, then scatter"
        )


def _buffer(given: Any, text: str, parts: int = 0) -> Buffer:
    if given is IN_PLACE:
        raise invalid(f"{text}: MPI.IN_PLACE has no meaning on an intercommunicator")
    return buffer(given, text, parts)


def _elements(out: Buffer | None, into: Buffer | None) -> int:
    known = out if out is not None else into
    return -1 if known is None else known.elements


def _typed(plan: Plan, root: int | None) -> Plan:
    """Without a root, what goes one way may be of another type than what goes the other."""
    return plan if root is not None else plan._replace(call=plan.call._replace(sign=""))
