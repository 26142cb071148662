"""Atomic broadcast of ZooKeeper 3.1.0, and how two leaders came to use one epoch (ZOOKEEPER-335).
"""

from __future__ import annotations

from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from presage import (
    HOLDS,
    Call,
    Disk,
    Faults,
    Service,
    Streams,
    System,
    Verdict,
    WorldView,
    always,
    broken,
    disk,
    on,
    sometimes,
    state,
    written,
)
from presage.systems.samc.election import ELECTION, Election, Follow, Lead, Looking, Lost, atomic

Bug = Literal["none", "ZK-335"]
Zxid: TypeAlias = tuple[int, int]  # an epoch, and a place in it


class Entry(NamedTuple):
    """A transaction and its number."""

    zxid: Zxid
    value: str


Tree: TypeAlias = tuple[Entry, ...]  # the data: what was applied, in order
START: Tree = (Entry((1, 1), "start"),)  # what every log begins with


class Info(Struct, frozen=True):
    """A follower's log ends there; it has accepted that epoch (which 3.1.0 did not keep)."""

    zxid: Zxid
    accepted: int


class NewEpoch(Struct, frozen=True):
    """Accept this epoch. Sent by the mended version only."""

    epoch: int


class AckEpoch(Struct, frozen=True):
    """The sender has it on disk; `fresh` unless it had accepted it before."""

    fresh: bool


class Sync(Struct, frozen=True):
    """NEWLEADER and how to begin: from the own log, from that cut short, or from a copy."""

    epoch: int
    how: Literal["diff", "trunc", "snap"]
    tree: Tree  # of a copy
    zxid: Zxid  # of a cut: the last to stay


class UpToDate(Struct, frozen=True):
    """You may serve clients."""


class Request(Struct, frozen=True):
    """A client of the sender writes."""

    value: str


class Proposal(Struct, frozen=True):
    """Log this."""

    entry: Entry


class Ack(Struct, frozen=True):
    """It is logged; place 0: the sender follows you."""

    zxid: Zxid


class Commit(Struct, frozen=True):
    """A quorum has logged it."""

    zxid: Zxid


