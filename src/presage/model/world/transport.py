"""All that is between the nodes of a live `World`: datagrams, streams, and a partition in force.

It knows which events the nodes' surroundings offer and what each does to them; what a node makes
of an event is the business of `World`. Written to be read, and apart from the kernel's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from presage._core import CUT, HEAL, IDLE, PARTITION, mix
from presage.model.world.connections import Connections
from presage.model.world.event import (
    Broken,
    Crash,
    Cut,
    Drop,
    Duplicate,
    Envelope,
    Event,
    Heal,
    Idle,
    KeepAlive,
    Lost,
    Mishap,
    Receive,
    Refused,
    Reset,
    SilentReset,
    Split,
)
from presage.model.world.network import NETWORKS, Flying
from presage.model.world.system import System
from presage.records import NamedTuple

SPLIT = 6  # a kind of part of a fingerprint


class Frozen(NamedTuple):
    """A transport at one moment."""

    network: Any
    streams: Any
    partition: int


class Transport:
    """What the nodes of `system` are joined by. Two with equal `frozen()` are the same state."""

    def __init__(self, system: System) -> None:
        self._system = system
        self.network = NETWORKS[system.network](system.codec)
        self.streams = Connections()
        self.partition = 0  # the number of the one in force, from 1; 0: none

    # -- what can happen ---------------------------------------------------------------------

    def datagrams(self) -> list[Flying]:
        """The messages outside streams that may be delivered next."""
        return [each for each in self.network.deliverable() if self._joined(each.source, each.to)]

    def losable(self) -> list[Flying]:
        """The messages outside streams and lanes that may be lost or repeated next."""
        return list(filter(self.network.loses, self.network.deliverable()))

    def events(self, up: Callable[[int], bool], budgets: Sequence[float]) -> Iterator[Event]:
        """What may happen to streams and to the network as a whole."""
        if self._system.streams is not None:
            yield from self._of_streams(up)
        names = self._system.names
        if budgets[CUT] > 0:
            yield from (Cut(names[a], names[b]) for a, b in self.streams.whole())
        if budgets[IDLE] > 0:
            ends = ((a, b) for a, b in self.streams.idle() if self._joined(a, b))
            yield from (Idle(names[a], names[b]) for a, b in ends)
        if budgets[PARTITION] > 0 and not self.partition:
            yield from (Split(str(way)) for way in self._system.faults.partitions)
        if budgets[HEAL] > 0 and self.partition:
            yield Heal()

    def _of_streams(self, up: Callable[[int], bool]) -> Iterator[Event]:
        names = self._system.names
        for head in self.streams.heads():
            source, to, message = self._system.codec.decode(head.encoded)
            if not self._joined(source, to):
                continue
            if up(to):
                yield Receive(names[to], names[source], message)
            elif up(source):
                yield Refused(names[source], names[to])
        for node, peer in self.streams.errors():
            if up(node):
                yield Broken(names[node], names[peer])
        for node, peer in self.streams.half_open():
            if up(node):
                yield KeepAlive(names[node], names[peer])

    def _joined(self, one: int, other: int) -> bool:
        """Whether no partition stands between two nodes."""
        if not self.partition:
            return True
        names = self._system.names
        way = self._system.faults.partitions[self.partition - 1]
        return not way.severs(names[one], names[other])

    # -- what happens ------------------------------------------------------------------------

    def begin(self, event: Event, envelope: Flying | None) -> None:
        """What an event does to streams before the node's handler runs."""
        index = self._system.index
        match event:
            case Receive():
                assert envelope is not None
                self.streams.deliver(envelope)
            case Lost():
                self.streams.hear(index(event.node), index(event.peer))
            case Crash() | Reset():
                self.streams.reset(index(event.node))
            case SilentReset():
                self.streams.reset(index(event.node), silently=True)

    def suffer(self, event: Mishap, envelope: Flying | None) -> None:
        """Let something happen that no node takes part in."""
        index = self._system.index
        match event:
            case Cut():
                self.streams.cut(index(event.node), index(event.peer))
            case Idle():
                self.streams.part(index(event.node), index(event.peer))
            case Split():
                ways = [str(way) for way in self._system.faults.partitions]
                self.partition = 1 + ways.index(event.sides)
            case Heal():
                self.partition = 0
            case Drop() | Duplicate():
                assert envelope is not None
                spoil = self.network.drop if isinstance(event, Drop) else self.network.duplicate
                spoil(envelope)

    def take_lost(self) -> tuple[Envelope, ...]:
        """The messages of streams that were lost since this was last asked."""
        lost, names = self.streams.lost, self._system.names
        decoded = [self._system.codec.decode(each.encoded) for each in lost]
        lost.clear()
        return tuple(Envelope(names[source], names[to], text) for source, to, text in decoded)

    # -- the state ---------------------------------------------------------------------------

    def flying(self) -> list[Flying]:
        """Every message on its way, in canonical order."""
        every = self.network.flying() + self.streams.flying()
        return sorted(every, key=lambda envelope: envelope.encoded)

    def frozen(self) -> Frozen:
        """The contents as an immutable value."""
        return Frozen(self.network.frozen(), self.streams.frozen(), self.partition)

    def restore(self, frozen: Frozen) -> None:
        """Become what was `frozen`."""
        self.network.restore(frozen.network)
        self.streams.restore(frozen.streams)
        self.partition = frozen.partition

    def parts(self) -> Iterator[int]:
        """What each part adds to a fingerprint."""
        yield from self.network.parts()
        yield from self.streams.parts(self._system.codec)
        if self.partition:
            yield mix(SPLIT, 0, self.partition)
