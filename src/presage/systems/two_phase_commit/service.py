"""The transaction manager, and a resource manager."""

from __future__ import annotations

from presage import Service, action, on, state
from presage.systems.two_phase_commit.messages import Abort, Commit, Prepared


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
