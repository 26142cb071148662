"""A server of ZooKeeper: what its versions share of the atomic broadcast (ZAB).

A leader numbers transactions, its followers log them, and what a quorum has logged is committed. A
number (zxid) is an epoch and a place in it, so it is unique if no two leaders use one epoch. To
make sure of that, a leader asks a quorum which epochs they have accepted, takes the next, and goes
on when a quorum has it on disk. That is the handshake of 3.4; 3.1.0 had none.

Connections are streams, as ZooKeeper's are TCP. A log is written by a thread of its own; other
files by the thread that handles messages, so a server that writes them takes no message. Each write
reaches the disk in a step of its own. Nobody times out who could still be answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from presage import (
    Call,
    Disk,
    Faults,
    Property,
    Service,
    Streams,
    System,
    broken,
    disk,
    on,
    state,
    written,
)
from presage.systems.samc.election import ELECTION, Election, Follow, Looking, Lost, atomic

Elect = Literal["atomic", "interleaved"]
Zxid: TypeAlias = tuple[int, int]  # an epoch, and a place in it


class Entry(NamedTuple):
    """A transaction and its number."""

    zxid: Zxid
    value: str


Tree: TypeAlias = tuple[Entry, ...]  # the data: what was applied, in order


class Info(Struct, frozen=True):
    """A follower's history ends there; it has accepted that epoch."""

    history: tuple[int, ...]
    accepted: int


class NewEpoch(Struct, frozen=True):
    """Accept this epoch."""

    epoch: int


class AckEpoch(Struct, frozen=True):
    """The sender has it on disk; `fresh` unless it had accepted it before."""

    fresh: bool


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


