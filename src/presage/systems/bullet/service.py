"""The protocol: a source pushes blocks to some nodes, which get the others from each other.

A node asks others to be its senders. A sender keeps for each receiver a shadow map: the blocks that
it has not announced to it. A receiver keeps for each sender a view: the blocks that were announced.
Streams refuse what does not fit into their queue, and a node that was refused has to try again.

Each name in `missing` takes one rule away; see `bugs.py` for what then goes wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from presage import Service, broken, on, state, timer
from presage.systems.bullet.messages import (
    Block,
    BlockRequest,
    Diff,
    PeerAccept,
    PeerReject,
    PeerRequest,
)


def members(blocks: int) -> Iterator[int]:
    """The blocks of a set, ascending."""
    while blocks:
        lowest = blocks & -blocks
        yield lowest.bit_length() - 1
        blocks ^= lowest


class Bullet(Service):
    """A node of the mesh; the source is the one with `children`."""

    candidates: tuple[str, ...]  # whom it may ask to be a sender
    children: tuple[str, ...] = ()  # whom the source pushes blocks to
    blocks: int  # how many the file has
    size: int = 0  # bytes of a block
    keep: bool = True  # whether it holds contents; else it makes them anew, as if read from a disk
    limit: int = 10  # how many senders, and how many receivers, it may have
    window: int = 1  # how many blocks it may have asked one sender for
    missing: frozenset[str] = frozenset()

    have: int = 0
    pushed: int = 0  # of the source: how many blocks it has sent by itself
    receivers: dict[str, int] = state(dict)  # -> the shadow map: what was not announced to it
    unpaid: dict[str, int] = state(dict)  # receiver -> blocks that it asked for
    asking: set[str] = state(set)  # who has not answered yet
    senders: dict[str, int] = state(dict)  # -> the view: what was announced
    requested: dict[str, int] = state(dict)  # sender -> blocks that it was asked for
    contents: dict[int, bytes] = state(dict, checkpoint=False)

    def start(self) -> None:
        if self.children:
            self.have = self._all()
            if self.keep:
                self.contents = {block: self._content(block) for block in members(self.have)}
            self.arm("push")
        else:
            self.arm("peering")

    def neighbours(self) -> list[str]:
        """Senders, receivers, and the tree: whom a prediction has to know."""
        return [*sorted(self.senders), *sorted(self.receivers), *self.children]

    def _all(self) -> int:
        return (1 << self.blocks) - 1

    def _has(self, rule: str) -> bool:
        return rule not in self.missing

    # -- the source --------------------------------------------------------------------------

    @timer(after=0.13)  # a block of 16 kB at 1 Mbit/s
    def push(self) -> None:
        """Each block once, to one child after the other."""
        block = self.pushed
        if self.stream.send(self.children[block % len(self.children)], self._block(block)):
            self.pushed += 1
        if self.pushed < self.blocks:
            self.arm("push")

    def _block(self, block: int) -> Block:
        content = self.contents.get(block, b"") if self.keep else self._content(block)
        return Block(block, content)

    def _content(self, block: int) -> bytes:
        """What the file has there."""
        return bytes([block % 256]) * self.size

    # -- peering -----------------------------------------------------------------------------

    @timer(after=5)  # an epoch of RanSub
    def peering(self) -> None:
        """Ask one more node; when all were asked, begin again with those that have not answered."""
        if self.have == self._all():
            return
        self.arm("peering")
        others = sorted(set(self.candidates) - set(self.senders) - self.asking)
        if not others:
            self.asking = set()
        elif len(self.senders) + len(self.asking) < self.limit:
            other = self.choose(others)
            if self.stream.send(other, PeerRequest(other in self.receivers)):
                self.asking.add(other)

    @on(PeerRequest)
    def asked(self, request: PeerRequest, source: str) -> None:
        if not request.mutual and source in self.senders and self._has("stale_view"):
            self._drop(source)  # it was reset, and this is the first that is heard of it
            self._request()
        if source not in self.receivers and len(self.receivers) >= self.limit:
            self.stream.send(source, PeerReject())
            return
        accepted = self.stream.send(source, PeerAccept(self.have))
        if self._has("register_early"):
            if accepted or not self._has("accept_queued"):
                self.receivers[source] = 0

    @on(PeerAccept)
    def accepted(self, accept: PeerAccept, source: str) -> None:
        self.asking.discard(source)
        self.senders[source] = accept.blocks
        self._request()

    @on(PeerReject)
    def rejected(self, reject: PeerReject, source: str) -> None:
        self.asking.discard(source)

    # -- telling -----------------------------------------------------------------------------

    @timer(after=0.5)
    def diff(self) -> None:
        """Tell receivers what is new, and send them what they asked for."""
        for receiver in sorted(self.receivers):
            new = self.receivers[receiver]
            if not new:
                continue
            sent = self.stream.send(receiver, Diff(new))
            if sent or not self._has("shadow_kept"):
                self.receivers[receiver] = 0
            if not sent and self._has("retry"):
                self.arm("diff")
        for receiver in sorted(self.unpaid):
            self._pay(receiver)

    @on(Diff)
    def announced(self, diff: Diff, source: str) -> None:
        if source in self.senders:
            self.senders[source] |= diff.blocks
            self._request()

    # -- blocks ------------------------------------------------------------------------------

    def _request(self) -> None:
        """Ask senders for blocks that nobody was asked for yet, as many as the window allows."""
        for sender in sorted(self.senders):
            under_way = 0
            for blocks in self.requested.values():
                under_way |= blocks
            own = self.requested.get(sender, 0)
            for block in members(self.senders[sender] & ~self.have & ~under_way):
                if own.bit_count() >= self.window:
                    break
                if not self.stream.send(sender, BlockRequest(block)):
                    self.arm("ask_again")
                    break
                own |= 1 << block
            if own:
                self.requested[sender] = own

    @timer(after=1)
    def ask_again(self) -> None:
        self._request()

    @on(BlockRequest)
    def requested_from(self, request: BlockRequest, source: str) -> None:
        if not self._has("register_early"):
            self.receivers.setdefault(source, 0)
        if source in self.receivers and self.have >> request.block & 1:
            self.unpaid[source] = self.unpaid.get(source, 0) | 1 << request.block
            self._pay(source)

    def _pay(self, receiver: str) -> None:
        """Send what was asked for, as far as there is room."""
        for block in members(self.unpaid.get(receiver, 0)):
            if not self.stream.send(receiver, self._block(block)):
                self.arm("diff")
                return
            self.unpaid[receiver] ^= 1 << block
        self.unpaid.pop(receiver, None)

    @on(Block)
    def arrived(self, block: Block, source: str) -> None:
        bit = 1 << block.block
        for sender, blocks in sorted(self.requested.items()):
            if blocks & bit:
                self.requested[sender] = blocks ^ bit
                if not self.requested[sender]:
                    del self.requested[sender]
        if not self.have & bit:
            self.have |= bit
            if self.keep:
                self.contents[block.block] = block.content
            for receiver in self.receivers:
                self.receivers[receiver] |= bit
            if self.receivers:
                self.arm("diff")
        self._request()

    # -- failures ----------------------------------------------------------------------------

    @broken
    def lost(self, peer: str) -> None:
        self.receivers.pop(peer, None)
        self.unpaid.pop(peer, None)
        self.asking.discard(peer)
        self._drop(peer)
        self._request()

    def _drop(self, sender: str) -> None:
        if self._has("view_dropped"):
            self.senders.pop(sender, None)
        if self._has("request_dropped"):
            self.requested.pop(sender, None)
