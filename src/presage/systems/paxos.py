"""Single-decree Paxos: three servers agree on one value among those that clients propose.

After Lamport, "Paxos Made Simple", 2001. Each server is proposer, acceptor and learner at once,
and what it would send to itself it does on the spot. A client that writes starts a ballot; a
server answers a read only once it knows the decision. Same model as Stateright's paxos example,
whose state counts it reproduces.

Two bugs that real implementations had can be switched on:

`last_promise`: the leader proposes the value of the last promise it received, not that of the
highest ballot among them. Found by the WiDS checker (Liu et al., NSDI 2007); Mace's successor
EventWave shipped a Paxos with the same line until 2012.

`no_disk`: an acceptor does not write its promise and accepted value to disk, and forgets them in
a crash. After Chandra et al., "Paxos Made Live", 2007, where a disk lost them.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from presage import (
    HOLDS,
    Faults,
    Linearizable,
    Register,
    Service,
    System,
    Verdict,
    WorldView,
    always,
    durable,
    linearizable,
    on,
    state,
)
from presage.systems.register import Get, GetOk, Put, PutOk, client_nodes, value_chosen

Ballot = tuple[int, str]  # round, then the leader's name: no two leaders share one


class Proposal(Struct, frozen=True):
    """A value, and the request it came with."""

    request: int
    client: str
    value: str


Vote = tuple[Ballot, Proposal]


class Prepare(Struct, frozen=True):
    """Promise to accept nothing below this ballot."""

    ballot: Ballot


class Prepared(Struct, frozen=True):
    """Promised; this is what the sender accepted last."""

    ballot: Ballot
    accepted: Vote | None


class Accept(Struct, frozen=True):
    """Accept this, unless a higher ballot was promised."""

    ballot: Ballot
    proposal: Proposal


class Accepted(Struct, frozen=True):
    """Accepted in that ballot."""

    ballot: Ballot


class Decided(Struct, frozen=True):
    """A majority has accepted this."""

    ballot: Ballot
    proposal: Proposal


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


class LastPromiseServer(Server):
    """With the bug `last_promise`."""

    def _inherited(self, last: Prepared) -> Vote | None:
        return last.accepted


class NoDiskServer(Server):
    """With the bug `no_disk`."""

    ballot: Ballot = (0, "")
    accepted: Vote | None = None
    decided: bool = False


SERVERS: dict[str, type[Server]] = {
    "none": Server,
    "last_promise": LastPromiseServer,
    "no_disk": NoDiskServer,
}


@always
def one_value(world: WorldView) -> Verdict:
    """No two servers decide on different values."""
    first = None
    for server in world.of(Server):
        vote = server.accepted if server.decided else None
        if vote is None:
            continue
        value = vote[1].value
        if first is None:
            first = (server.name, value)
        elif value != first[1]:
            return Verdict.fails(f"{first[0]} decided on {first[1]!r}, {server.name} on {value!r}")
    return HOLDS


def system(
    *,
    clients: int = 2,
    bug: Literal["none", "last_promise", "no_disk"] = "none",
    crashes: int = 0,
) -> System:
    """Three servers and some clients.

    clients: how many; each writes its own value once and then reads once.
    bug: which historic bug to switch on; `last_promise` and `no_disk` both break `one_value`.
    crashes: how many times a server may crash and come back; at least 1 with `no_disk`.
    """
    names = ("s0", "s1", "s2")
    crashes = max(crashes, 1) if bug == "no_disk" else crashes
    servers: dict[str, Service] = {
        name: SERVERS[bug](peers=tuple(peer for peer in names if peer != name)) for name in names
    }
    return System(
        nodes={**servers, **client_nodes(clients, names)},
        network="unordered",
        faults=Faults(crash=crashes, restart=crashes, nodes=names),
        observers={"history": Linearizable(Register(None))},
        properties=[one_value, linearizable(), value_chosen],
        name="single-decree Paxos",
    )
