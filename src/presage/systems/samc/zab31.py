"""Atomic broadcast of ZooKeeper 3.1.0, and how two leaders came to use one epoch (ZOOKEEPER-335).

In 3.1.0 a leader takes the epoch after that of its log's last transaction. That it leads leaves no
trace on any disk. If it crashes with a transaction that nobody else has logged, the others elect a
leader that takes the same epoch, and gives the same number to another transaction. The first comes
back, says where its log ends, and the leader finds that number among those it has committed. It
sends what comes after it: two transactions have one number, and nobody notices ever.

The mended version has the handshake of 3.4, where epochs are accepted on disk before they are used.

Certain, from the paper and from ZooKeeper's history: the events, the cause, the mend, what a leader
sends a follower, that only the log counts in an election and in `Info`. Left out or put together:
the election is one step (`election`); NEWLEADER and the packet after it are one message; requests
are not tried again. A snapshot is labelled with what it holds, or the leader's epoch if that is
later. The claim is about numbers, because the data of 3.1.0 came apart in other ways as well: a
follower that is sent a copy misses what is outstanding if its own log has it.
"""

from __future__ import annotations

from itertools import combinations
from typing import Literal

from msgspec import Struct

from presage import HOLDS, Faults, System, Verdict, WorldView, always, on, sometimes
from presage.systems.samc.broadcast import (
    Ack,
    Commit,
    Elect,
    Entry,
    Proposal,
    Server,
    Tree,
    UpToDate,
    Zxid,
    ensemble,
)
from presage.systems.samc.election import Lead

Bug = Literal["none", "ZK-335"]
START: Tree = (Entry((1, 1), "start"),)  # what every log begins with


class Sync(Struct, frozen=True):
    """NEWLEADER and how to begin: from the own log, from that cut short, or from a copy."""

    epoch: int
    how: Literal["diff", "trunc", "snap"]
    tree: Tree = ()  # of a copy
    zxid: Zxid = (0, 0)  # of a cut: the last to stay


class Peer(Server):
    """One server. Its disk holds the log, a snapshot and, mended, the accepted epoch."""

    bug: Bug
    committed: Tree = ()  # by this leader, since it leads

    def history(self) -> Zxid:
        """The end of the log. Snapshots do not count."""
        return max(entry.zxid for entry in self.entries())

    def values(self, zxid: Zxid) -> set[str]:
        """What it has applied under a number: one transaction, or none."""
        return {entry.value for entry in self.tree if entry.zxid == zxid}

    def look(self) -> None:
        self.committed = ()
        super().look()

    def _restored(self) -> Tree:
        upto, tree = self.disk.read("snap", ((0, 0), ()))
        return (*tree, *(entry for entry in self.entries() if entry.zxid > upto))

    def _snapshot(self) -> None:
        """What the log has up to there is no longer read."""
        self.disk.write("snap", (max((self.epoch, 0), self.tree[-1].zxid), self.tree))

    # -- a leader ------------------------------------------------------------------------------

    @on(Lead)
    def lead(self, lead: Lead) -> None:
        self.role, self.tree = "leading", self._restored()
        self._snapshot()
        if self.bug == "ZK-335":
            self._begin(self.history()[0] + 1)  # nobody keeps that it was used

    def _begin(self, epoch: int) -> None:
        super()._begin(epoch)
        self.joined = frozenset({self.name})

    def _welcome(self, peer: str) -> None:
        if self.bug == "ZK-335":
            self._synchronise(peer)
        else:
            super()._welcome(peer)

    def _synchronise(self, peer: str) -> None:
        """Send what the follower misses, judging by the number where its log ends."""
        zxid, done = self.infos[peer].history, self.committed
        missed: Tree = ()
        if done and done[0].zxid <= zxid <= done[-1].zxid:
            sync = Sync(self.epoch, "diff")
            missed = tuple(entry for entry in done if entry.zxid > zxid)
        elif done and zxid > done[-1].zxid:
            sync = Sync(self.epoch, "trunc", zxid=done[-1].zxid)
        elif zxid == self.last:
            sync = Sync(self.epoch, "diff")
        else:
            sync = Sync(self.epoch, "snap", self.tree)
        self.stream.send(peer, sync)
        for entry in missed:
            self.stream.send(peer, Proposal(entry))
            self.stream.send(peer, Commit(entry.zxid))
        for entry in self.outstanding:
            if entry.zxid > zxid:
                self.stream.send(peer, Proposal(entry))
        self.stream.send(peer, UpToDate())
        self.forwarding |= {peer}

    def _apply(self, entry: Entry) -> None:
        super()._apply(entry)
        if self.role == "leading":
            self.committed += (entry,)

    # -- a follower ----------------------------------------------------------------------------

    @on(Sync, when=lambda self: not self.blocked())
    def synchronised(self, sync: Sync) -> None:
        self.epoch = sync.epoch
        if sync.how == "trunc":
            self.disk.write("log", tuple(e for e in self.entries() if e.zxid <= sync.zxid))
        self.tree = sync.tree if sync.how == "snap" else self._restored()
        self.answer(Ack((self.epoch, 0)))

    @on(UpToDate, when=lambda self: not self.blocked())
    def up_to_date(self, message: UpToDate) -> None:
        self._snapshot()

    def _kept(self, key: str) -> None:
        """A follower serves when its snapshot is written."""
        if self.role == "following" and self.leader:
            self.serving = True


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
def write_committed(world: WorldView) -> bool:
    """A client gets on at all."""
    return any(peer.committed for peer in world.of(Peer))


def system(
    *,
    bug: Bug = "none",
    nodes: int = 3,
    crashes: int = 3,
    restarts: int = 3,
    writes: int = 2,
    elect: Elect = "atomic",
) -> System:
    """An ensemble whose logs end in epoch 1, and clients of different servers that write.

    bug: `ZK-335` takes the epoch from the log.
    nodes: how many servers.
    crashes: how many times one may crash.
    restarts: how many times one may come back.
    writes: how many clients there are; each writes once.
    elect: whether an election is one step, or its mail arrives among the other.
    """
    names = [f"n{number}" for number in range(nodes)]
    return ensemble(
        {name: Peer(quorum=nodes // 2 + 1, base=START, bug=bug) for name in names},
        [one_transaction_per_number, write_committed],
        faults=Faults(crash=crashes, restart=restarts, nodes=names),
        writes=writes,
        elect=elect,
        name="ZAB 3.1",
    )
