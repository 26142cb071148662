"""A linearizable register kept by a majority of servers, without consensus.

After Attiya, Bar-Noy and Dolev, "Sharing Memory Robustly in Message-Passing Systems", 1995. The
server a client asks leads two rounds: it queries a majority for the latest stamped value, then
records the value to return, or the new one under a higher stamp, at a majority. What a server
would send to itself it does on the spot. Same model as Stateright's linearizable-register
example, whose state counts it reproduces.
"""

from __future__ import annotations

from typing import Literal

from presage import Linearizable, Register, Service, System, linearizable
from presage.systems.abd.messages import Query, QueryOk, Record, RecordOk, Stamp
from presage.systems.abd.service import Server, Task
from presage.systems.register import client_nodes, value_chosen

__all__ = ["Query", "QueryOk", "Record", "RecordOk", "Server", "Stamp", "Task", "system"]


def system(
    *,
    servers: int = 2,
    clients: int = 2,
    network: Literal["unordered", "ordered"] = "unordered",
) -> System:
    """Replicas of a register, and clients.

    servers: how many replicas.
    clients: how many; each writes once and then reads once.
    network: `unordered` may deliver messages in any order, `ordered` keeps the order of each pair.
    """
    names = tuple(f"s{i}" for i in range(servers))
    replicas: dict[str, Service] = {
        name: Server(peers=tuple(peer for peer in names if peer != name)) for name in names
    }
    return System(
        nodes={**replicas, **client_nodes(clients, names)},
        network=network,
        observers={"history": Linearizable(Register(None))},
        properties=[linearizable(), value_chosen],
        name="ABD register",
    )
