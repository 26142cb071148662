"""Gossip of Cassandra 1.0.6, in which a new node believes a dead one to be up for ever (CASS-3626).

Each node keeps what it knows of every endpoint: its generation, which a boot raises, its version,
which each round of gossip raises, and whether it is up. A round is three messages: digests, what is
newer here with what is wanted from there, and that. A failure detector has a window of arrivals per
endpoint and convicts the endpoint after a long silence; without a window it says nothing.

A window begins when a known endpoint reports something newer. An endpoint that is not known yet is
marked as up on hearsay. If it is dead by then, it never reports, has no window and is never
convicted. The repair reports to the detector also where an endpoint is first heard of.

Certain: cause and repair, read in Cassandra's history; that a boot has lost the ring (a node that
saved it is not affected). Reconstructed: the order of events, which fits two crashes and a reboot.
Abstracted: a silence is an action, possible at any time; rounds are bounded, per life of a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from msgspec import Struct

from presage import (
    HOLDS,
    Faults,
    NodeView,
    Service,
    System,
    Verdict,
    WorldView,
    action,
    always,
    durable,
    eventually,
    on,
    state,
)

Bug = Literal["none", "CASS-3626"]
Versions = tuple[tuple[str, int, int], ...]  # endpoint, generation, version
FORMED = (1, 0)  # what everybody knows of everybody at the beginning


class Endpoint(NamedTuple):
    """What a node knows of an endpoint."""

    generation: int
    version: int
    alive: bool

    @property
    def age(self) -> tuple[int, int]:
        return self.generation, self.version


class Syn(Struct, frozen=True):
    """What the sender knows, and how new it is."""

    digests: Versions


class Ack(Struct, frozen=True):
    """What is newer at the sender, and which endpoints it wants to hear more of."""

    states: Versions
    wanted: tuple[str, ...]


class Ack2(Struct, frozen=True):
    """What was wanted."""

    states: Versions


class Node(Service):
    """Gossips with those it takes for alive, and with the seed."""

    members: tuple[str, ...]  # all that formed the ring; the last is the seed
    rounds: int  # how many in one life
    bug: Bug
    boots: int = durable(0)
    left: int = 0
    endpoints: dict[str, Endpoint] = state(dict)
    windows: set[str] = state(set)  # of whom the failure detector has arrivals

    def start(self) -> None:
        self.boots += 1
        self.left = self.rounds
        if self.boots == 1:
            self.endpoints = {member: Endpoint(*FORMED, True) for member in self.members}
            self.windows = set(self.members) - {self.name}
        self.endpoints[self.name] = Endpoint(self.boots, 0, True)

    def peers(self) -> list[str]:
        alive = {name for name, known in self.endpoints.items() if known.alive}
        return sorted((alive | {self.members[-1]}) - {self.name})

    @action(over=peers, when=lambda self, peer: self.left > 0)
    def gossip(self, peer: str) -> None:
        self.left -= 1
        own = self.endpoints[self.name]
        self.endpoints[self.name] = own._replace(version=own.version + 1)
        self.send(peer, Syn(self.known(self.endpoints)))

    def known(self, names: Iterable[str]) -> Versions:
        return tuple((name, *self.endpoints[name].age) for name in sorted(names))

    @on(Syn)
    def compare(self, syn: Syn, source: str) -> None:
        self._notify(syn.digests)
        there = {name: age for name, *age in syn.digests}
        here = {name: list(known.age) for name, known in self.endpoints.items()}
        newer = [name for name in here if name not in there or here[name] > there[name]]
        older = [name for name in there if name not in here or here[name] < there[name]]
        self.send(source, Ack(self.known(newer), tuple(sorted(older))))

    @on(Ack)
    def answer(self, ack: Ack, source: str) -> None:
        self._take(ack.states)
        if ack.wanted:
            self.send(source, Ack2(self.known([e for e in ack.wanted if e in self.endpoints])))

    @on(Ack2)
    def finish(self, ack: Ack2) -> None:
        self._take(ack.states)

    def suspects(self) -> list[str]:
        return sorted(name for name in self.windows if self.endpoints[name].alive)

    @action(over=suspects)
    def convict(self, endpoint: str) -> None:
        """It was silent for too long."""
        self.endpoints[endpoint] = self.endpoints[endpoint]._replace(alive=False)

    def _notify(self, states: Versions) -> None:
        """An endpoint with news was there to send it."""
        for name, *age in states:
            if name in self.endpoints and tuple(age) > self.endpoints[name].age:
                self.windows.add(name)

    def _take(self, states: Versions) -> None:
        self._notify(states)
        for name, generation, version in states:
            if name == self.name:
                continue
            before = self.endpoints.get(name)
            if before is None and self.bug != "CASS-3626":
                self.windows.add(name)
            if before is None or before.age < (generation, version):
                self.endpoints[name] = Endpoint(generation, version, True)
            elif before.generation == generation:
                self.endpoints[name] = before._replace(alive=True)

    def recovery(self) -> object:
        """Of each endpoint, how it is seen; not which it is."""
        known = self.endpoints.items()
        return sorted((*endpoint, name in self.windows) for name, endpoint in known)


def newest(world: WorldView, name: str) -> tuple[int, int]:
    """The newest that any live node, or any message, has to tell of an endpoint."""
    ages: list[tuple[int, int]]
    ages = [node.endpoints[name].age for node in world.up() if name in node.endpoints]
    for envelope in world.messages(Syn):
        ages += [(each[1], each[2]) for each in envelope.message.digests if each[0] == name]
    for envelope in world.messages(Ack, Ack2):
        ages += [(each[1], each[2]) for each in envelope.message.states if each[0] == name]
    return max(ages)


def believed(world: WorldView) -> Iterator[tuple[NodeView, str]]:
    """Nodes, and dead ones that they take for alive."""
    dead = [node.name for node in world.nodes if not node.up]
    for node in world.up():
        for name in dead:
            if name in node.endpoints and node.endpoints[name].alive:
                yield node, name


def has_news(world: WorldView, node: NodeView, name: str) -> bool:
    """Whether a node may still hear something new of an endpoint."""
    return bool(newest(world, name) > node.endpoints[name].age)


@always
def dead_can_be_convicted(world: WorldView) -> Verdict:
    """A node that takes a dead one for alive has a window of it, or may have one yet."""
    for node, name in believed(world):
        if name not in node.windows and not has_news(world, node, name):
            return Verdict.fails(f"{node.name} takes {name} for alive for ever")
    return HOLDS


@eventually
def crashes_are_noticed(world: WorldView) -> Verdict:
    """Again and again nobody takes a dead node for alive, unless the rounds ended too early."""
    for node, name in believed(world):
        if not has_news(world, node, name):
            return Verdict.fails(f"{node.name} takes {name} for alive")
    return HOLDS


def system(
    *, nodes: int = 3, rounds: int = 2, crashes: int = 2, restarts: int = 1, bug: Bug = "none"
) -> System:
    """A ring that has formed: everybody knows everybody.

    nodes: how many; the last is the seed.
    rounds: of gossip, that a node begins in one life.
    crashes: how many nodes may crash.
    restarts: how many of them may boot again, with nothing but their name and the seed.
    bug: `CASS-3626` tells the failure detector nothing of an endpoint that is new.
    """
    members = tuple(f"n{n}" for n in range(1, nodes + 1))
    return System(
        {name: Node(members=members, rounds=rounds, bug=bug) for name in members},
        network="ordered",
        faults=Faults(crash=crashes, restart=restarts),
        properties=[dead_can_be_convicted, crashes_are_noticed],
        name="Gossip",
    )
