"""Collective calls of a communicator with Python objects: the lower-case ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.exchange import Call, Result
from presage.frontends.mpi.collective.transport import Plan, made, note
from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.groups import FROM_ROOT, NO_ROOT
from presage.frontends.mpi.core.handle import check_root
from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.named import calls
from presage.frontends.mpi.data.objects import pack, unpack
from presage.frontends.mpi.data.op import OPS, Op
from presage.frontends.mpi.point.calls import PointToPoint
from presage.records import NamedTuple

SUM = OPS["SUM"]


def unpack_all(packed: list[Any] | None) -> list[Any] | None:
    return None if packed is None else [unpack(each) for each in packed]


def unpack_one(packed: Any) -> Any:
    return None if packed is None else unpack(packed)


def fold_objects(op: Op) -> results.Fold:
    return lambda packed: pack(op.fold([unpack(each) for each in packed]))


class Kind(NamedTuple):
    result: Callable[[int], Result] = results.of_root
    done: Callable[[Any], Any] = unpack_one
    in_parts: bool = False  # one object for each rank


KINDS = {
    "bcast": Kind(),
    "scatter": Kind(results.part_of_root, in_parts=True),
    "gather": Kind(results.all_at_root, unpack_all),
    "allgather": Kind(lambda _: results.everything, unpack_all),
    "alltoall": Kind(lambda _: results.crosswise, unpack_all, in_parts=True),
}


class ObjectCollectives(PointToPoint):
    """bcast, gather, reduce and their relatives."""

    def _begin(
        self, name: str, root: Any = None, op: Op | None = None
    ) -> tuple[CommState, Call, str, int]:
        """The communicator, the call as others are told of it, its text, and the root."""
        core = self._core(name)
        given = {"root": root, "op": op}
        whole = core.whole or core
        text = note(whole, name, **given)
        number = NO_ROOT if root is None else check_root(core, root, text)
        if op is not None:
            if not isinstance(op, Op):
                raise invalid(f"{text}: {op!r} is no operation")
            op.check(text)
        called = "" if op is None else op.name
        return whole, Call(name, number, called), text, number

    # What is another matter where a communicator has two groups: see `inter`.

    def _roles(self, core: CommState, call: Call, text: str) -> tuple[bool, bool]:
        """Whether the rank gives something, and whether it gets something."""
        is_root = call.root in (NO_ROOT, core.rank)
        if call.bare in FROM_ROOT:
            return is_root, not is_root or call.bare == "scatter"
        return True, is_root

    def _peers(self, core: CommState) -> CommState:
        """For whom the parts are that a rank gives, and of whom those that it gets."""
        return core

    def _result(self, core: CommState, call: Call, fold: results.Fold | None = None) -> Result:
        """How results come of contributions."""
        if fold is not None:
            return results.FOLDED[call.bare](call.root, fold)
        return KINDS[call.bare].result(call.root)

    # The calls of scripts.

    def _object(self, name: str, obj: Any, root: Any = None, op: Op | None = None) -> Plan:
        """A call of any kind: what the rank gives, and what it gets."""
        core, call, text, _ = self._begin(name, root, op)
        kind, mine = KINDS.get(call.bare, Kind()), None
        if self._roles(core, call, text)[0]:
            mine = parts_of(self._peers(core), obj, text) if kind.in_parts else pack(obj)
        result = self._result(core, call, None if op is None else fold_objects(op))
        return Plan(core, call, text, mine, result, kind.done)

    @calls("barrier", "ibarrier", Barrier="barrier", Ibarrier="ibarrier")
    def _barrier(self, *, _name: str = "") -> Any:
        core, call, text, _ = self._begin(_name)
        return made(Plan(core, call, text, None, results.nothing, lambda _: None))

    def bcast(self, obj: Any = None, root: int = 0) -> Any:
        plan = self._object("bcast", obj, root)
        got = made(plan)
        return obj if plan.core.rank == plan.call.root and plan.core.sides is None else got

    # Those that do not block: mpi4py itself has only the barrier in lower case.

    @calls("ibcast")
    def _bcast(self, obj: Any = None, root: int = 0, *, _name: str = "") -> Any:
        return made(self._object(_name, obj, root))

    @calls("scatter", "iscatter")
    def _scatter(self, sendobj: Any = None, root: int = 0, *, _name: str = "") -> Any:
        return made(self._object(_name, sendobj, root))

    @calls("gather", "igather")
    def _gather(self, sendobj: Any, root: int = 0, *, _name: str = "") -> Any:
        return made(self._object(_name, sendobj, root))

    @calls("allgather", "iallgather", "alltoall", "ialltoall")
    def _exchange(self, sendobj: Any, *, _name: str = "") -> Any:
        return made(self._object(_name, sendobj))

    @calls("reduce", "ireduce")
    def _reduce(self, sendobj: Any, op: Op = SUM, root: int = 0, *, _name: str = "") -> Any:
        return made(self._object(_name, sendobj, root, op))

    @calls("allreduce", "iallreduce", "scan", "exscan")
    def _fold(self, sendobj: Any, op: Op = SUM, *, _name: str = "") -> Any:
        return made(self._object(_name, sendobj, op=op))


def parts_of(core: CommState, given: Any, text: str) -> list[Any]:
    parts = list(given) if given is not None else [None] * core.size
    if len(parts) != core.size:
        raise ValueError(f"{text}: {len(parts)} items for {core.size} ranks")
    return [pack(each) for each in parts]
