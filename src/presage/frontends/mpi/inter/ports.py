"""Ports and names of services: two groups that know nothing of each other become one.

A port is a mailbox, where who connects leaves a message that says where the answer is to go. A
published name is a message that stays in a mailbox until it is unpublished.
"""

from __future__ import annotations

from typing import Any

from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.objects import ObjectCollectives
from presage.frontends.mpi.collective.transport import gathered
from presage.frontends.mpi.core.comm_state import CommState, intercommunicator
from presage.frontends.mpi.core.groups import MADE
from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.rank import current_rank, enter_call, named
from presage.process.context import Asking, asked, blocking, exchange
from presage.process.ops import Probe, Recv, Send

ANY = (-1, -1)


def _ports() -> set[str]:
    """Those that this rank has opened."""
    kept: set[str] = current_rank().own_notes.setdefault("ports", set())
    return kept


def open_port(info: Any = None) -> str:
    """A new port."""
    enter_call("Open_port")
    rank = current_rank()
    number = rank.own_notes["ports made"] = rank.own_notes.get("ports made", 0) + 1
    name = f"port {number} of {named(rank.number)}"
    _ports().add(name)
    return name


def close_port(port_name: str) -> None:
    """Nobody can connect any more."""
    call = enter_call("Close_port")
    if port_name not in _ports():
        raise invalid(f"{call}: this rank has no open port `{port_name}`", "ERR_PORT")
    _ports().remove(port_name)


def _service(name: str) -> str:
    return f"service {name}"


def publish_name(service_name: str, port_name: str, info: Any = None) -> None:
    """Let others find a port by a name."""
    enter_call("Publish_name", service=service_name)
    blocking(exchange(Send(_service(service_name), port_name, (0, 0), buffered=True)))


def lookup_name(service_name: str, info: Any = None) -> str:
    """The port that has a name, if it was published by now."""
    call = enter_call("Lookup_name", service=service_name)
    found = asked(Probe(_service(service_name), ANY, False))
    if not found.choice:
        raise invalid(f"{call}: no port has this name", "ERR_NAME")
    return str(found.payload)


def unpublish_name(service_name: str, port_name: str, info: Any = None) -> None:
    """Let nobody find it any more."""
    call = enter_call("Unpublish_name", service=service_name)
    if not asked(Probe(_service(service_name), ANY, False)).choice:
        raise invalid(f"{call}: no port has this name", "ERR_SERVICE")
    blocking(exchange(Recv(_service(service_name))))


def joined(comm: ObjectCollectives, name: str, port: Any, root: int) -> CommState:
    """The intercommunicator with who connects to a port, or with who accepts there."""
    core, call, text, root = comm._begin(name, root)
    mine = None
    if core.rank == root:
        if not isinstance(port, str):
            raise invalid(f"{text}: {port!r} is no name of a port", "ERR_PORT")
        if name == "Accept" and port not in _ports():
            raise invalid(f"{text}: this rank has no open port `{port}`", "ERR_PORT")
        meets = _accepted if name == "Accept" else _connected
        mine = blocking(meets(port, f"{core.name}.{core.calls}", list(core.ranks)))
    title, others = gathered(core, call, mine, results.of_root(root))
    groups = (tuple(core.ranks), tuple(others))
    if name == "Accept":
        return intercommunicator(title, groups, MADE, core.rank)
    return intercommunicator(title, groups[::-1], MADE, len(others) + core.rank)


def _accepted(port: str, name: str, ranks: list[Any]) -> Asking[list[Any]]:
    (answer, theirs), _ = yield from exchange(Recv(port))
    yield from exchange(Send(answer, ranks, (0, 0), buffered=True))
    return [answer, theirs]


def _connected(port: str, name: str, ranks: list[Any]) -> Asking[list[Any]]:
    answer = f"{port}, with {name}"
    yield from exchange(Send(port, (answer, ranks), (0, 0), buffered=True))
    theirs, _ = yield from exchange(Recv(answer))
    return [answer, theirs]