class Peer(Service):
    """One server. `disk` holds the log, a snapshot and the accepted epoch."""

    quorum: int
    bug: Bug
    disk: Disk = disk()
    role: Literal["looking", "following", "leading"] = "looking"
    serving: bool = False
    leader: str = ""
    epoch: int = 0  # of the leader; 0: not known yet
    tree: Tree = ()
    outstanding: Tree = ()  # proposed and not committed
    # Of a leader:
    committed: Tree = ()  # by itself, since it leads
    last: Zxid = (0, 0)  # proposed
    infos: dict[str, Info] = state(dict)
    promised: frozenset[str] = frozenset()  # who has accepted the epoch
    ready: frozenset[str] = frozenset()  # who has answered, and is not synchronised
    forwarding: frozenset[str] = frozenset()  # who is sent proposals
    acks: dict[Zxid, frozenset[str]] = state(dict)

    def start(self) -> None:
        self.stream.send(ELECTION, Looking(self.logged()))

    def logged(self) -> Zxid:
        """The end of the log. Snapshots do not count."""
        return max(entry.zxid for entry in self.log())

    def log(self) -> Tree:
        return self.disk.read("log", START)

    def recovery(self) -> object:
        """What recovery depends on: the role, who follows, and what is on disk."""
        return (self.role, self.serving, len(self.forwarding), sorted(self.disk.stored.items()))

    def values(self, zxid: Zxid) -> set[str]:
        """What it has applied under a number: one transaction, or none."""
        return {entry.value for entry in self.tree if entry.zxid == zxid}

    def blocked(self) -> bool:
        """Snapshots and epochs are written by the thread that handles messages."""
        return any(key != "log" for key, _ in self.disk.pending)

    def _restored(self) -> Tree:
        upto, tree = self.disk.read("snap", ((0, 0), ()))
        return (*tree, *(entry for entry in self.log() if entry.zxid > upto))

    def _snapshot(self) -> None:
        """What the log has up to there is no longer read, applied or not."""
        self.disk.write("snap", (max((self.epoch, 0), self.tree[-1].zxid), self.tree))

    # -- elections -----------------------------------------------------------------------------

    @on(Lead)
    def lead(self, lead: Lead) -> None:
        self.role, self.tree = "leading", self._restored()
        self._snapshot()
        if self.bug == "ZK-335":
            self._begin(self.logged()[0] + 1)  # nobody keeps that it was used

    @on(Follow)
    def follow(self, follow: Follow) -> None:
        self.role, self.leader = "following", follow.leader
        self.stream.send(self.leader, Info(self.logged(), self.disk.read("accepted", 1)))

    @on(Lost)
    def lost(self, lost: Lost) -> None:
        if self.role != "looking":
            self._look()

    @broken
    def gone(self, peer: str) -> None:
        """Send nothing there any more. The election says when to look for another leader."""
        if peer == self.leader:
            self.leader, self.serving = "", False
        self.infos.pop(peer, None)
        self.ready -= {peer}
        self.forwarding -= {peer}

    def _answer(self, message: AckEpoch | Ack | Request) -> None:
        if self.leader:
            self.stream.send(self.leader, message)

    def _look(self) -> None:
        for peer in sorted({self.leader, *self.infos} - {""}):
            self.stream.close(peer)
        self.role, self.serving, self.leader, self.epoch = "looking", False, "", 0
        self.tree, self.outstanding, self.committed, self.last = (), (), (), (0, 0)
        self.infos, self.acks = {}, {}
        self.promised = self.ready = self.forwarding = frozenset()
        self.start()

    # -- a leader begins -----------------------------------------------------------------------

    @on(Info, when=lambda self: self.role == "leading" and not self.blocked())
    def informed(self, info: Info, source: str) -> None:
        self.infos[source] = info
        if self.bug == "ZK-335":
            self._synchronise(source)
        elif self.epoch:
            self.stream.send(source, NewEpoch(self.epoch))
        elif len(self.infos) + 1 >= self.quorum:
            accepted = [info.accepted for info in self.infos.values()]
            self._begin(max(self.disk.read("accepted", 1), *accepted) + 1)
            self.disk.write("accepted", self.epoch)
            for peer in sorted(self.infos):
                self.stream.send(peer, NewEpoch(self.epoch))

    def _begin(self, epoch: int) -> None:
        self.epoch, self.last = epoch, (epoch, 0)
        self.acks = {self.last: frozenset({self.name})}

    @on(NewEpoch, when=lambda self: not self.blocked())
    def new_epoch(self, new: NewEpoch) -> None:
        accepted = self.disk.read("accepted", 1)
        if new.epoch < accepted:
            self._look()
        elif new.epoch == accepted:
            self._answer(AckEpoch(False))
        else:
            self.epoch = new.epoch
            self.disk.write("accepted", new.epoch)

    @on(AckEpoch)
    def accepted(self, ack: AckEpoch, source: str) -> None:
        self.ready |= {source}
        self._promise(frozenset({source}) if ack.fresh else frozenset())

    def _promise(self, peers: frozenset[str]) -> None:
        self.promised |= peers
        if len(self.promised) >= self.quorum:
            for peer in sorted(self.ready):
                self._synchronise(peer)
            self.ready = frozenset()

    def _synchronise(self, peer: str) -> None:
        """Send what the follower misses, judging by the number where its log ends."""
        zxid, done = self.infos[peer].zxid, self.committed
        missed: Tree = ()
        if done and done[0].zxid <= zxid <= done[-1].zxid:
            sync = Sync(self.epoch, "diff", (), zxid)
            missed = tuple(entry for entry in done if entry.zxid > zxid)
        elif done and zxid > done[-1].zxid:
            sync = Sync(self.epoch, "trunc", (), done[-1].zxid)
        elif zxid == self.last:
            sync = Sync(self.epoch, "diff", (), zxid)
        else:
            sync = Sync(self.epoch, "snap", self.tree, zxid)
        self.stream.send(peer, sync)
        for entry in missed:
            self.stream.send(peer, Proposal(entry))
            self.stream.send(peer, Commit(entry.zxid))
        for entry in self.outstanding:
            if entry.zxid > zxid:
                self.stream.send(peer, Proposal(entry))
        self.stream.send(peer, UpToDate())
        self.forwarding |= {peer}

    # -- a follower begins ---------------------------------------------------------------------

    @on(Sync, when=lambda self: not self.blocked())
    def synchronised(self, sync: Sync) -> None:
        self.epoch = sync.epoch
        if sync.how == "trunc":
            self.disk.write("log", tuple(e for e in self.log() if e.zxid <= sync.zxid))
        self.tree = sync.tree if sync.how == "snap" else self._restored()
        self._answer(Ack((self.epoch, 0)))

    @on(UpToDate, when=lambda self: not self.blocked())
    def up_to_date(self, message: UpToDate) -> None:
        self._snapshot()

    # -- broadcast -----------------------------------------------------------------------------

    def write(self, value: str) -> None:
        """A client of this server writes."""
        if self.role == "leading":
            self._propose(value)
        else:
            self._answer(Request(value))

    @on(Request, when=lambda self: self.serving)
    def requested(self, request: Request) -> None:
        self._propose(request.value)

    def _propose(self, value: str) -> None:
        self.last = (self.epoch, self.last[1] + 1)
        entry = Entry(self.last, value)
        self._append(entry)
        self.acks[self.last] = frozenset()
        for peer in sorted(self.forwarding):
            self.stream.send(peer, Proposal(entry))

    @on(Proposal, when=lambda self: not self.blocked())
    def proposed(self, proposal: Proposal) -> None:
        self._append(proposal.entry)

    def _append(self, entry: Entry) -> None:
        self.outstanding += (entry,)
        self.disk.write("log", (*self.log(), entry))

    @written
    def stored(self, key: str, value: Tree | int) -> None:
        if self.role == "following":
            self._stored_by_follower(key, value)
        elif self.role == "leading":
            if key == "accepted" and value == self.epoch:
                self._promise(frozenset({self.name}))
            elif key == "log" and value[-1] in self.outstanding:
                self._count(value[-1].zxid, self.name)

    def _stored_by_follower(self, key: str, value: Tree | int) -> None:
        if key == "accepted" and value == self.epoch:
            self._answer(AckEpoch(True))
        elif key == "snap":
            self.serving = True
        elif key == "log" and value[-1] in self.outstanding:
            self._answer(Ack(value[-1].zxid))

    @on(Ack, when=lambda self: not self.blocked())
    def acknowledged(self, ack: Ack, source: str) -> None:
        self._count(ack.zxid, source)

    def _count(self, zxid: Zxid, peer: str) -> None:
        if zxid not in self.acks:
            return  # it is committed
        self.acks[zxid] |= {peer}
        if zxid == (self.epoch, 0):
            if len(self.acks[zxid]) >= self.quorum:
                del self.acks[zxid]
                self.serving = True
            return
        while self.outstanding and len(self.acks[self.outstanding[0].zxid]) >= self.quorum:
            entry, *rest = self.outstanding
            del self.acks[entry.zxid]
            self.outstanding = tuple(rest)
            self.committed += (entry,)
            self.tree += (entry,)
            for follower in sorted(self.forwarding):
                self.stream.send(follower, Commit(entry.zxid))

    @on(Commit, when=lambda self: not self.blocked())
    def commit(self, commit: Commit) -> None:
        if self.outstanding and self.outstanding[0].zxid == commit.zxid:
            self.tree += self.outstanding[:1]
            self.outstanding = self.outstanding[1:]


