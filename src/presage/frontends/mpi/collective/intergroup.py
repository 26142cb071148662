"""Collective calls over both groups of an intercommunicator.

The first member of the first group hears of every call of everyone, as rank 0 of other
communicators does. Where sends wait it gathers all contributions and answers with results; with
eager sends contributions go from the one group to the other directly, and nobody waits for what its
result does not depend on.
"""

from __future__ import annotations

from typing import Any

from presage.frontends.mpi.collective.exchange import (
    Call,
    Result,
    collect,
    hear,
    owe,
    settle_one,
    sides_of,
    tell,
)
from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.groups import CROSSWISE, FROM_ROOT, TO_ROOT
from presage.frontends.mpi.core.rank import current_rank

DIRECT = (*FROM_ROOT, *TO_ROOT, *CROSSWISE)


def gathered(core: CommState, call: Call, mine: Any, result: Result) -> Any:
    """A blocking call: give one's contribution, and get one's result, if there is one."""
    if call.bare in DIRECT and current_rank().eager:
        return _direct(core, call, mine, result)
    if core.rank:
        tell(core, 0, call, mine)
        return hear(core, 0, call)
    contributions = collect(core, call, mine)
    sides = sides_of(core)
    said = [other.root for _, other in sides.heard.pop(call.number)]
    gets = sides.getters(call.bare, max(said))  # a number is more than no number
    for rank in range(1, core.size):
        content = result(contributions, rank) if rank in gets else None
        tell(core, rank, call, content)
    return result(contributions, 0) if 0 in gets else None


def _direct(core: CommState, call: Call, mine: Any, result: Result) -> Any:
    to, of = sides_of(core).flows(call.bare, call.root, core.rank)
    is_part = call.bare in FROM_ROOT
    if core.rank == 0:
        owe(core, call)
    for rank in to:
        content = result([mine] * core.size, rank) if is_part else mine
        tell(core, rank, call, content)
    if core.rank and 0 not in to:
        tell(core, 0, call, None)
    if not of:
        return None
    contributions: list[Any] = [None] * core.size
    for rank in of:
        heard = settle_one(core, rank) if core.rank == 0 else hear(core, rank, call)
        contributions[rank] = heard
    return contributions[of[0]] if is_part else result(contributions, core.rank)
