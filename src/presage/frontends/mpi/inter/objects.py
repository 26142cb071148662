"""Collective calls over intercommunicators, of Python objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.exchange import Call, Result
from presage.frontends.mpi.collective.objects import (
    SUM,
    ObjectCollectives,
    fold_objects,
    parts_of,
    unpack_all,
)
from presage.frontends.mpi.collective.transport import gathered, started
from presage.frontends.mpi.core.comm_state import CommState, both
from presage.frontends.mpi.core.groups import FROM_ROOT, NO_ROOT
from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.data.objects import pack, unpack
from presage.frontends.mpi.data.op import Op
from presage.frontends.mpi.point.request import Request


class Role(NamedTuple):
    """What a rank is in a call; without a root, everyone is both."""

    is_root: bool
    is_other: bool  # in the group that the root talks to

    @classmethod
    def of(cls, whole: CommState, root: int) -> Role:
        if root == NO_ROOT:
            return cls(True, True)
        return cls(root == whole.rank, root >= 0 and root != whole.rank)


def across(whole: CommState, inner: Result) -> Result:
    """What comes of the contributions of the other group; `inner` knows of no other."""
    sides = whole.sides
    assert sides is not None

    def result(contributions: list[Any], at: int) -> Any:
        return inner([contributions[other] for other in sides.other(at)], sides.local(at))

    return result


def given(contributions: list[Any], rank: int) -> Any:
    """bcast: what the root gave; it alone gives something."""
    return next(each for each in contributions if each is not None)


def given_part(contributions: list[Any], rank: int) -> Any:
    """scatter: a part of it."""
    return given(contributions, rank)[rank]


def _one(packed: Any) -> Any:
    return None if packed is None else unpack(packed)


class Kind(NamedTuple):
    """What a call does with objects."""

    inner: Callable[[Op], Result]
    done: Callable[[Any], Any] = _one
    in_parts: bool = False  # one object for each rank of the other group


def _folded(op: Op) -> Result:
    return results.folded(fold_objects(op))


KINDS = {
    "bcast": Kind(lambda _: given),
    "scatter": Kind(lambda _: given_part, in_parts=True),
    "gather": Kind(lambda _: results.everything, unpack_all),
    "allgather": Kind(lambda _: results.everything, unpack_all),
    "alltoall": Kind(lambda _: results.crosswise, unpack_all, in_parts=True),
    "reduce": Kind(_folded),
    "allreduce": Kind(_folded),
}


class ObjectPlan(NamedTuple):
    """A collective call on objects, ready to be made."""

    whole: CommState
    call: Call
    mine: Any
    result: Result
    done: Callable[[Any], Any]
    text: str


def _now(plan: ObjectPlan) -> Any:
    return plan.done(gathered(plan.whole, plan.call, plan.mine, plan.result))


def _later(plan: ObjectPlan) -> Request:
    return started(plan.whole, plan.call, plan.mine, plan.result, plan.done, plan.text)


class InterObjects(ObjectCollectives):
    """bcast, gather, reduce and their relatives, from one group to the other."""

    def _object(self, name: str, obj: Any, root: Any = None, op: Op | None = None) -> ObjectPlan:
        whole, call, text, claim = self._begin(name, root, op)
        kind, role = KINDS[call.bare], Role.of(whole, claim)
        gives = role.is_root if call.bare in FROM_ROOT else role.is_other
        mine = None
        if gives:
            mine = parts_of(both(self._core())[1], obj, text) if kind.in_parts else pack(obj)
        result = across(whole, kind.inner(op or SUM))
        return ObjectPlan(whole, call, mine, result, kind.done, text)

    def bcast(self, obj: Any = None, root: int = 0) -> Any:
        return _now(self._object("bcast", obj, root))

    def scatter(self, sendobj: Any = None, root: int = 0) -> Any:
        return _now(self._object("scatter", sendobj, root))

    def gather(self, sendobj: Any, root: int = 0) -> Any:
        return _now(self._object("gather", sendobj, root))

    def allgather(self, sendobj: Any) -> Any:
        return _now(self._object("allgather", sendobj))

    def alltoall(self, sendobj: Any) -> Any:
        return _now(self._object("alltoall", sendobj))

    def reduce(self, sendobj: Any, op: Op = SUM, root: int = 0) -> Any:
        return _now(self._object("reduce", sendobj, root, op))

    def allreduce(self, sendobj: Any, op: Op = SUM) -> Any:
        return _now(self._object("allreduce", sendobj, op=op))

    def scan(self, sendobj: Any, op: Op = SUM) -> None:
        self._refuse_scan("scan", self._begin("scan", op=op)[2])

    def exscan(self, sendobj: Any, op: Op = SUM) -> None:
        self._refuse_scan("exscan", self._begin("exscan", op=op)[2])

    def _refuse_scan(self, name: str, text: str) -> None:
        if name.lower().endswith("scan"):
            raise invalid(f"{text}: MPI has no scans over an intercommunicator; Merge it first")

    def ibcast(self, obj: Any = None, root: int = 0) -> Request:
        return _later(self._object("ibcast", obj, root))

    def iscatter(self, sendobj: Any = None, root: int = 0) -> Request:
        return _later(self._object("iscatter", sendobj, root))

    def igather(self, sendobj: Any, root: int = 0) -> Request:
        return _later(self._object("igather", sendobj, root))

    def iallgather(self, sendobj: Any) -> Request:
        return _later(self._object("iallgather", sendobj))

    def ialltoall(self, sendobj: Any) -> Request:
        return _later(self._object("ialltoall", sendobj))

    def ireduce(self, sendobj: Any, op: Op = SUM, root: int = 0) -> Request:
        return _later(self._object("ireduce", sendobj, root, op))

    def iallreduce(self, sendobj: Any, op: Op = SUM) -> Request:
        return _later(self._object("iallreduce", sendobj, op=op))
