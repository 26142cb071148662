"""Raft: servers elect a leader, whose log the others copy; what a majority has is committed.

After Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm", 2014, without
changes of membership and without snapshots. Terms and proposals are bounded, so that there is an
end. Four bugs that implementations of Raft had can be switched on: see `bugs`.
"""

from __future__ import annotations

from typing import Literal

from presage import Faults, System
from presage.systems.raft.bugs import SERVERS
from presage.systems.raft.messages import Append, Appended, Entry, RequestVote, Voted
from presage.systems.raft.properties import (
    committed_agree,
    log_matching,
    one_leader,
    something_committed,
)
from presage.systems.raft.service import Server

__all__ = [
    "Append",
    "Appended",
    "Entry",
    "RequestVote",
    "Server",
    "Voted",
    "committed_agree",
    "log_matching",
    "one_leader",
    "something_committed",
    "system",
]


def system(
    *,
    servers: int = 3,
    bug: Literal["none", "figure_8", "forgets_vote", "stale_candidate", "truncates"] = "none",
    terms: int = 2,
    proposals: int = 1,
    crashes: int = 0,
    losses: int = 0,
) -> System:
    """Servers that all may become leaders.

    servers: how many.
    bug: which one to switch on; `figure_8` needs four terms, `forgets_vote` a crash.
    terms: how many elections there may be at most.
    proposals: how many entries each server may propose while it leads.
    crashes: how many times a server may crash and come back.
    losses: how many messages the network may lose.
    """
    names = tuple(f"s{number}" for number in range(servers))
    kind = SERVERS[bug]
    nodes = {
        name: kind(
            peers=tuple(peer for peer in names if peer != name), terms=terms, proposals=proposals
        )
        for name in names
    }
    return System(
        nodes,
        network="unordered",
        faults=Faults(crash=crashes, restart=crashes, drop=losses),
        properties=[one_leader, log_matching, committed_agree, something_committed],
        name="Raft",
    )
