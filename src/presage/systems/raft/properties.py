"""What Raft promises (figure 3 of the paper)."""

from __future__ import annotations

from itertools import combinations

from presage import HOLDS, Verdict, WorldView, always, sometimes
from presage.systems.raft.service import Server


@always
def one_leader(world: WorldView) -> Verdict:
    """Election safety: no two servers lead in the same term."""
    leaders: dict[int, str] = {}
    for server in world.of(Server):
        if server.role == "leader":
            other = leaders.setdefault(server.term, server.name)
            if other != server.name:
                return Verdict.fails(f"{other} and {server.name} both lead in term {server.term}")
    return HOLDS


@always
def log_matching(world: WorldView) -> Verdict:
    """Logs that have an entry of one term at one place are equal up to there."""
    for one, other in combinations(world.of(Server), 2):
        pairs = list(zip(one.entries, other.entries, strict=False))
        for at in range(len(pairs) - 1, -1, -1):
            if pairs[at][0].term == pairs[at][1].term:
                if any(mine != theirs for mine, theirs in pairs[: at + 1]):
                    return Verdict.fails(
                        f"the logs of {one.name} and {other.name} differ before"
                        f" place {at} of term {pairs[at][0].term}"
                    )
                break
    return HOLDS


@always
def committed_agree(world: WorldView) -> Verdict:
    """State machine safety: what two servers have committed at one place is the same."""
    for one, other in combinations(world.of(Server), 2):
        for at in range(min(one.committed, other.committed)):
            if one.entries[at : at + 1] != other.entries[at : at + 1]:
                return Verdict.fails(
                    f"{one.name} and {other.name} committed different entries at place {at}"
                )
    return HOLDS


@sometimes
def something_committed(world: WorldView) -> bool:
    """The system does something at all."""
    return any(server.committed for server in world.of(Server))
