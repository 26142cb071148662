"""Collective calls over intercommunicators, of Python objects."""

from __future__ import annotations

from typing import Any, NamedTuple

from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.exchange import Result
from presage.frontends.mpi.collective.objects import (
    KINDS,
    Kind,
    ObjectCollectives,
    fold_objects,
    parts_of,
)
from presage.frontends.mpi.collective.transport import Plan
from presage.frontends.mpi.core.comm_state import CommState, both
from presage.frontends.mpi.core.groups import FROM_ROOT, NO_ROOT
from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.data.objects import pack
from presage.frontends.mpi.data.op import Op


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


# Of contributions of the other group alone.
RESULTS: dict[str, Result] = {
    "bcast": given,
    "scatter": given_part,
    "gather": results.everything,
    "allgather": results.everything,
    "alltoall": results.crosswise,
}


class InterObjects(ObjectCollectives):
    """bcast, gather, reduce and their relatives, from one group to the other."""

    def _object(self, name: str, obj: Any, root: Any = None, op: Op | None = None) -> Plan:
        whole, call, text, claim = self._begin(name, root, op)
        self._refuse_scan(name, text)
        kind, role = KINDS.get(call.bare, Kind()), Role.of(whole, claim)
        gives = role.is_root if call.bare in FROM_ROOT else role.is_other
        mine = None
        if gives:
            mine = parts_of(both(self._core())[1], obj, text) if kind.in_parts else pack(obj)
        inner = RESULTS[call.bare] if op is None else results.folded(fold_objects(op))
        return Plan(whole, call, text, mine, across(whole, inner), kind.done)

    def _refuse_scan(self, name: str, text: str) -> None:
        if name.lower().endswith("scan"):
            raise invalid(f"{text}: MPI has no scans over an intercommunicator; Merge it first")
