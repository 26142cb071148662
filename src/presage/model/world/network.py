"""Messages in flight, in the three standard semantics and in lanes, for the live `World`.

| network | holds | delivering | dropping | duplicating |
|---|---|---|---|---|
| unordered | a multiset | takes one copy | takes one copy | adds a copy |
| duplicating | a set | takes nothing | takes the message | (never) |
| ordered | a queue per ordered pair | takes the head | takes the head | doubles the head |
| lanes | a multiset, a queue per lane | takes a copy or a head | as unordered | as unordered |

On `lanes` a message may be part of a stream (`lane.py`): it keeps its place there, and is never
lost. One that is not is a datagram.

Written to be read, and apart from the kernel's, which it is compared with.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from presage._core import Codec, mix, queue_share
from presage.model.world.lane import encoded_lane
from presage.records import NamedTuple

ENVELOPE = 3  # a kind of part of a fingerprint
QUEUED = ("ordered", "lanes")  # networks that are frozen as channels: (ends, envelopes) each


class Flying(NamedTuple):
    """An envelope in canonical form: node indices, and (source, to, message) encoded."""

    source: int
    to: int
    encoded: bytes


class Network(ABC):
    """What is in flight. Two networks with equal `frozen()` are the same state."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec

    def loses(self, envelope: Flying) -> bool:
        """Whether `envelope` may be lost or repeated; else it is part of a stream."""
        return True

    @abstractmethod
    def send(self, envelope: Flying) -> None:
        """Put one more envelope into flight."""

    @abstractmethod
    def deliver(self, envelope: Flying) -> None:
        """Take out what a delivery of `envelope` takes out."""

    @abstractmethod
    def drop(self, envelope: Flying) -> None:
        """Take out what is lost when `envelope` is lost."""

    @abstractmethod
    def duplicate(self, envelope: Flying) -> None:
        """Add a second copy of `envelope`."""

    @abstractmethod
    def deliverable(self) -> list[Flying]:
        """The distinct envelopes that may come next, in canonical order."""

    @abstractmethod
    def flying(self) -> list[Flying]:
        """Every envelope, each as often as it is there, in canonical order."""

    @abstractmethod
    def frozen(self) -> Any:
        """The contents as an immutable value."""

    @abstractmethod
    def restore(self, frozen: Any) -> None:
        """Become what was `frozen`."""

    @abstractmethod
    def parts(self) -> Iterator[int]:
        """What each part adds to a fingerprint."""


def message_part(codec: Codec, envelope: Flying) -> int:
    """What a message adds to a fingerprint where nothing keeps it in order."""
    return mix(ENVELOPE, 0, codec.digest(envelope.encoded))


def queue_part(codec: Codec, queue: Sequence[Flying]) -> int:
    """What a queue adds to a fingerprint."""
    return queue_share([message_part(codec, envelope) for envelope in queue])


def _order(envelope: Flying) -> bytes:
    return envelope.encoded


class Unordered(Network):
    """Any message may come next, each copy once."""

    def __init__(self, codec: Codec) -> None:
        super().__init__(codec)
        self._copies: Counter[Flying] = Counter()

    def send(self, envelope: Flying) -> None:
        self._copies[envelope] += 1

    def deliver(self, envelope: Flying) -> None:
        self._copies[envelope] -= 1
        self._copies = +self._copies  # forget those of which no copy is left

    def drop(self, envelope: Flying) -> None:
        self.deliver(envelope)

    def duplicate(self, envelope: Flying) -> None:
        self.send(envelope)

    def deliverable(self) -> list[Flying]:
        return sorted(self._copies, key=_order)

    def flying(self) -> list[Flying]:
        return sorted(self._copies.elements(), key=_order)

    def frozen(self) -> Any:
        return tuple(self.flying())

    def restore(self, frozen: Any) -> None:
        self._copies = Counter(frozen)

    def parts(self) -> Iterator[int]:
        for envelope in self.flying():
            yield message_part(self._codec, envelope)


class Duplicating(Unordered):
    """Any message may come next, again and again, until it is dropped."""

    def send(self, envelope: Flying) -> None:
        self._copies[envelope] = 1

    def deliver(self, envelope: Flying) -> None:
        """The message stays."""

    def drop(self, envelope: Flying) -> None:
        del self._copies[envelope]

    def duplicate(self, envelope: Flying) -> None:
        raise AssertionError("a duplicating network needs no duplicates")


