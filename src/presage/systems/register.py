"""Clients of a shared register, and the four messages they exchange with its servers.

Client number k writes its own letter to server k, waits for the answer, then reads from server
k + 1, counting around. What it asks and is told it records, so that a history observer can say
whether the servers, together, behave like one register. Used by every register system here.
"""

from __future__ import annotations

from msgspec import Struct

from presage import Invoke, Read, Return, Service, WorldView, Write, on, sometimes


class Put(Struct, frozen=True):
    """Write `value`."""

    request: int
    value: str


class PutOk(Struct, frozen=True):
    """The write was done."""

    request: int


class Get(Struct, frozen=True):
    """Read the value."""

    request: int


class GetOk(Struct, frozen=True):
    """The value read; None if nothing was ever written."""

    request: int
    value: str | None


class Client(Service):
    """Writes once, then reads once, each time waiting for the answer."""

    servers: tuple[str, ...]
    number: int  # from 0; request ids 2k and 2k + 1 are unique among all clients
    awaiting: int | None = None

    def start(self) -> None:
        value = chr(ord("A") + self.number)
        self.awaiting = 2 * self.number
        self.record(Invoke(Write(value)))
        self.send(self._server(0), Put(self.awaiting, value))

    @on(PutOk)
    def written(self, answer: PutOk) -> None:
        if answer.request != self.awaiting:
            return
        self.record(Return(None))
        self.awaiting = 2 * self.number + 1
        self.record(Invoke(Read()))
        self.send(self._server(1), Get(self.awaiting))

    @on(GetOk)
    def was_read(self, answer: GetOk) -> None:
        if answer.request != self.awaiting:
            return
        self.record(Return(answer.value))
        self.awaiting = None

    def _server(self, offset: int) -> str:
        return self.servers[(self.number + offset) % len(self.servers)]


def client_nodes(count: int, servers: tuple[str, ...]) -> dict[str, Service]:
    """Nodes c0, c1, ...: that many clients of these servers."""
    return {f"c{k}": Client(servers=servers, number=k) for k in range(count)}


@sometimes
def value_chosen(world: WorldView) -> bool:
    """Some client is about to learn a value that was written."""
    return any(envelope.message.value is not None for envelope in world.messages(GetOk))