class Server(Service):
    """One server, but for how it starts and how a follower is brought up to date."""

    quorum: int
    base: Tree = ()  # what every log begins with
    disk: Disk = disk()
    role: Literal["looking", "following", "leading", "refused"] = "looking"
    serving: bool = False
    leader: str = ""  # whom it follows, while it is connected
    epoch: int = 0  # of the leader; 0: not known yet
    tree: Tree = ()
    outstanding: Tree = ()  # proposed and not committed
    # Of a leader:
    last: Zxid = (0, 0)  # proposed
    infos: dict[str, Info] = state(dict)
    promised: frozenset[str] = frozenset()  # who has accepted the epoch
    ready: frozenset[str] = frozenset()  # who has answered, and is not synchronised
    joined: frozenset[str] = frozenset()  # who follows, until they are a quorum
    forwarding: frozenset[str] = frozenset()  # who is sent proposals
    acks: dict[Zxid, frozenset[str]] = state(dict)

    def recovery(self) -> object:
        """What recovery depends on: the role, who follows, and what is on disk."""
        return (self.role, len(self.forwarding), sorted(self.disk.stored.items()))

    def entries(self) -> Tree:
        found: Tree = self.disk.read("log", self.base)
        return found

    def accepted(self) -> int:
        first = self.base[-1].zxid[0] if self.base else 0
        found: int = self.disk.read("accepted", first)
        return found

    def blocked(self) -> bool:
        """A file other than the log is being written."""
        return any(key != "log" for key, _ in self.disk.pending)

    # -- what the versions add -----------------------------------------------------------------

    def history(self) -> tuple[int, ...]:
        """What is compared in elections."""
        raise NotImplementedError

    def _synchronise(self, peer: str) -> None:
        """Send a follower what it misses."""
        raise NotImplementedError

    def _established(self) -> None:
        """A quorum has accepted the epoch."""
        self._synchronise_ready()

    def _admit(self, peers: frozenset[str]) -> None:
        """A quorum follows, and these peers do."""

    def _kept(self, key: str) -> None:
        """A file other than the log and the accepted epoch was written."""

    # -- elections -----------------------------------------------------------------------------

    def start(self) -> None:
        self.stream.send(ELECTION, Looking(self.history()))

    @on(Follow)
    def follow(self, follow: Follow) -> None:
        self.role, self.leader = "following", follow.leader
        self.stream.send(self.leader, Info(self.history(), self.accepted()))

    @on(Lost)
    def lost(self, lost: Lost) -> None:
        if self.role != "looking":
            self.look()

    @broken
    def gone(self, peer: str) -> None:
        """Send nothing there any more. The election says when to look for another leader."""
        if peer == self.leader:
            self.leader, self.serving = "", False
        self.infos.pop(peer, None)
        self.ready -= {peer}
        self.forwarding -= {peer}

    def look(self) -> None:
        """Forget all but the disk, and look for a leader."""
        for peer in sorted({self.leader, *self.infos} - {""}):
            self.stream.close(peer)
        self.role, self.serving, self.leader, self.epoch = "looking", False, "", 0
        self.tree, self.outstanding, self.last = (), (), (0, 0)
        self.infos, self.acks = {}, {}
        self.promised = self.ready = self.joined = self.forwarding = frozenset()
        self.start()

    def answer(self, message: AckEpoch | Ack | Request) -> None:
        """Tell the leader, if it is still there."""
        if self.leader:
            self.stream.send(self.leader, message)

    # -- an epoch that nobody has used ---------------------------------------------------------

    @on(Info, when=lambda self: self.role == "leading" and not self.blocked())
    def informed(self, info: Info, source: str) -> None:
        self.infos[source] = info
        self._welcome(source)

    def _welcome(self, peer: str) -> None:
        if self.epoch:
            self.stream.send(peer, NewEpoch(self.epoch))
        elif len(self.infos) + 1 >= self.quorum:
            accepted = [info.accepted for info in self.infos.values()]
            self._begin(max(self.accepted(), *accepted) + 1)
            self.disk.write("accepted", self.epoch)
            for follower in sorted(self.infos):
                self.stream.send(follower, NewEpoch(self.epoch))

    def _begin(self, epoch: int) -> None:
        self.epoch, self.last = epoch, (epoch, 0)

    @on(NewEpoch, when=lambda self: not self.blocked())
    def new_epoch(self, new: NewEpoch) -> None:
        if new.epoch < self.accepted():
            self.look()
            return
        self.epoch = new.epoch
        if new.epoch == self.accepted():
            self.answer(AckEpoch(False))
        else:
            self.disk.write("accepted", new.epoch)

    @on(AckEpoch)
    def acknowledged_epoch(self, ack: AckEpoch, source: str) -> None:
        self.ready |= {source}
        self._promise(frozenset({source}) if ack.fresh else frozenset())

    def _promise(self, peers: frozenset[str]) -> None:
        self.promised |= peers
        if len(self.promised) >= self.quorum:
            self._established()

    def _synchronise_ready(self) -> None:
        for peer in sorted(self.ready):
            self._synchronise(peer)
        self.ready = frozenset()

    def _joined(self, peer: str) -> None:
        """A peer has all that the leader had, and follows."""
        peers = frozenset({peer}) if self.serving else self.joined | {peer}
        if not self.serving and len(peers) < self.quorum:
            self.joined = peers
        else:
            self.serving, self.joined = True, frozenset()
            self._admit(peers)

    # -- broadcast -----------------------------------------------------------------------------

    def write(self, value: str) -> None:
        """A client of this server writes."""
        if self.role == "leading":
            self._propose(value)
        else:
            self.answer(Request(value))

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
        self.disk.write("log", (*self.entries(), entry))

    @written
    def stored(self, key: str, value: Any) -> None:
        if key == "log":
            if value and value[-1] in self.outstanding:
                self._logged(value[-1].zxid)
        elif key != "accepted":
            self._kept(key)
        elif value == self.epoch and self.role == "leading":
            self._promise(frozenset({self.name}))
        elif value == self.epoch and self.role == "following":
            self.answer(AckEpoch(True))

    def _logged(self, zxid: Zxid) -> None:
        if self.role == "leading":
            self._count(zxid, self.name)
        else:
            self.answer(Ack(zxid))

    @on(Ack, when=lambda self: not self.blocked())
    def acknowledged(self, ack: Ack, source: str) -> None:
        if ack.zxid == (self.epoch, 0):
            self._joined(source)
        else:
            self._count(ack.zxid, source)

    def _count(self, zxid: Zxid, peer: str) -> None:
        if zxid not in self.acks:
            return  # it is committed
        self.acks[zxid] |= {peer}
        while self.outstanding and len(self.acks[self.outstanding[0].zxid]) >= self.quorum:
            entry, *rest = self.outstanding
            del self.acks[entry.zxid]
            self.outstanding = tuple(rest)
            self._apply(entry)
            for follower in sorted(self.forwarding):
                self.stream.send(follower, Commit(entry.zxid))

    def _apply(self, entry: Entry) -> None:
        self.tree += (entry,)

    @on(Commit, when=lambda self: not self.blocked())
    def commit(self, commit: Commit) -> None:
        if self.outstanding and self.outstanding[0].zxid == commit.zxid:
            self._apply(self.outstanding[0])
            self.outstanding = self.outstanding[1:]


def ensemble(
    servers: Mapping[str, Server],
    properties: list[Property],
    *,
    faults: Faults,
    writes: int,
    elect: Elect,
    name: str,
) -> System:
    """The servers, who elects their leader, and a client each of the first `writes` of them."""
    quorum = len(servers) // 2 + 1
    calls = {
        server: [Call("write", f"v{number}", when=lambda server: server.serving)]
        for number, server in enumerate(list(servers)[:writes])
    }
    return System(
        {**servers, ELECTION: Election(quorum=quorum)},
        streams=Streams(),
        faults=faults,
        calls=calls,
        seals=[atomic] if elect == "atomic" else [],
        properties=properties,
        name=name,
    )
