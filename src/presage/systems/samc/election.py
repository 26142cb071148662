"""Who leads an ensemble of ZooKeeper: one node that knows who is up, and elects at one stroke.

ZooKeeper's own election is a protocol of many messages. Where only the broadcast after it is to be
checked, this node stands for it. A peer without a leader tells it so, with its place in history. As
soon as a quorum does, the election may happen: the peer with the longest history leads, the others
follow. Who comes later follows as well. It is also the failure detector: if a leader is down, or
has too few that follow, all of them look again. It suspects nobody who is up.

`atomic` is the seal that makes it one stroke: while mail of the election can be delivered, nothing
else happens. What it cannot deliver, because a peer is down, holds up nobody.
"""

from __future__ import annotations

from msgspec import Struct

from presage import Envelope, Seal, Service, WorldView, action, broken, on, state

ELECTION = "election"  # the name of the node


class Looking(Struct, frozen=True):
    """The sender has no leader; its history goes so far."""

    history: tuple[int, ...]


class Lead(Struct, frozen=True):
    """You are elected."""


class Follow(Struct, frozen=True):
    """That peer is."""

    leader: str


class Lost(Struct, frozen=True):
    """Your leader is gone or, if you lead, your quorum is."""


class Election(Service):
    """Knows who looks for a leader, who leads, and who shall follow."""

    quorum: int
    looking: dict[str, tuple[int, ...]] = state(dict)
    leader: str = ""
    members: frozenset[str] = frozenset()

    @on(Looking)
    def looks(self, looking: Looking, source: str) -> None:
        self._leaves(source)
        self.looking[source] = looking.history

    @broken
    def down(self, peer: str) -> None:
        self.looking.pop(peer, None)
        self._leaves(peer)

    @action(when=lambda self: not self.leader and len(self.looking) >= self.quorum)
    def elect(self) -> None:
        self.leader = max(self.looking, key=lambda peer: (self.looking[peer], peer))
        self.members = frozenset(self.looking) - {self.leader}
        self.looking = {}
        self.stream.send(self.leader, Lead())
        for peer in sorted(self.members):
            self.stream.send(peer, Follow(self.leader))

    @action(
        when=lambda self, peer: bool(self.leader) and peer in self.looking,
        over=lambda self: sorted(self.looking),
    )
    def admit(self, peer: str) -> None:
        """The others tell who looks late whom they follow."""
        del self.looking[peer]
        self.members |= {peer}
        self.stream.send(peer, Follow(self.leader))

    def _leaves(self, peer: str) -> None:
        """A peer is down or looks again: does that end the term of the leader?"""
        left = ({self.leader} | self.members) - {peer, ""}
        if peer != self.leader and (peer not in self.members or len(left) >= self.quorum):
            self.members -= {peer}
            return
        self.leader, self.members = "", frozenset()
        for other in sorted(left):
            self.stream.send(other, Lost())


def electing(world: WorldView) -> bool:
    """Mail of the election can be delivered."""
    return any(_arrives(world, mail) for mail in world.messages(Looking, Lead, Follow, Lost))


def _arrives(world: WorldView, mail: Envelope) -> bool:
    ends = ((mail.source, mail.to), (mail.to, mail.source))
    return world[mail.to].up and not any(world.connection(*end).broken for end in ends)


atomic = Seal(when=electing, only=(Looking, Lead, Follow, Lost), first=True)
