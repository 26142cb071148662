"""A server of `zle`: it looks for a leader, then leads, follows or observes.

A server that looks for a leader votes for itself, and for a better candidate as soon as it hears of
one. Once a majority has its vote, it waits a little for something better and decides. A follower
connects to its leader; when a majority has taken over the leader's state, the leader is
*established*. Without its leader or its majority a server looks again, in the next round.

Nothing times out without cause. A leader gives up if it has heard that too many servers are
down or follow another. A learner that connects to a server which still looks waits for its
decision.

`flaws` are the bugs: `ZK-790` (a leader takes its new epoch before it is established), `ZK-975`
(votes of all servers end an election, whatever they are), `ZK-1419` (the order of votes is no
order) and `ZK-1492` (observers count as if they had a vote).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from presage import Down, durable, on, state, timer
from presage.systems.samc.zle.messages import (
    Ack,
    AckEpoch,
    Ballot,
    Closed,
    FollowerInfo,
    LeaderInfo,
    Link,
    NewLeader,
    Notification,
    Role,
    Vote,
)
from presage.systems.samc.zle.transport import Endpoint


class Server(Endpoint):
    """One server. Those in `voters` elect; others only observe."""

    voters: tuple[str, ...]
    version: Literal["3.3", "3.4"]
    flaws: frozenset[str]
    patient: bool  # a leader never gives up
    asks_on: bool  # who looks keeps asking: who decides answers it
    counts_itself: bool  # who joins counts itself among the supporters of a leader
    # What is on disk.
    stored_zxid: int = durable(0)
    current: int = durable(0)  # the last epoch that it took part in (3.4)
    accepted: int = durable(0)  # the last epoch that it promised to take part in (3.4)
    # The election.
    role: Role = "looking"
    round: int = 0
    zxid: int = 0
    vote: Vote = Vote(0, 0, "")  # outside of elections: the one that was decided on
    given_up: tuple[Vote, ...] = ()  # earlier votes of this round
    received: dict[str, Vote] = state(dict)  # of this round
    outside: dict[str, Ballot] = state(dict)  # of servers that have decided
    # The link of a learner.
    leader: str = ""
    # The links of a leader; also of a server that looks, which may come to lead.
    links: dict[str, int] = state(dict)  # learner to session
    infos: dict[str, int] = state(dict)  # learner to the epoch that it accepted
    epoch: int = 0
    agreed: frozenset[str] = frozenset()  # to its epoch (3.4)
    synced: frozenset[str] = frozenset()  # who has its state, itself included
    established: bool = False
    elsewhere: frozenset[str] = frozenset()  # who follows another

    def start(self) -> None:
        self.begin_life()
        self.zxid = self.stored_zxid
        self._look()

    def recovery(self) -> object:
        """What the recovery from a crash depends on, after Table 1 of the paper."""
        followers = len(self.synced)
        if self.role == "leading" and self._is_majority(self.synced):
            return (self.role, followers)
        return (self.role, followers, self.vote, self.round, self.zxid, self.current)

    # -- the election --------------------------------------------------------------------------

    def _look(self) -> None:
        """Begin the next round."""
        self._hang_up()
        self.role, self.leader, self.round = "looking", "", self.round + 1
        self.received, self.outside, self.given_up = {}, {}, ()
        self.record("looks")
        self._cast(self._own_vote())

    def _own_vote(self) -> Vote:
        if self.name not in self.voters:
            return Vote(-1, -1, "")
        return Vote(self.current if self.version == "3.4" else 0, self.zxid, self.name)

    def _cast(self, vote: Vote) -> None:
        self.vote = vote
        if self.name in self.voters:
            self.received[self.name] = vote
        self._notify_all("looking")

    def _notify_all(self, role: Role) -> None:
        for peer in self.peers:
            if peer in self.voters:
                self.notify(peer, Ballot(self.vote, self.round, role))

    @on(Notification)
    def notified(self, mail: Notification, source: str) -> None:
        if not self.accept(mail, source):
            return
        ballot = mail.ballot
        asks = ballot.role == "looking"
        if self.role == "observing":
            return
        if asks and (self.role != "looking" or self._is_behind(ballot, source)):
            self.notify(source, Ballot(self.vote, self.round, self.role))
        if self.role != "looking":
            self._note_place(ballot, source)
        elif source in self.voters:
            self._consider(ballot, source)

    def _is_behind(self, ballot: Ballot, source: str) -> bool:
        return ballot.round < self.round or source not in self.voters

    def _consider(self, ballot: Ballot, source: str) -> None:
        """While it waits for better votes, a server does not even look at others."""
        if self.armed("finalize") and not self._is_better(ballot.vote, self.vote):
            return
        if ballot.role == "looking":
            self._consider_vote(ballot, source)
        else:
            self._consider_decision(ballot, source)
        if self.role == "looking" and self._is_majority(self._supporters(self.vote)):
            self.arm("finalize")
        else:
            self.disarm("finalize")

    def _consider_vote(self, ballot: Ballot, source: str) -> None:
        if ballot.round < self.round:
            return
        if ballot.round > self.round:
            self.round, self.received, self.given_up = ballot.round, {}, ()
            own = self._own_vote()
            self._cast(ballot.vote if self._is_better(ballot.vote, own) else own)
        elif self._is_better(ballot.vote, self.vote):
            self.given_up = (*self.given_up, self.vote)
            self._cast(ballot.vote)
        self.received[source] = ballot.vote
        if "ZK-975" in self.flaws and len(self.received) == len(self.voters):
            self._decide(self.vote)

    def _consider_decision(self, ballot: Ballot, source: str) -> None:
        vote = ballot.vote
        if ballot.round == self.round:
            self.received[source] = vote
            if "ZK-975" in self.flaws and ballot.role == "leading":
                self._decide(vote)
                return
            if self._is_majority(self._supporters(vote)) and self._is_confirmed(vote.leader):
                self._decide(vote)
                return
        self.outside[source] = ballot
        same = {
            peer
            for peer, other in self.outside.items()
            if (other.vote, other.round) == (vote, ballot.round)
        }
        if self.counts_itself:
            same.add(self.name)
        if self._is_majority(same) and self._is_confirmed(vote.leader):
            self.round = ballot.round
            self._decide(vote)

    def _supporters(self, vote: Vote) -> list[str]:
        return [voter for voter, cast in self.received.items() if cast == vote]

    def _is_confirmed(self, leader: str) -> bool:
        """Whether the leader itself says that it leads."""
        own = self.outside.get(leader)
        return leader == self.name or (own is not None and own.role == "leading")

    def _is_better(self, one: Vote, other: Vote) -> bool:
        if "ZK-1419" not in self.flaws:
            return one > other
        same_zxid = one.zxid == other.zxid
        return one[:2] > other[:2] or (same_zxid and one.leader > other.leader)

    @timer
    def finalize(self) -> None:
        """Nothing better came."""
        self._decide(self.vote)

    def _decide(self, vote: Vote) -> None:
        self.vote, self.given_up, self.received, self.outside = vote, (), {}, {}
        self.disarm("finalize")
        if vote.leader == self.name:
            self._lead()
        else:
            self._follow(vote.leader)

    # -- a learner -----------------------------------------------------------------------------

    def _follow(self, leader: str) -> None:
        if leader in self.down:
            self._look()
            return
        self._hang_up()
        self.role = "following" if self.name in self.voters else "observing"
        self.leader = leader
        self.tell(leader, FollowerInfo, session=self.round, accepted=self.accepted)
        if self.asks_on:
            self._notify_all(self.role)

    def _is_mine(self, mail: Link, source: str) -> bool:
        """Whether mail came on this learner's link."""
        return source == self.leader and mail.session == self.round

    @on(LeaderInfo)
    def epoch_proposed(self, mail: LeaderInfo, source: str) -> None:
        if not self.accept(mail, source) or not self._is_mine(mail, source):
            return
        if mail.epoch < self.accepted:
            self._look()
            return
        self.accepted = mail.epoch
        self.tell(source, AckEpoch, session=mail.session)

    @on(NewLeader)
    def epoch_begun(self, mail: NewLeader, source: str) -> None:
        if not self.accept(mail, source) or not self._is_mine(mail, source):
            return
        if self.version == "3.4":
            self.current, self.zxid = mail.epoch, mail.zxid
        elif mail.epoch < self.zxid:
            self._look()
            return
        else:
            self.zxid = mail.epoch
        self.stored_zxid = self.zxid
        self.tell(source, Ack, session=mail.session)

    # -- a leader ------------------------------------------------------------------------------

    def _lead(self) -> None:
        self.role, self.leader = "leading", self.name
        self.synced = self.agreed = frozenset({self.name})
        if self.version == "3.3":
            self.epoch = self.zxid + 1
            if "ZK-790" in self.flaws:
                self.zxid = self.epoch
        self.infos[self.name] = self.accepted
        for learner in sorted(self.links):
            self._welcome(learner)
        if self.asks_on:
            self._notify_all("leading")
        self._review()

    @on(FollowerInfo)
    def learner_came(self, mail: FollowerInfo, source: str) -> None:
        if not self.accept(mail, source):
            return
        if self.role in ("following", "observing"):
            self.tell(source, Closed, session=mail.session)
            return
        self.links[source], self.infos[source] = mail.session, mail.accepted
        if self.role == "leading":
            self.elsewhere -= {source}
            self._welcome(source)
            self._review()

    def _welcome(self, learner: str) -> None:
        if self.version == "3.3":
            self._begin_epoch(learner)
        elif self.epoch:
            self.tell(learner, LeaderInfo, session=self.links[learner], epoch=self.epoch)
        elif self._is_majority(set(self.infos) & set(self.voters)):
            self.accepted = self.epoch = max(self.infos.values()) + 1
            for peer in sorted(self.links):
                self.tell(peer, LeaderInfo, session=self.links[peer], epoch=self.epoch)

    @on(AckEpoch)
    def epoch_accepted(self, mail: AckEpoch, source: str) -> None:
        if not self.accept(mail, source) or self.links.get(source) != mail.session:
            return
        had_majority = self._is_majority(self.agreed & set(self.voters))
        self.agreed |= {source}
        if had_majority:
            self._begin_epoch(source)
        elif self._is_majority(self.agreed & set(self.voters)):
            self.current = self.epoch
            for learner in sorted(self.agreed - {self.name}):
                self._begin_epoch(learner)

    def _begin_epoch(self, learner: str) -> None:
        session = self.links[learner]
        self.tell(learner, NewLeader, session=session, epoch=self.epoch, zxid=self.zxid)

    @on(Ack)
    def learner_synced(self, mail: Ack, source: str) -> None:
        if not self.accept(mail, source) or self.links.get(source) != mail.session:
            return
        self.synced |= {source}
        if not self.established and self._has_quorum():
            self.established, self.zxid = True, self.epoch
            self.record("established")
        self._review()

    def _has_quorum(self) -> bool:
        counted = self.synced if "ZK-1492" in self.flaws else self.synced & set(self.voters)
        return self._is_majority(counted)

    def _note_place(self, ballot: Ballot, source: str) -> None:
        """Remember who cannot be waited for."""
        if self.role == "leading" and not self.established and source in self.voters:
            follows_another = ballot.role != "looking" and ballot.vote.leader != self.name
            self.elsewhere = (self.elsewhere - {source}) | ({source} if follows_another else set())
            self._review()

    def _review(self) -> None:
        """A leader whom no majority can follow any more gives up after a while."""
        missing = self.elsewhere | self.down
        is_hopeless = not self._is_majority(set(self.voters) - missing)
        if self.role == "leading" and not (self.established or self.patient) and is_hopeless:
            self.arm("give_up")
        else:
            self.disarm("give_up")

    @timer
    def give_up(self) -> None:
        """The leader's time to be established is over."""
        self._look()

    # -- connections that end ------------------------------------------------------------------

    @on(Down)
    def peer_down(self, notice: Down) -> None:
        self.down |= {notice.node}
        self._lose(notice.node)

    @on(Closed)
    def link_closed(self, mail: Closed, source: str) -> None:
        if not self.accept(mail, source):
            return
        if self._is_mine(mail, source) or self.links.get(source) == mail.session:
            self._lose(source)

    def _lose(self, peer: str) -> None:
        self.links.pop(peer, None)
        self.infos.pop(peer, None)
        self.agreed -= {peer}
        self.synced -= {peer}
        if self.leader == peer:
            self.leader = ""
            self._look()
        elif self.established and not self.patient and not self._has_quorum():
            self._look()
        else:
            self._review()

    def _hang_up(self) -> None:
        """Close all links, and forget what came on them."""
        for learner in sorted(self.links):
            self.tell(learner, Closed, session=self.links[learner])
        if self.leader not in ("", self.name):
            self.tell(self.leader, Closed, session=self.round)
        self.links, self.infos, self.epoch = {}, {}, 0
        self.agreed = self.synced = self.elsewhere = frozenset()
        self.established = False
        self.disarm("give_up")
        self.disarm("finalize")

    def _is_majority(self, servers: Collection[str]) -> bool:
        return len(servers) > len(self.voters) // 2
