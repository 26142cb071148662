"""A node: leader, acceptor and learner at once. What it would send to itself it does on the spot.

A node that hears from a majority of acceptors that they accepted one value in one round considers
it chosen. There is no message that says what was chosen.

Each name in `missing` takes one rule away; see `bugs.py` for what then goes wrong.
"""

from __future__ import annotations

from presage import Service, durable, on, state, timer
from presage.systems.mace_paxos.messages import Accept, Learn, Prepare, Promise, Vote


class Paxos(Service):
    """One of `members`, which number themselves by their order."""

    members: tuple[str, ...]
    retries: int = 0  # how often a proposal that nothing came of may be made again
    missing: frozenset[str] = frozenset()

    # The acceptor's record and the leader's counter, which have to outlive a crash.
    promised: int = durable(0)
    accepted: Vote | None = durable(None)
    counter: int = durable(0)
    # The leader's, of its round.
    round: int = 0
    asked: int | None = None  # the value it was asked to propose
    proposed: int | None = None  # what it proposes in this round, once it has its promises
    promises: dict[str, Vote | None] = state(dict)
    # The learner's: who has accepted what. A learner may write down what was chosen, and does.
    heard: dict[Vote, frozenset[str]] = state(dict)
    chosen: frozenset[int] = durable(frozenset())

    def neighbours(self) -> tuple[str, ...]:
        """All others."""
        return self.members

    # -- leader ------------------------------------------------------------------------------

    def propose(self, value: int) -> None:
        """Begin a round for `value`, unless it is known already what was chosen."""
        if self.chosen:
            return
        self.asked = value
        self._begin()

    def _begin(self) -> None:
        size = len(self.members)
        self.counter = max(self.counter, self.promised // size) + 1
        self.round = self.counter * size + self.members.index(self.name)
        self.proposed = None
        if self._has("fresh_promises"):
            self.promises = {}
        self._tell_others(Prepare(self.round))
        self._prepare(Prepare(self.round), self.name)
        if self.retries:
            self.arm("retry")

    @timer(after=5)  # as the driver of Mace's checker has it
    def retry(self) -> None:
        if not self.chosen and self.asked is not None and self.retries:
            self.retries -= 1
            self._begin()

    @on(Promise)
    def promise(self, promise: Promise, source: str) -> None:
        fresh = promise.round == self.round or not self._has("fresh_promises")
        if not fresh or self.proposed is not None or self.asked is None:
            return
        self.promises[source] = promise.accepted
        if len(self.promises) < self._majority():
            return
        vote = self._highest() if self._has("highest_promise") else promise.accepted
        self.proposed = self.asked if vote is None else vote[1]
        accept = Accept(self.round, self.proposed)
        self._tell_others(accept)
        self.accept(accept)

    def _highest(self) -> Vote | None:
        votes = [vote for vote in self.promises.values() if vote is not None]
        return max(votes, default=None)

    # -- acceptor ----------------------------------------------------------------------------

    @on(Prepare)
    def prepare(self, prepare: Prepare, source: str) -> None:
        self._prepare(prepare, source)

    def _prepare(self, prepare: Prepare, source: str) -> None:
        if prepare.round <= self.promised:
            return
        self.promised = prepare.round
        promise = Promise(prepare.round, self.accepted)
        if source == self.name:
            self.promise(promise, source)
        else:
            self.send(source, promise)

    @on(Accept)
    def accept(self, accept: Accept) -> None:
        if accept.round < self.promised and self._has("promise_kept"):
            return
        self.promised = max(self.promised, accept.round)
        self.accepted = (accept.round, accept.value)
        learn = Learn(accept.round, accept.value)
        self._tell_others(learn)
        self.learn(learn, self.name)

    # -- learner -----------------------------------------------------------------------------

    @on(Learn)
    def learn(self, learn: Learn, source: str) -> None:
        vote = (learn.round if self._has("learn_rounds") else 0, learn.value)
        self.heard[vote] = self.heard.get(vote, frozenset()) | {source}
        if len(self.heard[vote]) >= self._majority():
            self.chosen |= {learn.value}
            self.disarm("retry")

    def _majority(self) -> int:
        size = len(self.members)
        return size // 2 + 1 if self._has("majority") else size // 2

    def _has(self, rule: str) -> bool:
        return rule not in self.missing

    def _tell_others(self, message: Prepare | Accept | Learn) -> None:
        for member in self.members:
            if member != self.name:
                self.send(member, message)
