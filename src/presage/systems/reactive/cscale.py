"""Replicated state by generalised lattice agreement: all outputs form one growing chain.

After Faleiro, Rajamani, Rajan, Ramalingam and Vaswani, "Generalized Lattice Agreement" (2012); the
source of the benchmark that it stands for is not public. A process proposes all commands it knows
of. An acceptor agrees if the proposal holds all that it accepted before; else it answers with what
is missing, and the process proposes again, with more. What a majority agrees to is an output. So
any two outputs share an acceptor, and one of them holds the other.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from presage import (
    HOLDS,
    Service,
    System,
    Verdict,
    WorldView,
    action,
    always,
    eventually,
    forall,
    on,
)

Bug = Literal["none", "stale_ack", "nojoin", "minority"]
Commands = frozenset[str]


class Propose(Struct, frozen=True):
    """Do you agree to these commands?"""

    commands: Commands
    number: int


class Ack(Struct, frozen=True):
    """Yes."""

    number: int


class Nack(Struct, frozen=True):
    """No: these are missing."""

    number: int
    commands: Commands


class Process(Service):
    """Proposes its own commands, and accepts those of all."""

    peers: tuple[str, ...]  # all processes
    wishes: int  # commands that it has still to propose
    bug: Bug = "none"
    proposed: Commands = frozenset()
    missing: Commands = frozenset()  # what those that said no knew
    number: int = 0
    active: bool = False
    answers: frozenset[tuple[str, bool]] = frozenset()  # who, and whether it agreed
    output: Commands = frozenset()
    accepted: Commands = frozenset()

    def start(self) -> None:
        self.wish()

    @action(when=lambda self: self.wishes > 0 and not self.active)
    def wish(self) -> None:
        self.proposed |= {f"{self.name}-{self.wishes}"}
        self.wishes -= 1
        self.active = True
        self.propose()

    def propose(self) -> None:
        self.number += 1
        self.missing = frozenset()
        if self.bug != "stale_ack":
            self.answers = frozenset()
        for peer in self.peers:
            self.send(peer, Propose(self.proposed, self.number))

    @on(Propose)
    def judge(self, propose: Propose, source: str) -> None:
        agreed = self.accepted <= propose.commands
        joined = self.accepted | propose.commands
        if agreed:
            self.send(source, Ack(propose.number))
        else:
            self.send(source, Nack(propose.number, joined))
        self.accepted = propose.commands if self.bug == "nojoin" else joined

    @on(Ack)
    def agreed(self, ack: Ack, source: str) -> None:
        if self._expects(ack.number):
            self.answers |= {(source, True)}
            self._count()

    @on(Nack)
    def refused(self, nack: Nack, source: str) -> None:
        if self._expects(nack.number):
            self.answers |= {(source, False)}
            self.missing |= nack.commands
            self._count()

    def _expects(self, number: int) -> bool:
        return self.active and (number == self.number or self.bug == "stale_ack")

    def _count(self) -> None:
        majority = len(self.peers) // 2 + (0 if self.bug == "minority" else 1)
        if len({name for name, agreed in self.answers if agreed}) >= majority:
            self.output = self.proposed
            self.active = False
            self.answers, self.missing = frozenset(), frozenset()
        elif len({name for name, _ in self.answers}) >= majority and self.missing:
            self.proposed |= self.missing
            self.propose()


@always
def comparable(world: WorldView) -> Verdict:
    """Of any two outputs one holds the other."""
    outputs = sorted((len(process.output), process.name) for process in world.of(Process))
    names = [name for _, name in outputs]
    for small, large in zip(names, names[1:], strict=False):
        if not world[small].output <= world[large].output:
            return Verdict.fails(f"the outputs of {small} and {large} do not compare")
    return HOLDS


@eventually
def answered(world: WorldView) -> Verdict:
    """Every command is in an output."""
    return forall(world.of(Process), lambda process: not process.active)


def system(*, processes: int = 3, commands: int = 1, bug: Bug = "none") -> System:
    """Processes that all propose and accept.

    processes: how many.
    commands: how many each of them proposes.
    bug: `stale_ack` counts answers to earlier proposals, `nojoin` has acceptors that forget what
        they accepted before, `minority` takes half of the processes for a majority.
    """
    names = tuple(f"p{n}" for n in range(processes))
    return System(
        {name: Process(peers=names, wishes=commands, bug=bug) for name in names},
        network="ordered",
        properties=[comparable, answered],
        name="CScale",
    )
