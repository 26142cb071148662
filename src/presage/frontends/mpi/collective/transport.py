"""Collective calls: how contributions get from rank to rank, and what all ranks must agree on.

Each pair of members has a channel of its own, apart from point-to-point messages, which keeps
order. Every rank tells rank 0 of each call, in order; so rank 0 sees whether all agree.

A blocking call goes through rank 0, which gathers all contributions and answers with results. With
eager sends, calls with a root go to the root or come from it directly, and nobody waits for what
its result does not depend on: what else arrives is *owed*, and looked at later.

A call that does not block sends every contribution to every rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from presage.frontends.mpi.collective import intergroup
from presage.frontends.mpi.collective.exchange import (
    Call,
    Result,
    channel,
    check,
    collect,
    hear,
    owe,
    settle_one,
    tell,
)
from presage.frontends.mpi.core.comm_state import CommState, PendingReceive
from presage.frontends.mpi.core.groups import FROM_ROOT, TO_ROOT
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.core.status import Status
from presage.frontends.mpi.data.hazards import Watched
from presage.frontends.mpi.point.request import Request
from presage.process.context import blocking, post
from presage.process.ops import Recv, Response
from presage.records import NamedTuple


def gathered(core: CommState, call: Call, mine: Any, result: Result, learns: bool = True) -> Any:
    """A blocking call: give one's contribution, and get one's result.

    `learns`: whether windows are to show what there is then.
    """
    got = _blocking(core, _numbered(core, call), mine, result)
    if learns:
        current_rank().learned()
    return got


def announced(core: CommState, call: Call) -> None:
    """A call whose result depends on nobody else: all must make it, and nobody waits."""
    call = _numbered(core, call)
    if core.rank:
        tell(core, 0, call, None)
    else:
        owe(core, call)


def _numbered(core: CommState, call: Call) -> Call:
    """The next call of the rank. Where it stands is no part of what ranks tell each other."""
    rank = current_rank()
    rank.places.keep(core.name, rank.number, core.calls)
    core.calls += 1
    return replace(call, number=core.calls - 1)


def _blocking(core: CommState, call: Call, mine: Any, result: Result) -> Any:
    if core.size == 1:
        return result([mine], 0)
    if core.sides is not None:
        return intergroup.gathered(core, call, mine, result)
    if call.shape in FROM_ROOT and current_rank().eager:
        return _from_root(core, call, mine, result)
    if call.shape in TO_ROOT and current_rank().eager:
        return _to_root(core, call, mine, result)
    if core.rank:
        tell(core, 0, call, mine)
        return hear(core, 0, call)
    contributions = collect(core, call, mine)
    for rank in range(1, core.size):
        tell(core, rank, call, result(contributions, rank))
    return result(contributions, 0)


def _from_root(core: CommState, call: Call, mine: Any, result: Result) -> Any:
    """The root goes on at once; the others wait for the root alone."""
    everyone = [mine] * core.size
    if core.rank == call.root:
        if core.rank == 0:
            owe(core, call)
        for rank in range(core.size):
            if rank != core.rank:
                tell(core, rank, call, result(everyone, rank))
        return result(everyone, core.rank)
    if core.rank:
        tell(core, 0, call, None)
        return hear(core, call.root, call)
    owe(core, call)
    return settle_one(core, call.root)


def _to_root(core: CommState, call: Call, mine: Any, result: Result) -> Any:
    """The root waits for all; the others go on at once."""
    if call.root == 0 and core.rank == 0:
        return result(collect(core, call, mine), 0)
    if core.rank == call.root:
        tell(core, 0, call, None)
        contributions = []
        for rank in range(core.size):
            if rank == core.rank:
                contributions.append(mine)
            else:
                contributions.append(hear(core, rank, call))
        return result(contributions, core.rank)
    tell(core, call.root, call, mine)
    if core.rank == 0:
        owe(core, call)
    elif call.root:
        tell(core, 0, call, None)
    return None


def _started(plan: Plan) -> Request:
    """A call that does not block: `done` is given the result when the request is complete."""
    core, call = plan.core, _numbered(plan.core, plan.call)
    others = [rank for rank in range(core.size) if rank != core.rank]
    gets = core.sides is None or core.rank in core.sides.getters(call.bare, call.root)
    slots = []
    for rank in others:
        slots.append(blocking(post(Recv(channel(core, rank, core.rank)))))
    needed = _needed(core, call) if plan.needed is None else list(plan.needed)
    if needed != others and not current_rank().eager:
        needed = others
    wanted = [slot for rank, slot in zip(others, slots, strict=True) if rank in needed]
    for rank, slot in zip(others, slots, strict=True):
        if rank not in needed:
            core.owed[rank].append(PendingReceive(slot, call))
    for rank in others:
        tell(core, rank, call, plan.mine)

    def finish(responses: list[Response]) -> tuple[Any, Status]:
        contributions: list[Any] = [None] * core.size
        contributions[core.rank] = plan.mine
        for rank, response in zip(needed, responses, strict=False):
            theirs, contributions[rank] = response.payload
            check(core, call, rank, theirs)
        return plan.done(plan.result(contributions, core.rank) if gets else None), Status()

    return Request.of(wanted, finish, plan.text, [core.ranks[rank] for rank in needed])


def _needed(core: CommState, call: Call) -> list[int]:
    """Whose contributions a rank's result depends on."""
    if core.sides is not None:
        return list(core.sides.flows(call.bare, call.root, core.rank)[1])
    others = [rank for rank in range(core.size) if rank != core.rank]
    shape = call.shape.removeprefix("i")
    if shape in FROM_ROOT:
        return [rank for rank in others if rank == call.root]
    if shape in TO_ROOT:
        return others if core.rank == call.root else []
    return others


class Plan(NamedTuple):
    """A collective call, ready to be made: what the rank gives, and what becomes of its result."""

    core: CommState
    call: Call
    text: str
    mine: Any
    result: Result
    done: Callable[[Any], Any]
    watched: tuple[Watched, ...] = ()
    needed: tuple[int, ...] | None = None  # whose contributions alone the result depends on


def made(plan: Plan) -> Any:
    """Make a call: wait for its result, or give a request, by its name."""
    if plan.call.kind[0] in "iI":
        request = _started(plan)
        request.watch(plan.watched)
        return request
    if plan.needed is not None:
        request = _started(plan)
        blocking(request.arrive())
        return request.complete()[0]
    return plan.done(gathered(plan.core, plan.call, plan.mine, plan.result))


def note(core: CommState, name: str, **given: Any) -> str:
    """Note a collective call, which may wait for every other member."""
    return enter_call(name, core.others, **given)
