"""Single-decree Paxos: three servers agree on one value among those that clients propose.

After Lamport, "Paxos Made Simple", 2001. Each server is proposer, acceptor and learner at once,
and what it would send to itself it does on the spot. A client that writes starts a ballot; a
server answers a read only once it knows the decision. Same model as Stateright's paxos example,
whose state counts it reproduces.

Two bugs that real implementations had can be switched on: see `bugs`.
"""

from __future__ import annotations

from typing import Literal

from presage import Faults, Linearizable, Register, Service, System, linearizable
from presage.systems.paxos.bugs import SERVERS, LastPromiseServer, NoDiskServer
from presage.systems.paxos.messages import Accept, Accepted, Decided, Prepare, Prepared, Proposal
from presage.systems.paxos.properties import one_value
from presage.systems.paxos.service import Server
from presage.systems.register import client_nodes, value_chosen

__all__ = [
    "Accept",
    "Accepted",
    "Decided",
    "LastPromiseServer",
    "NoDiskServer",
    "Prepare",
    "Prepared",
    "Proposal",
    "Server",
    "one_value",
    "system",
]


def system(
    *,
    clients: int = 2,
    bug: Literal["none", "last_promise", "no_disk"] = "none",
    crashes: int = 0,
) -> System:
    """Three servers and some clients.

    clients: how many; each writes its own value once and then reads once.
    bug: which historic bug to switch on; `last_promise` and `no_disk` both break `one_value`.
    crashes: how many times a server may crash and come back; at least 1 with `no_disk`.
    """
    names = ("s0", "s1", "s2")
    crashes = max(crashes, 1) if bug == "no_disk" else crashes
    servers: dict[str, Service] = {
        name: SERVERS[bug](peers=tuple(peer for peer in names if peer != name)) for name in names
    }
    return System(
        nodes={**servers, **client_nodes(clients, names)},
        network="unordered",
        faults=Faults(crash=crashes, restart=crashes, nodes=names),
        observers={"history": Linearizable(Register(None))},
        properties=[one_value, linearizable(), value_chosen],
        name="single-decree Paxos",
    )