@always
def one_transaction_per_number(world: WorldView) -> Verdict:
    """No number stands for different transactions at two servers that serve."""
    serving = [peer for peer in world.of(Peer) if peer.serving]
    for one, other in combinations(serving, 2):
        for zxid in sorted({entry.zxid for entry in one.tree}):
            mine, theirs = one.values(zxid), other.values(zxid)
            if theirs and not mine & theirs:
                both = f"{min(mine)} at {one.name}, {min(theirs)} at {other.name}"
                return Verdict.fails(f"{zxid} is {both}")
    return HOLDS


@sometimes
def second_write_committed(world: WorldView) -> bool:
    """The clients get on at all."""
    return any(len(peer.committed) > 1 for peer in world.of(Peer))


def system(
    *,
    bug: Bug = "none",
    nodes: int = 3,
    crashes: int = 3,
    restarts: int = 3,
    writes: int = 2,
    elect: Literal["atomic", "interleaved"] = "atomic",
) -> System:
    """An ensemble whose logs end in epoch 1, and clients of different servers that write once."""
    names = [f"n{number}" for number in range(nodes)]
    quorum = nodes // 2 + 1
    calls = {
        name: [Call("write", f"v{number}", when=lambda peer: peer.serving)]
        for number, name in enumerate(names[:writes])
    }
    return System(
        {name: Peer(quorum=quorum, bug=bug) for name in names} | {ELECTION: Election(quorum=quorum)},
        streams=Streams(),
        faults=Faults(crash=crashes, restart=restarts, nodes=names),
        calls=calls,
        seals=[atomic] if elect == "atomic" else [],
        properties=[one_transaction_per_number, second_write_committed],
        name="ZAB 3.1",
    )
