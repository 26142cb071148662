"""Atomic broadcast of ZooKeeper 3.4.5, and a server that refuses to start (ZOOKEEPER-1653).
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
    forall,
    on,
    sometimes,
    state,
    written,
)
from presage.systems.samc.election import ELECTION, Election, Follow, Lead, Looking, Lost, atomic

Bug = Literal["none", "ZK-1653"]
Zxid: TypeAlias = tuple[int, int]  # an epoch, and a place in it


class Entry(NamedTuple):
    """A transaction and its number."""

    zxid: Zxid
    value: str


Tree: TypeAlias = tuple[Entry, ...]  # the data: what was applied, in order


class Info(Struct, frozen=True):
    """FOLLOWERINFO: the sender has accepted that epoch."""

    accepted: int


class LeaderInfo(Struct, frozen=True):
    """Accept this epoch."""

    epoch: int


class AckEpoch(Struct, frozen=True):
    """The sender has it on disk (`fresh`), or had before; its last epoch and transaction."""

    fresh: bool
    current: int
    zxid: Zxid


class Sync(Struct, frozen=True):
    """Keep your data up to `zxid`, then go on with `entries`: DIFF, TRUNC or, from zero, SNAP."""

    zxid: Zxid
    entries: Tree


class NewLeader(Struct, frozen=True):
    """Now you have what the leader has: make it durable, and the epoch."""

    epoch: int


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
    """One server. `disk` holds the log, a snapshot, the files of two epochs and the mark."""

    quorum: int
    bug: Bug
    disk: Disk = disk()
    role: Literal["looking", "following", "leading", "refused"] = "looking"
    serving: bool = False
    leader: str = ""
    epoch: int = 0  # of the leader; 0: not known yet
    joining: bool = False  # a follower makes durable what it was sent
    tree: Tree = ()
    outstanding: Tree = ()  # proposed and not committed
    # Of a leader:
    last: Zxid = (0, 0)  # proposed
    infos: dict[str, Info] = state(dict)
    promised: frozenset[str] = frozenset()  # who has accepted the epoch
    ready: dict[str, Zxid] = state(dict)  # who has answered, and is not synchronised
    forwarding: frozenset[str] = frozenset()  # who is sent proposals
    acks: dict[Zxid, frozenset[str]] = state(dict)

    def start(self) -> None:
        """Compare what the disk holds with the epoch it names."""
        self.tree = self._restored()
        epoch, current = self._end()[0], self.disk.read("current", 0)
        if epoch > current and self.disk.read("updating", False):
            self.disk.write("current", epoch)
            self.disk.write("updating", False)
        elif epoch > current or self.disk.read("accepted", 0) < current:
            self.role = "refused"
            return
        self.stream.send(ELECTION, Looking((self.disk.read("current", 0), *self._end())))

    def recovery(self) -> object:
        """What recovery depends on: the role, who follows, and what is on disk."""
        return (self.role, self.serving, len(self.forwarding), sorted(self.disk.stored.items()))

    def blocked(self) -> bool:
        """Snapshots and epochs are written by the thread that handles messages."""
        return any(key != "log" for key, _ in self.disk.pending)

    def _end(self) -> Zxid:
        return self.tree[-1].zxid if self.tree else (0, 0)

    def _restored(self) -> Tree:
        tree: Tree = self.disk.read("snap", ())
        above = tree[-1].zxid if tree else (0, 0)
        return (*tree, *(entry for entry in self.disk.read("log", ()) if entry.zxid > above))

    # -- elections -----------------------------------------------------------------------------

    @on(Lead)
    def lead(self, lead: Lead) -> None:
        self.role = "leading"

    @on(Follow)
    def follow(self, follow: Follow) -> None:
        self.role, self.leader = "following", follow.leader
        self.stream.send(self.leader, Info(self.disk.read("accepted", 0)))

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
        self.ready.pop(peer, None)
        self.forwarding -= {peer}

    def _answer(self, message: AckEpoch | Ack | Request) -> None:
        if self.leader:
            self.stream.send(self.leader, message)

    def _look(self) -> None:
        for peer in sorted({self.leader, *self.infos} - {""}):
            self.stream.close(peer)
        self.role, self.serving, self.leader, self.epoch = "looking", False, "", 0
        self.joining, self.outstanding, self.last = False, (), (0, 0)
        self.infos, self.ready, self.acks = {}, {}, {}
        self.promised = self.forwarding = frozenset()
        self.start()

    # -- a leader begins -----------------------------------------------------------------------

    @on(Info, when=lambda self: self.role == "leading" and not self.blocked())
    def informed(self, info: Info, source: str) -> None:
        self.infos[source] = info
        if self.epoch:
            self.stream.send(source, LeaderInfo(self.epoch))
        elif len(self.infos) + 1 >= self.quorum:
            accepted = [info.accepted for info in self.infos.values()]
            self.epoch = max(self.disk.read("accepted", 0), *accepted) + 1
            self.last = (self.epoch, 0)
            self.acks = {self.last: frozenset()}
            self.disk.write("accepted", self.epoch)
            for peer in sorted(self.infos):
                self.stream.send(peer, LeaderInfo(self.epoch))

    @on(AckEpoch)
    def accepted(self, ack: AckEpoch, source: str) -> None:
        ahead = (ack.current, ack.zxid) > (self.disk.read("current", 0), self._end())
        if ahead and len(self.promised) < self.quorum:
            self._look()
            return
        self.ready[source] = ack.zxid
        self._promise(frozenset({source}) if ack.fresh else frozenset())

    def _promise(self, peers: frozenset[str]) -> None:
        before, self.promised = len(self.promised), self.promised | peers
        if before < self.quorum <= len(self.promised):
            self.disk.write("current", self.epoch)
        elif before >= self.quorum and self.disk.stored.get("current") == self.epoch:
            self._synchronise()

    def _synchronise(self) -> None:
        """Send who is ready what it misses, from the last transaction that both have."""
        for peer, zxid in sorted(self.ready.items()):
            common = max((e.zxid for e in self.tree if e.zxid <= zxid), default=(0, 0))
            missed = tuple(entry for entry in self.tree if entry.zxid > common)
            self.stream.send(peer, Sync(common, missed))
            self.stream.send(peer, NewLeader(self.epoch))
            for entry in self.outstanding:
                self.stream.send(peer, Proposal(entry))
        self.forwarding |= frozenset(self.ready)
        self.ready = {}

    # -- a follower begins ---------------------------------------------------------------------

    @on(LeaderInfo, when=lambda self: not self.blocked())
    def leader_info(self, info: LeaderInfo) -> None:
        accepted = self.disk.read("accepted", 0)
        if info.epoch < accepted:
            self._look()
            return
        self.epoch = info.epoch
        if info.epoch == accepted:
            self._answer(AckEpoch(False, self.disk.read("current", 0), self._end()))
        else:
            self.disk.write("accepted", info.epoch)

    @on(Sync, when=lambda self: not self.blocked())
    def synchronised(self, sync: Sync) -> None:
        if self._end() > sync.zxid:
            log: Tree = self.disk.read("log", ())
            self.disk.write("log", tuple(entry for entry in log if entry.zxid <= sync.zxid))
        kept = tuple(entry for entry in self.tree if entry.zxid <= sync.zxid)
        self.tree = kept + sync.entries

    @on(NewLeader, when=lambda self: not self.blocked())
    def new_leader(self, new: NewLeader) -> None:
        """Two files are written, one after the other."""
        self.joining = True
        if self.bug == "none":
            self.disk.write("updating", True)
        self.disk.write("snap", self.tree)
        self.disk.write("current", new.epoch)
        if self.bug == "none":
            self.disk.write("updating", False)

    @on(UpToDate, when=lambda self: not self.blocked())
    def up_to_date(self, message: UpToDate) -> None:
        self.serving = True

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
        self.disk.write("log", (*self.disk.read("log", ()), entry))

    @written
    def stored(self, key: str, value: Tree | int) -> None:
        logged = key == "log" and value and value[-1] in self.outstanding
        if self.role == "leading":
            if key == "accepted" and value == self.epoch:
                self._promise(frozenset({self.name}))
            elif key == "current" and value == self.epoch:
                self._synchronise()
                self._count((self.epoch, 0), self.name)
            elif logged:
                self._count(value[-1].zxid, self.name)
        elif self.role == "following":
            if key == "accepted" and value == self.epoch:
                self._answer(AckEpoch(True, self.disk.read("current", 0), self._end()))
            elif self.joining and not self.blocked():
                self.joining = False
                self._answer(Ack((self.epoch, 0)))
            elif logged:
                self._answer(Ack(value[-1].zxid))

    @on(Ack, when=lambda self: not self.blocked())
    def acknowledged(self, ack: Ack, source: str) -> None:
        if self.serving and ack.zxid == (self.epoch, 0):
            self.stream.send(source, UpToDate())
        else:
            self._count(ack.zxid, source)

    def _count(self, zxid: Zxid, peer: str) -> None:
        if zxid not in self.acks:
            return  # it is committed
        self.acks[zxid] |= {peer}
        if zxid == (self.epoch, 0):
            if len(self.acks[zxid]) >= self.quorum:
                for follower in sorted(self.acks.pop(zxid) & self.forwarding):
                    self.stream.send(follower, UpToDate())
                self.serving = True
            return
        while self.outstanding and len(self.acks[self.outstanding[0].zxid]) >= self.quorum:
            entry, *rest = self.outstanding
            del self.acks[entry.zxid]
            self.outstanding = tuple(rest)
            self.tree += (entry,)
            for follower in sorted(self.forwarding):
                self.stream.send(follower, Commit(entry.zxid))

    @on(Commit, when=lambda self: not self.blocked())
    def commit(self, commit: Commit) -> None:
        if self.outstanding and self.outstanding[0].zxid == commit.zxid:
            self.tree += self.outstanding[:1]
            self.outstanding = self.outstanding[1:]


@always
def starts_again(world: WorldView) -> Verdict:
    """No server refuses its own disk."""
    return forall(world.of(Peer), lambda peer: peer.role != "refused")


@always
def same_history(world: WorldView) -> Verdict:
    """Of the data of two servers that serve, one is a beginning of the other."""
    serving = [peer for peer in world.of(Peer) if peer.serving]
    for one, other in combinations(serving, 2):
        length = min(len(one.tree), len(other.tree))
        if one.tree[:length] != other.tree[:length]:
            return Verdict.fails(f"{one.name} and {other.name} have different data")
    return HOLDS


@sometimes
def write_committed(world: WorldView) -> bool:
    """A client gets on at all."""
    return any(peer.serving and peer.tree for peer in world.of(Peer))


def system(
    *,
    bug: Bug = "none",
    nodes: int = 3,
    crashes: int = 1,
    restarts: int = 1,
    writes: int = 1,
    elect: Literal["atomic", "interleaved"] = "atomic",
) -> System:
    """An ensemble that starts for the first time, and clients of its servers that write once."""
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
        properties=[starts_again, same_history, write_committed],
        name="ZAB 3.4",
    )
