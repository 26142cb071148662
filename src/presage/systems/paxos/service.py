"""A server: proposer, acceptor and learner at once."""

from __future__ import annotations

from presage import Service, durable, on, state
from presage.systems.paxos.messages import (
    Accept,
    Accepted,
    Ballot,
    Decided,
    Prepare,
    Prepared,
    Proposal,
    Vote,
)
from presage.systems.register import Get, GetOk, Put, PutOk


class Server(Service):
    """Proposer, acceptor and learner."""

    peers: tuple[str, ...]
    # The acceptor's record, which has to outlive a crash.
    ballot: Ballot = durable((0, ""))  # the highest promised
    accepted: Vote | None = durable(None)
    decided: bool = durable(False)
    # The proposer's, of the ballot it leads.
    proposal: Proposal | None = None
    promises: dict[str, Vote | None] = state(dict)
    accepts: set[str] = state(set)

    @on(Put)
    def put(self, put: Put, source: str) -> None:
        if self.decided or self.proposal is not None:
            return
        self.proposal = Proposal(put.request, source, put.value)
        self.ballot = (self.ballot[0] + 1, self.name)
        self.promises = {self.name: self.accepted}
        self.accepts = set()
        self._tell_peers(Prepare(self.ballot))

    @on(Prepare)
    def prepare(self, prepare: Prepare, source: str) -> None:
        if self.decided or prepare.ballot <= self.ballot:
            return
        self.ballot = prepare.ballot
        self.send(source, Prepared(self.ballot, self.accepted))

    @on(Prepared)
    def prepared(self, prepared: Prepared, source: str) -> None:
        if self.decided or self.proposal is None or prepared.ballot != self.ballot:
            return
        self.promises[source] = prepared.accepted
        if len(self.promises) != self._majority():
            return
        inherited = self._inherited(prepared)
        if inherited is not None:
            self.proposal = inherited[1]
        self.accepted = (self.ballot, self.proposal)
        self.accepts.add(self.name)
        self._tell_peers(Accept(self.ballot, self.proposal))

    @on(Accept)
    def accept(self, accept: Accept, source: str) -> None:
        if self.decided or accept.ballot < self.ballot:
            return
        self.ballot = accept.ballot
        self.accepted = (accept.ballot, accept.proposal)
        self.send(source, Accepted(accept.ballot))

    @on(Accepted)
    def was_accepted(self, accepted: Accepted, source: str) -> None:
        if self.decided or self.proposal is None or accepted.ballot != self.ballot:
            return
        self.accepts.add(source)
        if len(self.accepts) != self._majority():
            return
        self.decided = True
        self._tell_peers(Decided(self.ballot, self.proposal))
        self.send(self.proposal.client, PutOk(self.proposal.request))

    @on(Decided)
    def learn(self, decided: Decided) -> None:
        if self.decided:
            return
        self.ballot = decided.ballot
        self.accepted = (decided.ballot, decided.proposal)
        self.decided = True

    @on(Get)
    def get(self, get: Get, source: str) -> None:
        if self.decided and self.accepted is not None:
            self.send(source, GetOk(get.request, self.accepted[1].value))

    def _inherited(self, last: Prepared) -> Vote | None:
        """The vote this ballot must not contradict: of all promised, that of highest ballot."""
        votes = [vote for vote in self.promises.values() if vote is not None]
        return max(votes, key=lambda vote: vote[0], default=None)

    def _majority(self) -> int:
        return (len(self.peers) + 1) // 2 + 1

    def _tell_peers(self, message: Prepare | Accept | Decided) -> None:
        for peer in self.peers:
            self.send(peer, message)
