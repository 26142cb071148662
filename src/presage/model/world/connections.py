"""The streams of a live `World`: a connection per pair of nodes, and what can happen to it.

A connection has two ends. Each end has a queue of messages to the other, is open or not, and may
have an error that its node has yet to hear of. The rules, after MaceMC's simulator:

- both ends open when a message is delivered; a queue is delivered in order;
- while either end has an error to hear of, nothing is delivered in either direction;
- hearing of it empties the queue of that end, and leaves alone the error the other end has;
- a reset closes both ends if both are open: all messages are lost and the other end has an error.
  Otherwise only the own messages are lost: those of the peer reach the next incarnation;
- a silent reset gives the peer no error, and leaves its end open: half open. The next message
  sent there turns into an error, and is no message any more; a message received there opens the
  connection again.

Pairs are (node, peer): that node's end of the connection. A node may send to itself; then there is
one queue, and nothing to break. Written to be read, and apart from the kernel's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from presage._core import Codec, combine, mix
from presage.model.world.network import Flying, queue_part

CONNECTION = 5  # a kind of part of a fingerprint
OPEN, OPEN_PEER, ERROR, ERROR_PEER = 1, 2, 4, 8  # flags of a connection, lower node first
FLAGS = 16  # how many sets of them there are

End: TypeAlias = tuple[int, int]


class Connections:
    """All of them. Two with equal `frozen()` are the same state."""

    def __init__(self) -> None:
        self._queues: dict[End, list[Flying]] = {}  # none of them empty
        self._open: set[End] = set()
        self._errors: set[End] = set()  # broken, and the node does not know yet
        self.lost: list[Flying] = []  # messages since this was last emptied; no part of the state

    # -- what is there -----------------------------------------------------------------------

    def heads(self) -> list[Flying]:
        """The next message of each queue that is not held up by an error."""
        return [
            queue[0]
            for (node, peer), queue in sorted(self._queues.items())
            if not {(node, peer), (peer, node)} & self._errors
        ]

    def errors(self) -> list[End]:
        """Ends with an error that their node has yet to hear of."""
        return sorted(self._errors)

    def half_open(self) -> list[End]:
        """Ends that are open while the other end is not."""
        return sorted((a, b) for a, b in self._open if (b, a) not in self._open)

    def whole(self) -> list[End]:
        """Connections that are open at both ends, the lower node first."""
        return sorted((a, b) for a, b in self._open if a < b and (b, a) in self._open)

    def idle(self) -> list[End]:
        """Those of `whole` with nothing under way."""
        queues = self._queues
        return [(a, b) for a, b in self.whole() if not {(a, b), (b, a)} & queues.keys()]

    def held(self, node: int) -> dict[int, int]:
        """How many messages `node` has queued to each peer."""
        return {to: len(queue) for (source, to), queue in self._queues.items() if source == node}

    def end(self, node: int, peer: int) -> tuple[bool, bool, list[Flying]]:
        """Whether the node's end is open, whether it has an error to hear of, and its queue."""
        at = (node, peer)
        return at in self._open, at in self._errors, list(self._queues.get(at, ()))

    def flying(self) -> list[Flying]:
        return [envelope for queue in self._queues.values() for envelope in queue]

    # -- what happens ------------------------------------------------------------------------

    def send(self, envelope: Flying) -> bool:
        """Queue a message; false if it was sent from a half-open end, and turned into an error."""
        at, back = (envelope.source, envelope.to), (envelope.to, envelope.source)
        if at in self._open and back not in self._open:
            self._open.remove(at)
            self._errors.add(at)
            return False
        self._queues.setdefault(at, []).append(envelope)
        return True

    def deliver(self, envelope: Flying) -> None:
        """Take the head of a queue; from now on both ends are open."""
        at = (envelope.source, envelope.to)
        assert self._queues[at][0] == envelope, "only the head of a queue can be taken"
        del self._queues[at][0]
        if not self._queues[at]:
            del self._queues[at]
        if envelope.source != envelope.to:
            self._open |= {at, (envelope.to, envelope.source)}

    def hear(self, node: int, peer: int) -> None:
        """The node hears that its connection is gone: its end is as if never used."""
        self._errors.discard((node, peer))
        self._open.discard((node, peer))
        self._empty(node, peer)

    def close(self, node: int, peer: int, *, silently: bool = False) -> None:
        """The node gives up its end; unless `silently`, the other end has an error then."""
        at, back = (node, peer), (peer, node)
        if at in self._open and back in self._open:
            self._empty(*back)
            if not silently:
                self._open.discard(back)
                self._errors.add(back)
        self.hear(node, peer)

    def reset(self, node: int, *, silently: bool = False) -> None:
        """The node gives up all its ends, as its process has ended."""
        for peer in sorted({b if a == node else a for a, b in self._used() if node in (a, b)}):
            self.close(node, peer, silently=silently)

    def cut(self, node: int, peer: int) -> None:
        """The connection breaks: both ends lose their messages, and both have an error."""
        for at in ((node, peer), (peer, node)):
            self.hear(*at)
            self._errors.add(at)

    def part(self, node: int, peer: int) -> None:
        """An idle connection is closed at both ends, and nobody is told."""
        self._open -= {(node, peer), (peer, node)}

    def _empty(self, node: int, peer: int) -> None:
        self.lost += self._queues.pop((node, peer), ())

    # -- the state ---------------------------------------------------------------------------

    def frozen(self) -> Any:
        queues = tuple((end, tuple(queue)) for end, queue in sorted(self._queues.items()))
        return (queues, frozenset(self._open), frozenset(self._errors))

    def restore(self, frozen: Any) -> None:
        queues, opened, errors = frozen
        self._queues = {end: list(queue) for end, queue in queues}
        self._open, self._errors = set(opened), set(errors)
        self.lost.clear()

    def parts(self, codec: Codec) -> Iterator[int]:
        """What each connection adds to a fingerprint."""
        for a, b in sorted({(min(end), max(end)) for end in self._used()}):
            flags = OPEN * ((a, b) in self._open) + OPEN_PEER * ((b, a) in self._open)
            flags += ERROR * ((a, b) in self._errors) + ERROR_PEER * ((b, a) in self._errors)
            there, back = self._queues.get((a, b), []), self._queues.get((b, a), [])
            queues = [queue_part(codec, there), queue_part(codec, back if a != b else [])]
            yield mix(CONNECTION, _place(a, b) * FLAGS + flags, combine(queues))

    def _used(self) -> set[End]:
        return {*self._queues, *self._open, *self._errors}


def _place(a: int, b: int) -> int:
    """A number for two nodes, the lower one first."""
    return b * (b + 1) // 2 + a
