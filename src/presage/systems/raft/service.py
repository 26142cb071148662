"""A server: follower, candidate or leader."""

from __future__ import annotations

from typing import Literal

from presage import Service, action, durable, on, state, timer
from presage.systems.raft.messages import Append, Appended, Entry, RequestVote, Voted


class Server(Service):
    """One server; `terms` and `proposals` bound what it does by itself."""

    peers: tuple[str, ...]
    terms: int
    proposals: int
    # What has to outlive a crash.
    term: int = durable(0)
    vote: str = durable("")  # whom it voted for in this term
    entries: tuple[Entry, ...] = durable(())
    proposed: int = durable(0)
    # What is learnt again.
    role: Literal["follower", "candidate", "leader"] = "follower"
    votes: frozenset[str] = frozenset()
    committed: int = 0
    matched: dict[str, int] = state(dict)  # of a leader: how much of its log each peer has
    following: dict[str, int] = state(dict)  # and from where each is sent more

    def start(self) -> None:
        self._await_leader()

    def neighbours(self) -> tuple[str, ...]:
        """All others."""
        return self.peers

    # -- elections -----------------------------------------------------------------------------

    @timer(after=0.3)  # the most of what the paper suggests
    def election(self) -> None:
        """Nobody was heard of for a while."""
        self.term, self.vote, self.role = self.term + 1, self.name, "candidate"
        self.votes = frozenset({self.name})
        for peer in self.peers:
            self.send(peer, RequestVote(self.term, len(self.entries), self._last_term()))
        self._await_leader()

    @on(RequestVote)
    def request_vote(self, request: RequestVote, source: str) -> None:
        self._hear_of(request.term)
        free = self.vote in ("", source)
        if request.term == self.term and free and self._may_lead(request):
            self.vote = source
            self.send(source, Voted(self.term))

    @on(Voted)
    def voted(self, voted: Voted, source: str) -> None:
        self._hear_of(voted.term)
        if self.role != "candidate" or voted.term != self.term:
            return
        self.votes |= {source}
        if len(self.votes) >= self._majority():
            self.role, self.votes = "leader", frozenset()
            self.disarm("election")
            self.matched = dict.fromkeys(self.peers, 0)
            self.following = dict.fromkeys(self.peers, len(self.entries))
            self._copy_to_peers()

    # -- the log -------------------------------------------------------------------------------

    @action(when=lambda self: self.role == "leader" and self.proposed < self.proposals)
    def propose(self) -> None:
        """A client has something to say."""
        self.proposed += 1
        self.entries = (*self.entries, Entry(self.term, self.name))
        self._copy_to_peers()

    @on(Append)
    def append(self, append: Append, source: str) -> None:
        self._hear_of(append.term)
        if append.term < self.term:
            return
        self.role = "follower"
        fits = append.at <= len(self.entries) and self._term_before(append.at) == append.before
        if not fits:
            shorter = min(append.at - 1, len(self.entries))
            self.send(source, Appended(self.term, False, shorter))
            return
        self.entries = self._merged(append)
        length = append.at + len(append.entries)
        self.committed = max(self.committed, min(append.committed, length))
        self.send(source, Appended(self.term, True, length))

    @on(Appended)
    def appended(self, appended: Appended, source: str) -> None:
        self._hear_of(appended.term)
        if self.role != "leader" or appended.term != self.term:
            return
        if not appended.done:
            if appended.length < self.following[source]:
                self.following[source] = appended.length
                self._copy_to(source)
            return
        self.matched[source] = max(self.matched[source], appended.length)
        self.following[source] = max(self.following[source], appended.length)
        self._commit()

    def _commit(self) -> None:
        """Commit what a majority has, and all before it."""
        for length in range(len(self.entries), self.committed, -1):
            has = 1 + sum(matched >= length for matched in self.matched.values())
            if has >= self._majority() and self._may_commit(length):
                self.committed = length
                self._copy_to_peers()
                return

    # -- what the bugs change ------------------------------------------------------------------

    def _may_commit(self, length: int) -> bool:
        """An entry of an older term is committed only by one of this term after it."""
        return self.entries[length - 1].term == self.term

    def _may_lead(self, request: RequestVote) -> bool:
        """A leader's log is at least as new as that of a majority."""
        return (request.last_term, request.length) >= (self._last_term(), len(self.entries))

    def _merged(self, append: Append) -> tuple[Entry, ...]:
        """Cut the log only where an entry differs: a late message may hold less than is there."""
        for offset, entry in enumerate(append.entries):
            at = append.at + offset
            if at >= len(self.entries) or self.entries[at] != entry:
                return (*self.entries[: append.at], *append.entries)
        return self.entries

    # -- small things --------------------------------------------------------------------------

    def _hear_of(self, term: int) -> None:
        if term > self.term:
            self.term, self.vote, self.role, self.votes = term, "", "follower", frozenset()
            self._await_leader()

    def _await_leader(self) -> None:
        if self.term < self.terms:
            self.arm("election")
        else:
            self.disarm("election")

    def _copy_to_peers(self) -> None:
        for peer in self.peers:
            self._copy_to(peer)

    def _copy_to(self, peer: str) -> None:
        at = self.following[peer]
        before = self._term_before(at)
        self.send(peer, Append(self.term, at, before, self.entries[at:], self.committed))

    def _term_before(self, at: int) -> int:
        return self.entries[at - 1].term if at else 0

    def _last_term(self) -> int:
        return self._term_before(len(self.entries))

    def _majority(self) -> int:
        return (len(self.peers) + 1) // 2 + 1
