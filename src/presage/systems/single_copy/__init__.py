"""A register kept by servers that do not talk to each other.

With one server every answer is right. With two, a client that wrote to one may read the other's
stale value: the smallest violation of linearizability there is. Same model as the
single-copy-register example of Stateright, whose state counts it reproduces.
"""

from __future__ import annotations

from presage import Linearizable, Register, System, linearizable
from presage.systems.register import client_nodes, value_chosen
from presage.systems.single_copy.service import Server

__all__ = ["Server", "system"]


def system(*, servers: int = 1, clients: int = 2) -> System:
    """A single-copy register.

    servers: how many; with more than one, `linearizable` is violated.
    clients: how many; each writes once and then reads once.
    """
    names = tuple(f"s{i}" for i in range(servers))
    return System(
        nodes={**{name: Server() for name in names}, **client_nodes(clients, names)},
        network="unordered",
        observers={"history": Linearizable(Register(None))},
        properties=[linearizable(), value_chosen],
        name="single-copy register",
    )
