"""A live node with its links and datagrams: all of a process but its sockets.

The driver says what its sockets saw, then ends each turn of its loop with `turn`. A host decides
what the node is given, in which order: errors of streams first, then the heads of streams, then
what the node does by itself. It hands frames to a `Carrier` once they may leave.

Invariant: the links, the datagrams and the local state change in the same instant, so a checkpoint
taken between two calls of a host is one of all three.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, Protocol

from presage.errors import StoreError
from presage.records import record
from presage.runtime.datagrams import WAITING_MAX, Datagrams
from presage.runtime.frame import Frame, Kind, Messages
from presage.runtime.link import Link
from presage.runtime.node import LiveNode
from presage.runtime.step import Refused, Reply


class Carrier(Protocol):
    """What a host needs of sockets. Everything given to it may leave at once."""

    def open(self, peer: str) -> None:
        """Open a socket to `peer`, unless one is being opened; tell by `attached` or `refused`."""

    def write(self, peer: str, frames: Sequence[Frame | Messages]) -> None:
        """Write frames to the socket that is attached."""

    def datagram(self, peer: str, frame: Frame) -> None:
        """Send one datagram."""

    def garbled(self, peer: str, reason: str) -> None:
        """The head of the stream of `peer` cannot be read: reset the socket after this turn."""

    def replied(self, request: Any, reply: Reply) -> None:
        """What came of a call."""

    def failed(self, failure: str) -> None:
        """The node has failed: reset all its sockets."""


class Numbers(Protocol):
    """What a host needs of checkpoints."""

    @property
    def number(self) -> int:
        """Of the last checkpoint, for every frame that leaves."""

    def seen(self, number: int) -> None:
        """A frame with this number has come; nothing else of it was looked at yet."""


class Unnumbered:
    """A host that takes no checkpoints."""

    number = 0

    def seen(self, number: int) -> None:
        """Nothing depends on it."""


class Companion(Protocol):
    """What else takes part in a host: it takes checkpoints and gathers those of peers."""

    def frame(self, peer: str, frame: Frame) -> None:
        """A frame came that is about checkpoints."""

    def heard(self, peer: str) -> None:
        """Any frame came."""

    def lost(self, peer: str) -> None:
        """The socket to a peer is gone."""

    def release(self) -> None:
        """All that happened before is safe: what follows from it may leave."""

    def next(self) -> float | None:
        """When it wants a turn at the latest."""


@record
class Marks:
    """What links knew while the last step was taken; the log of the node notes it."""

    received: tuple[int, int, int] | None = None  # life, position, process of the peer
    begun: list[tuple[str, int]] = field(default_factory=list)  # peers, and lives from then on
    asked: list[tuple[str, int, int]] = field(default_factory=list)  # peer, life, handled of it

    def clear(self) -> None:
        """The step was noted."""
        self.received = None
        if self.begun:
            self.begun.clear()
        if self.asked:
            self.asked.clear()


class Host:
    """The node `name` and all it knows of its peers; the `Surroundings` of its node.

    `make` builds the node around it. `decode` turns the body of a message into a value; it may
    refuse a body by raising `ValueError`, which the driver gets for a datagram.
    """

    def __init__(
        self,
        make: Callable[[Host], LiveNode],
        carrier: Carrier,
        decode: Callable[[bytes], Any] | None = None,
        numbers: Numbers | None = None,
    ) -> None:
        self.links: dict[str, Link] = {}
        self.datagrams = Datagrams()
        self.carrier = carrier
        self.numbers: Numbers = numbers or Unnumbered()
        self.companion: Companion | None = None
        self.marks = Marks()
        self.marking = False  # whether somebody reads the marks
        self.node = make(self)
        self.name = self.node.name
        self._decode = decode or self.node.automaton.codec.decode
        self._tokens: deque[int] = deque()  # beside `datagrams.waiting`
        self._token = 0
        self._outgoing: list[tuple[str, Frame]] = []  # datagrams that may not leave yet
        self._touched: dict[str, Link] = {}  # links that may have something to write
        self._blocked: dict[str, int] = {}  # peer -> the node's steps when a guard was false
        self._pump: dict[str, Link] = {}  # links that may have something for the node

    # -- what sockets see --------------------------------------------------------------------

    def boot(self) -> None:
        """Start the node; its first effects may leave after `turn`."""
        self.node.boot()

    def attached(self, peer: str) -> None:
        """There is a new socket to `peer`, in place of any earlier one."""
        link = self._link(peer)
        link.attach()
        self._touch(link)

    def lost(self, peer: str) -> None:
        """The socket to `peer` is gone."""
        link = self._link(peer)
        link.lost()
        self._touch(link)
        if self.companion is not None:
            self.companion.lost(peer)

    def refused(self, peer: str) -> None:
        """`peer` cannot be reached, or has not answered for long."""
        link = self._link(peer)
        link.refused()
        self._touch(link)
        if self.companion is not None:
            self.companion.lost(peer)

    def frame(self, peer: str, frame: Frame) -> None:
        """A frame of a stream came, of the kinds life, alive, or about checkpoints."""
        self.numbers.seen(frame.number)
        link = self._link(peer)
        if self.companion is not None:
            self.companion.heard(peer)
            if frame.kind in (Kind.GATHER, Kind.CHECKPOINT, Kind.PATH):
                self.companion.frame(peer, frame)
                return
        if frame.kind is Kind.LIFE:
            link.greet(frame)
        elif frame.kind is Kind.ALIVE:
            link.acknowledge(frame)
        self._touch(link)

    def messages(self, peer: str, messages: Messages) -> None:
        """Messages of a stream came, in a row."""
        if messages.number > self.numbers.number:
            self.numbers.seen(messages.number)
        link = self.links.get(peer) or self._link(peer)
        if self.companion is not None:
            self.companion.heard(peer)
        link.receive(messages)
        self._touched[peer] = self._pump[peer] = link

    def datagram(self, source: str, frame: Frame) -> None:
        """A datagram with a message came."""
        self.numbers.seen(frame.number)
        if self.companion is not None:
            self.companion.heard(source)
        message = self._decode(frame.body)
        now = self.node.clock.now()
        if not self.datagrams.receive(source, frame.life, frame.handled, frame.body, now):
            return
        if len(self._tokens) == WAITING_MAX:
            self._tokens.popleft()
        self._token += 1
        self._tokens.append(self._token)
        result = self.node.deliver(source, message, self._token, frame.body)
        if isinstance(result, Refused):
            self.delivered(source, self._token)  # refused: the network has lost it

    # -- a turn ------------------------------------------------------------------------------

    def turn(self) -> float | None:
        """Give the node what is there, let effects leave; when to be called again at the latest.

        In seconds of the node's clock; None: not before something happens.
        """
        node, clock = self.node, self.node.clock
        for _ in range(len(clock)):  # one armed meanwhile, without delay, is for the next turn
            timer = clock.pop() if node.up else None
            if timer is None:
                break
            if isinstance(node.fire(timer), Refused):
                clock.again(timer)
        self._feed()
        steps = node.turn()
        if steps:
            self._feed()
        try:
            node.flush()
        except StoreError:
            return None
        if not node.up:
            return None
        if steps or self._pump:
            return clock.now()
        first, rested = clock.next(), node.rested_at()
        if rested is not None and (first is None or rested < first):
            first = rested
        wish = self.companion.next() if self.companion is not None else None
        return wish if wish is not None and (first is None or wish < first) else first

    def _feed(self) -> None:
        """Errors and heads of streams, as far as guards let them in."""
        steps = self.node.counts.steps
        for peer, blocked in list(self._blocked.items()) if self._blocked else ():
            if blocked != steps:
                del self._blocked[peer]
                self._pump[peer] = self.links[peer]
        links, self._pump = self._pump, {}
        for link in links.values():
            self._offer(link)

    def _offer(self, link: Link) -> None:
        """Give the node what a link has now; what comes of that is for the next turn."""
        node, peer = self.node, link.peer
        if link.error and node.up:
            link.hear()
            self._touched[peer] = link
            if self.marking:
                self.marks.begun.append((peer, link.life))
            node.broken(peer)
        inbox = link.inbox
        self._touched[peer] = link
        for _ in range(len(inbox)):
            if not node.up or not inbox or link.error:
                break
            body = inbox[0]
            try:
                message = self._decode(body)
            except ValueError as error:
                self.carrier.garbled(peer, str(error))
                return
            result = node.receive(peer, message, body)
            if result is None or isinstance(result, Refused):
                self._blocked[peer] = node.counts.steps
                return
        if link.error or inbox:
            self._pump[peer] = link

    def reconsider(self) -> None:
        """Offer heads of streams again that wait: more may be known by now."""
        for peer in self._blocked:
            self._pump[peer] = self.links[peer]
        self._blocked.clear()

    def waits(self, peer: str) -> bool:
        """Whether the head of the stream of `peer` was offered, and its guard was false."""
        return peer in self._blocked

    def _touch(self, link: Link) -> None:
        self._touched[link.peer] = self._pump[link.peer] = link

    def _link(self, peer: str) -> Link:
        link = self.links.get(peer)
        if link is None:
            link = self.links[peer] = Link(self.name, peer, self.node.life)
        return link

    # -- the surroundings of the node --------------------------------------------------------

    def held(self, peer: str) -> int:
        link = self._link(peer)
        if self.marking:
            self.marks.asked.append((peer, link.life, link.sent - link.held()))
        return link.held()

    def received(self, source: str) -> None:
        link = self.links[source]
        link.take()
        self.marks.received = (link.life, link.handled, link.met)

    def delivered(self, source: str, sequence: int) -> None:
        at = self._tokens.index(sequence)
        del self._tokens[at]
        self.datagrams.take(at)

    def send(self, to: str, body: bytes) -> None:
        number = self.datagrams.send(to, body, self.node.clock.now())
        frame = Frame(Kind.MESSAGE, self.numbers.number, self.node.life, number, body)
        self._outgoing.append((to, frame))

    def stream(self, to: str, body: bytes) -> None:
        link = self.links.get(to) or self._link(to)
        link.send(body)
        self._touched[to] = link
        if link.error or link.inbox:  # it was half open, or leads to the node itself
            self._pump[to] = link

    def close(self, to: str) -> None:
        link = self._link(to)
        link.close()
        self._touch(link)
        if self.marking:
            self.marks.begun.append((to, link.life))

    def release(self) -> None:
        carrier, number = self.carrier, self.numbers.number
        if self._outgoing:
            for to, frame in self._outgoing:
                carrier.datagram(to, frame)
            self._outgoing.clear()
        for peer, link in self._touched.items():
            if link.attached:
                frames = link.drain(number)
                if frames:
                    carrier.write(peer, frames)
            elif link.wanted:
                carrier.open(peer)
        self._touched.clear()
        if self.companion is not None:
            self.companion.release()

    def replied(self, request: Any, reply: Reply) -> None:
        self.carrier.replied(request, reply)

    def failed(self, failure: str) -> None:
        self.carrier.failed(failure)
