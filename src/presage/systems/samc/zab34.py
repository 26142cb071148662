"""Atomic broadcast of ZooKeeper 3.4.5, and a server that refuses to start (ZOOKEEPER-1653).

A server has its current epoch in a file of its own. When it starts, it compares that with the
epoch of its data, and refuses to run if the data are from a later one. A follower that was brought
up to date first writes a snapshot, then the epoch. If the leader has committed something before,
the snapshot has transactions of the new epoch; a crash between the two writes is then for ever.

The mended version creates a file that says so before the first write, and removes it after the
second. A server that finds it, and data from a later epoch, takes over their epoch.

Certain, from ZooKeeper's history: the two writes and their order, the comparison, the mend.
Reconstructed: the events, as the paper tells none of this bug. Left out or put together: the
election is one step (`election`); the last transaction is sent with the accepted epoch; DIFF, TRUNC
and SNAP are one message, with what is missing; what is outstanding is sent after NEWLEADER, and
logged at once; requests are not tried again.
"""

from __future__ import annotations

from itertools import combinations
from typing import Literal

from msgspec import Struct

from presage import HOLDS, Faults, System, Verdict, WorldView, always, forall, on, sometimes
from presage.systems.samc.broadcast import (
    Ack,
    AckEpoch,
    Elect,
    Proposal,
    Server,
    Tree,
    UpToDate,
    Zxid,
    ensemble,
)
from presage.systems.samc.election import Lead

Bug = Literal["none", "ZK-1653"]


class Sync(Struct, frozen=True):
    """Keep your data up to `zxid`, then go on with `entries`: DIFF, TRUNC or, from zero, SNAP."""

    zxid: Zxid
    entries: Tree


class NewLeader(Struct, frozen=True):
    """Now you have what the leader has: make it durable, and the epoch."""

    epoch: int


class Peer(Server):
    """One server. Its disk holds the log, a snapshot, two epochs and the mark `updating`."""

    bug: Bug
    joining: bool = False  # a follower makes durable what it was sent

    def start(self) -> None:
        """Compare the data on disk with the epoch that the disk names."""
        self.tree = self._restored()
        epoch, current = self._end()[0], self.current()
        if epoch > current and self.disk.read("updating", False):
            self.disk.write("current", epoch)
            self.disk.write("updating", False)
        elif epoch > current or self.accepted() < current:
            self.role = "refused"
            return
        super().start()

    def current(self) -> int:
        found: int = self.disk.read("current", 0)
        return found

    def history(self) -> tuple[int, int, int]:
        return (self.current(), *self._end())

    def look(self) -> None:
        self.joining = False
        super().look()

    def _end(self) -> Zxid:
        return self.tree[-1].zxid if self.tree else (0, 0)

    def _restored(self) -> Tree:
        tree: Tree = self.disk.read("snap", ())
        upto = tree[-1].zxid if tree else (0, 0)
        return (*tree, *(entry for entry in self.entries() if entry.zxid > upto))

    # -- a leader ------------------------------------------------------------------------------

    @on(Lead)
    def lead(self, lead: Lead) -> None:
        self.role = "leading"

    @on(AckEpoch)
    def acknowledged_epoch(self, ack: AckEpoch, source: str) -> None:
        """A leader gives up if a follower has more."""
        if len(self.promised) < self.quorum and self.infos[source].history > self.history():
            self.look()
        else:
            super().acknowledged_epoch(ack, source)

    def _established(self) -> None:
        if self.current() != self.epoch:
            self.disk.write("current", self.epoch)
        elif not self.blocked():
            self._synchronise_ready()

    def _synchronise(self, peer: str) -> None:
        """Go on from the last transaction that both have."""
        _, *zxid = self.infos[peer].history
        common = max((e.zxid for e in self.tree if e.zxid <= tuple(zxid)), default=(0, 0))
        self.stream.send(peer, Sync(common, tuple(e for e in self.tree if e.zxid > common)))
        self.stream.send(peer, NewLeader(self.epoch))
        for entry in self.outstanding:
            self.stream.send(peer, Proposal(entry))
        self.forwarding |= {peer}

    def _admit(self, peers: frozenset[str]) -> None:
        for peer in sorted(peers & self.forwarding):
            self.stream.send(peer, UpToDate())

    # -- a follower ----------------------------------------------------------------------------

    @on(Sync, when=lambda self: not self.blocked())
    def synchronised(self, sync: Sync) -> None:
        if self._end() > sync.zxid:
            self.disk.write("log", tuple(e for e in self.entries() if e.zxid <= sync.zxid))
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

    def _kept(self, key: str) -> None:
        if self.blocked():
            return
        if self.role == "leading" and self.current() == self.epoch:
            self._synchronise_ready()
            self._joined(self.name)
        elif self.joining:
            self.joining = False
            self.answer(Ack((self.epoch, 0)))


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
    elect: Elect = "atomic",
) -> System:
    """An ensemble that starts for the first time, and clients of its servers that write.

    bug: `ZK-1653` writes the snapshot and the epoch without a mark.
    nodes: how many servers.
    crashes: how many times one may crash.
    restarts: how many times one may come back.
    writes: how many clients there are; each writes once.
    elect: whether an election is one step, or its mail arrives among the other.
    """
    names = [f"n{number}" for number in range(nodes)]
    return ensemble(
        {name: Peer(quorum=nodes // 2 + 1, bug=bug) for name in names},
        [starts_again, same_history, write_committed],
        faults=Faults(crash=crashes, restart=restarts, nodes=names),
        writes=writes,
        elect=elect,
        name="ZAB 3.4",
    )
