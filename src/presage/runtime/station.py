"""The nodes of a `VirtualCluster` and the sockets between them, as far as each is one thing.

What happens on sockets, and when, is the cluster's: a station hands everything on to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Protocol

from presage.records import record
from presage.runtime.frame import Frame, Messages
from presage.runtime.host import Host
from presage.runtime.log import Entry
from presage.runtime.step import Reply
from presage.runtime.store import MemoryStore


class Network(Protocol):
    """What carries frames between stations."""

    def connect(self, opener: str, peer: str) -> None:
        """Open a socket, if there is none."""

    def transmit(self, source: str, to: str, frames: Sequence[Frame | Messages]) -> None:
        """Write frames to the socket of two nodes."""

    def throw(self, source: str, to: str, frame: Frame) -> None:
        """Send a datagram."""

    def hang_up(self, name: str) -> None:
        """The process of a node is gone."""


@record
class Socket:
    """A connection between two hosts."""

    ends: tuple[str, str]  # who opened it, who accepted it
    serial: int
    attached: set[str] = field(default_factory=set)
    vanished: str | None = None  # the end whose machine has stopped, without a word
    stalled: list[tuple[str, str, Sequence[Frame | Messages]]] = field(default_factory=list)

    def other(self, name: str) -> str:
        """The peer of one end."""
        one, other = self.ends
        return other if name == one else one


class Station:
    """One node of a `VirtualCluster`, up or down; the `Carrier` of its host."""

    def __init__(self, cluster: Network, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self.store = MemoryStore()
        self.host: Host | None = None
        self.replies: list[tuple[Any, Reply]] = []
        self.failure: str | None = None
        self.wakes_at: float | None = None  # the earliest turn that is planned
        self.log: list[Entry] = []  # of all lives, if the cluster keeps logs

    @property
    def up(self) -> bool:
        return self.host is not None and self.host.node.up

    def open(self, peer: str) -> None:
        self.cluster.connect(self.name, peer)

    def write(self, peer: str, frames: Sequence[Frame | Messages]) -> None:
        self.cluster.transmit(self.name, peer, frames)

    def datagram(self, peer: str, frame: Frame) -> None:
        self.cluster.throw(self.name, peer, frame)

    def garbled(self, peer: str, reason: str) -> None:
        raise AssertionError(f"a host wrote what it cannot read: {reason}")

    def replied(self, request: Any, reply: Reply) -> None:
        self.replies.append((request, reply))

    def failed(self, failure: str) -> None:
        self.failure = failure
        self.cluster.hang_up(self.name)