class Ordered(Network):
    """Between each two nodes, in each direction, messages arrive in the order they were sent."""

    def __init__(self, codec: Codec) -> None:
        super().__init__(codec)
        self._channels: dict[tuple[int, int], list[Flying]] = {}  # none of them empty

    def send(self, envelope: Flying) -> None:
        self._channels.setdefault((envelope.source, envelope.to), []).append(envelope)

    def deliver(self, envelope: Flying) -> None:
        channel = self._channels[envelope.source, envelope.to]
        assert channel[0] == envelope, "only the head of a channel can be taken"
        del channel[0]
        if not channel:
            del self._channels[envelope.source, envelope.to]

    def drop(self, envelope: Flying) -> None:
        self.deliver(envelope)

    def duplicate(self, envelope: Flying) -> None:
        channel = self._channels[envelope.source, envelope.to]
        assert channel[0] == envelope, "only the head of a channel can be doubled"
        channel.insert(0, envelope)

    def deliverable(self) -> list[Flying]:
        return sorted((channel[0] for channel in self._channels.values()), key=_order)

    def flying(self) -> list[Flying]:
        every = (envelope for channel in self._channels.values() for envelope in channel)
        return sorted(every, key=_order)

    def frozen(self) -> Any:
        return tuple((ends, tuple(channel)) for ends, channel in sorted(self._channels.items()))

    def restore(self, frozen: Any) -> None:
        self._channels = {ends: list(channel) for ends, channel in frozen}

    def parts(self) -> Iterator[int]:
        for channel in self._channels.values():
            yield queue_part(self._codec, channel)


class Lanes(Network):
    """Datagrams, and streams beside them: each lane between two nodes keeps its order."""

    def __init__(self, codec: Codec) -> None:
        super().__init__(codec)
        self._datagrams = Unordered(codec)
        self._lanes: dict[tuple[int, int, bytes], list[Flying]] = {}  # none of them empty

    def _ends(self, envelope: Flying) -> tuple[int, int, bytes]:
        """Who sends to whom, in which lane; no lane is encoded as nothing."""
        message = self._codec.decode(envelope.encoded)[2]
        return envelope.source, envelope.to, encoded_lane(self._codec, message)

    def loses(self, envelope: Flying) -> bool:
        return not self._ends(envelope)[2]

    def send(self, envelope: Flying) -> None:
        if self.loses(envelope):
            self._datagrams.send(envelope)
        else:
            self._lanes.setdefault(self._ends(envelope), []).append(envelope)

    def deliver(self, envelope: Flying) -> None:
        if self.loses(envelope):
            self._datagrams.deliver(envelope)
            return
        ends = self._ends(envelope)
        assert self._lanes[ends][0] == envelope, "only the head of a lane can be taken"
        del self._lanes[ends][0]
        if not self._lanes[ends]:
            del self._lanes[ends]

    def drop(self, envelope: Flying) -> None:
        self.deliver(envelope)

    def duplicate(self, envelope: Flying) -> None:
        assert self.loses(envelope), "nothing in a lane is repeated"
        self._datagrams.send(envelope)

    def deliverable(self) -> list[Flying]:
        heads = [lane[0] for lane in self._lanes.values()]
        return sorted([*self._datagrams.deliverable(), *heads], key=_order)

    def flying(self) -> list[Flying]:
        queued = [envelope for lane in self._lanes.values() for envelope in lane]
        return sorted([*self._datagrams.flying(), *queued], key=_order)

    def frozen(self) -> Any:
        alone = [((each.source, each.to, b""), (each,)) for each in self._datagrams.flying()]
        return tuple(sorted([*alone, *((ends, tuple(lane)) for ends, lane in self._lanes.items())]))

    def restore(self, frozen: Any) -> None:
        self._datagrams.restore([each for ends, (each, *_) in frozen if not ends[2]])
        self._lanes = {ends: list(lane) for ends, lane in frozen if ends[2]}

    def parts(self) -> Iterator[int]:
        yield from self._datagrams.parts()
        for lane in self._lanes.values():
            yield queue_part(self._codec, lane)


NETWORKS: dict[str, type[Network]] = {
    "unordered": Unordered,
    "duplicating": Duplicating,
    "ordered": Ordered,
    "lanes": Lanes,
}
