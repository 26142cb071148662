"""`Create_intercomm`: two groups learn of each other through their leaders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.exchange import Call
from presage.frontends.mpi.collective.objects import ObjectCollectives
from presage.frontends.mpi.collective.transport import gathered
from presage.frontends.mpi.core.comm_state import CommState, RankId, intercommunicator
from presage.frontends.mpi.core.groups import MADE
from presage.frontends.mpi.core.handle import Handle, check_dest, check_tag
from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.rank import enter_call, named
from presage.process.context import Asking, blocking, exchange
from presage.process.ops import Recv, Send


def meet(
    comm: ObjectCollectives, local_leader: int, peer_comm: Handle, remote_leader: int, tag: int
) -> CommState:
    """The new intercommunicator, as this member holds it."""
    name = "Create_intercomm"
    core, call, text, leader = comm._begin(name, local_leader)
    gathered(core, call, None, results.nothing)  # so that all know of each other's leader
    mine = None
    if core.rank == leader:
        peer = peer_comm._core(text)
        mine = _met(core, peer, check_dest(peer, remote_leader, text), check_tag(tag, text))
    title, is_first, others = gathered(core, call, mine, results.of_root(leader))
    groups: tuple[Sequence[RankId], Sequence[RankId]] = (core.ranks, others)
    at = core.rank if is_first else len(others) + core.rank
    return intercommunicator(title, groups if is_first else groups[::-1], MADE, at)


def _met(core: CommState, peer: CommState, other: int, tag: int) -> list[Any]:
    """What a leader learns: the name of the new one, whose group comes first, the other group."""
    text = enter_call("Create_intercomm", (peer.ranks[other],), remote_leader=other, tag=tag)
    if other == peer.rank:
        raise invalid(f"{text}: the leader of the other group cannot be this rank")
    call = Call("Create_intercomm", number=core.calls)
    mine = [f"{core.name}.{core.calls}", list(core.ranks)]
    theirs = blocking(_swapped(f"{peer.name} tag {tag}", peer.rank, other, call, mine))
    common = [named(who) for who in theirs[1] if who in core.ranks]
    if common:
        raise invalid(f"{text}: the groups have members in common: {', '.join(common)}")
    is_first = peer.rank < other
    return [(mine if is_first else theirs)[0], is_first, theirs[1]]


def _swapped(name: str, at: int, other: int, call: Call, mine: Any) -> Asking[Any]:
    message = (call.said, mine)
    yield from exchange(Send(f"{name}#{at}>{other}", message, buffered=True))
    (_, content), _ = yield from exchange(Recv(f"{name}#{other}>{at}"))
    return content
