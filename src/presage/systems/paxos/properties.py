"""What Paxos promises: agreement."""

from __future__ import annotations

from presage import HOLDS, Verdict, WorldView, always
from presage.systems.paxos.service import Server


@always
def one_value(world: WorldView) -> Verdict:
    """No two servers decide on different values."""
    first = None
    for server in world.of(Server):
        vote = server.accepted if server.decided else None
        if vote is None:
            continue
        value = vote[1].value
        if first is None:
            first = (server.name, value)
        elif value != first[1]:
            return Verdict.fails(f"{first[0]} decided on {first[1]!r}, {server.name} on {value!r}")
    return HOLDS
