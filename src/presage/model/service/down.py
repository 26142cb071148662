"""Down notices: what a failure detector tells the nodes that are left.

With `Faults(notices=True)` a crash puts `Down(node)` in flight to every other node whose service
has a handler for it. From there on it is a message like any other: it may come late, behind a
restart of the node, and a receiver that is down loses it. But the network neither drops nor
repeats it, and no handler can send it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct

from presage.model.service.shape import Shape


class Down(Struct, frozen=True):
    """The message that `node` has crashed. A service that wants it handles it: `@on(Down)`."""

    node: str


class Peer(Protocol):
    """What is needed of a node to tell it something."""

    @property
    def index(self) -> int: ...
    @property
    def shape(self) -> Shape: ...


def hears(peer: Peer) -> bool:
    """Whether a node's service has a handler for notices."""
    return peer.shape.handler(Down) is not None


def notices(name: str, index: int, peers: Iterable[Peer]) -> list[tuple[int, Down]]:
    """What the crash of a node sends: (index of the receiver, notice), in node order."""
    return [(peer.index, Down(name)) for peer in peers if peer.index != index and hears(peer)]
