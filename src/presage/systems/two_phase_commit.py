"""Two-phase commit: a transaction manager and resource managers that must all decide alike.

After Gray and Lamport, "Consensus on Transaction Commit", 2006, section 3, without the messages
by which the manager asks to prepare: a resource manager prepares, or gives up, by itself. Messages
once sent stay, and may be delivered again; so a delivery that changes nothing is a transition
too, as in the published specification, whose state counts this reproduces.
"""

from __future__ import annotations

from msgspec import Struct

from presage import (
    HOLDS,
    Service,
    System,
    Verdict,
    WorldView,
    action,
    always,
    on,
    sometimes,
    state,
)


class Prepared(Struct, frozen=True):
    """The sender has prepared, and leaves the decision to the transaction manager."""


class Commit(Struct, frozen=True):
    """The transaction is committed."""


class Abort(Struct, frozen=True):
    """The transaction is aborted."""


class TransactionManager(Service):
    """Decides: commits only when everyone has prepared, aborts whenever it likes."""

    rms: tuple[str, ...]
    decision: str = "none"
    prepared: set[str] = state(set)

    @on(Prepared, when=lambda self: self.decision == "none")
    def note_prepared(self, message: Prepared, source: str) -> None:
        self.prepared.add(source)

    @action(when=lambda self: self.decision == "none" and len(self.prepared) == len(self.rms))
    def commit(self) -> None:
        self._decide("commit", Commit())

    @action(when=lambda self: self.decision == "none")
    def abort(self) -> None:
        self._decide("abort", Abort())

    def _decide(self, decision: str, message: Commit | Abort) -> None:
        self.decision = decision
        for rm in self.rms:
            self.send(rm, message)


class ResourceManager(Service):
    """Prepares or gives up while it works; otherwise does as it is told."""

    tm: str
    phase: str = "working"

    @action(when=lambda self: self.phase == "working")
    def prepare(self) -> None:
        self.phase = "prepared"
        self.send(self.tm, Prepared())

    @action(when=lambda self: self.phase == "working")
    def choose_to_abort(self) -> None:
        self.phase = "aborted"

    @on(Commit)
    def committed(self, message: Commit) -> None:
        self.phase = "committed"

    @on(Abort)
    def aborted(self, message: Abort) -> None:
        self.phase = "aborted"


@always
def consistent(world: WorldView) -> Verdict:
    """No resource manager has committed while another has aborted."""
    ends: dict[str, str] = {}
    for rm in world.of(ResourceManager):
        phase = rm.phase
        if phase in ("committed", "aborted"):
            ends.setdefault(phase, rm.name)
    if len(ends) < 2:
        return HOLDS
    return Verdict.fails(f"{ends['committed']} has committed, {ends['aborted']} has aborted")


@sometimes
def commit_agreement(world: WorldView) -> bool:
    """All resource managers commit."""
    return all(rm.phase == "committed" for rm in world.of(ResourceManager))


@sometimes
def abort_agreement(world: WorldView) -> bool:
    """All resource managers abort."""
    return all(rm.phase == "aborted" for rm in world.of(ResourceManager))


def system(*, rms: int = 3) -> System:
    """One transaction manager `tm` and resource managers `rm0`, `rm1`, ...

    rms: how many resource managers.
    """
    names = tuple(f"rm{i}" for i in range(rms))
    return System(
        nodes={
            "tm": TransactionManager(rms=names),
            **{name: ResourceManager(tm="tm") for name in names},
        },
        network="duplicating",
        properties=[consistent, commit_agreement, abort_agreement],
        skip_noops=False,
        symmetric=[names],
        name="two-phase commit",
    )
