"""Streams as a service sees them: `self.stream`, and the two messages that streams themselves send.

A stream is one connection between two nodes: in each direction messages arrive in the order they
were sent, or both ends learn that it broke. What a handler can see of its streams is one thing
only: whether `send` found room. So that is a question to the world, answered in one of two ways.
A live world says how many messages each queue holds. A search does not know the world when it runs
a handler: it runs it with both answers, and each branch says where it applies (`Limit`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any

from presage.errors import BadSystem
from presage.model.choice import Chooser
from presage.model.keywords import named_arguments
from presage.model.service.local_state import Flow, Limit
from presage.records import record


@named_arguments
@record(frozen=True)
class Streams:
    """How the streams of a system are: `queue_size` messages fit into a queue; None: any number."""

    queue_size: int | None = None

    def __post_init__(self) -> None:
        size = self.queue_size
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
            raise BadSystem(
                f"`Streams(queue_size={size!r})` is not a number of messages",
                "a flag, a fraction, or a queue that nothing fits into",
                "`Streams(queue_size=2)`, or `Streams()` for queues without limit",
            )


@record(frozen=True)
class Connect:
    """What `self.stream.connect` sends. A service may handle it: `@on(Connect)`; it need not."""


@record(frozen=True)
class Lost:
    """Delivered to a node whose connection to the sender is gone; runs its `@broken` method."""


CONNECT, LOST = Connect(), Lost()
NOBODY: Set[int] = frozenset()
NOTHING: Mapping[int, Limit | None] = MappingProxyType({})
_new = tuple.__new__  # several times as fast as the constructor of a named tuple


class Stream:
    """`self.stream` in one run of one handler."""

    __slots__ = ("_chooser", "_empty", "_full", "_keep", "_peer", "_sent", "_size")

    def __init__(
        self,
        size: int | None,
        chooser: Chooser,
        peer: Callable[[str, str], int],
        keep: Callable[[Any, str], Any],
    ) -> None:
        self._size = size
        self._chooser = chooser
        self._peer = peer  # a node's name, and what it is needed for, to its index
        self._keep = keep
        self._sent: list[Flow] = []
        self._full: Set[int] = NOBODY  # peers whose queue was found full, by trying
        self._empty: Mapping[int, Limit | None] = NOTHING  # closed: the limit known before

    def send(self, to: str, message: Any) -> bool:
        """Queue `message` for the node named `to`; False, and nothing sent, if there is no room."""
        peer = self._peer(to, "stream.send")
        kept = self._keep(message, "message")
        if not self._has_room(peer):
            return False
        self._sent.append(_new(Flow, (peer, False, kept)))
        return True

    def connect(self, to: str) -> bool:
        """Open a connection to the node named `to` without a message; False if there is no room."""
        return self.send(to, CONNECT)

    def close(self, to: str) -> None:
        """Give up the connection to the node named `to`, which learns that it broke."""
        peer = self._peer(to, "stream.close")
        if peer not in self._empty:
            self._empty = {**self._empty, peer: self._limit(peer)}
        self._sent.append(Flow(peer, True))

    def end(self) -> tuple[Sequence[Flow], Sequence[Limit]]:
        """What the run did to streams, in order, and what that rests on."""
        if self._chooser.held is not None or self._size is None:
            return self._sent, ()  # nothing was tried
        peers = sorted({flow.peer for flow in self._sent} | self._full)
        known = (self._empty[at] if at in self._empty else self._limit(at) for at in peers)
        return self._sent, [limit for limit in known if limit is not None]

    def _queued(self, peer: int) -> int:
        """How many messages this run has put into the queue, since it was closed if it was."""
        count = 0
        for flow in self._sent:
            if flow.peer == peer:
                count = 0 if flow.closes else count + 1
        return count

    def _has_room(self, peer: int) -> bool:
        if self._size is None:
            return True
        queued = self._queued(peer)
        if peer in self._empty:
            return queued < self._size
        if self._chooser.held is not None:
            return self._chooser.held.get(peer, 0) + queued < self._size
        if peer in self._full or queued == self._size:
            return False
        if self._chooser.ask() == 1:
            self._full |= {peer}
            return False
        return True

    def _limit(self, peer: int) -> Limit | None:
        """What the branches tried so far say of the queue to `peer`."""
        if self._size is None or self._chooser.held is not None:
            return None
        most = self._size - self._queued(peer)
        least = most if peer in self._full else 0
        return None if (least, most) == (0, self._size) else Limit(peer, least, most)
