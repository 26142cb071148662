"""Collective calls over intercommunicators.

What a rank gives goes to the other group, what it gets comes from there. The root says `MPI.ROOT`,
others of its group `MPI.PROC_NULL`; those of the other group name its rank.
"""

from __future__ import annotations

from typing import Any, NoReturn

from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.exchange import Call, Result, sides_of
from presage.frontends.mpi.collective.persistent import PersistentCollectives
from presage.frontends.mpi.core.comm_state import CommState, both
from presage.frontends.mpi.core.groups import FROM_ROOT, NO_ROOT
from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.data.buffers import Buffer, is_in_place
from presage.frontends.mpi.data.op import Op


def given(contributions: list[Any], rank: int) -> Any:
    """bcast: what the root gave; it alone gives something."""
    return next(each for each in contributions if each is not None)


# Of contributions of the other group alone.
RESULTS: dict[str, Result] = {
    "bcast": given,
    "scatter": lambda contributions, rank: given(contributions, rank)[rank],
    "gather": results.everything,
    "allgather": results.everything,
    "alltoall": results.crosswise,
}


class InterCollectives(PersistentCollectives):
    """bcast, gather, reduce and their relatives, from one group to the other."""

    def _roles(self, core: CommState, call: Call, text: str) -> tuple[bool, bool]:
        if call.bare.endswith("scan"):
            raise invalid(f"{text}: MPI has no scans over an intercommunicator; Merge it first")
        if call.root == NO_ROOT:
            return True, True
        is_root = call.root == core.rank
        is_other = call.root >= 0 and not is_root  # in the group that the root talks to
        return (is_root, is_other) if call.bare in FROM_ROOT else (is_other, is_root)

    def _peers(self, core: CommState) -> CommState:
        return both(self._core())[1]

    def _result(self, core: CommState, call: Call, fold: results.Fold | None = None) -> Result:
        """What comes of the contributions of the other group; `inner` knows of no other."""
        sides = sides_of(core)
        inner = RESULTS[call.bare] if fold is None else results.folded(fold)

        def result(contributions: list[Any], at: int) -> Any:
            return inner([contributions[other] for other in sides.other(at)], sides.local(at))

        return result

    def _is_in_place(self, given: Any) -> bool:
        return False

    def _buffer(self, given: Any, text: str, parts: int = 0, vector: bool = False) -> Buffer:
        if given is not None and is_in_place(given):
            raise invalid(f"{text}: MPI.IN_PLACE has no meaning on an intercommunicator")
        return super()._buffer(given, text, parts, vector)

    def _reduce_scatter(
        self, name: str, sendbuf: Any, recvbuf: Any, counts: Any, op: Op
    ) -> NoReturn:
        text = self._begin(name, op=op)[2]
        raise invalid(
            f"{text}: presage's mpi4py cannot do this on an intercommunicator; reduce, then scatter"
        )
