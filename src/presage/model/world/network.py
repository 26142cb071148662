"""Messages in flight, in the three standard semantics, for the live `World`.

| network | holds | delivering | dropping | duplicating |
|---|---|---|---|---|
| unordered | a multiset | takes one copy | takes one copy | adds a copy |
| duplicating | a set | takes nothing | takes the message | (never) |
| ordered | a queue per ordered pair | takes the head | takes the head | doubles the head |

Written to be read, and apart from the kernel's, which it is compared with.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from presage._core import Codec, combine, mix

ENVELOPE, CHANNEL = 3, 4  # kinds of parts of a fingerprint


class Flying(NamedTuple):
    """An envelope in canonical form: node indices, and (source, to, message) encoded."""

    source: int
    to: int
    encoded: bytes


class Network(ABC):
    """What is in flight. Two networks with equal `frozen()` are the same state."""

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
    def parts(self, codec: Codec) -> Iterator[int]:
        """What each part adds to a fingerprint."""


def _order(envelope: Flying) -> bytes:
    return envelope.encoded


class Unordered(Network):
    """Any message may come next, each copy once."""

    def __init__(self) -> None:
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

    def parts(self, codec: Codec) -> Iterator[int]:
        for envelope in self.flying():
            yield mix(ENVELOPE, 0, codec.digest(envelope.encoded))


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

    def __init__(self) -> None:
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

    def parts(self, codec: Codec) -> Iterator[int]:
        for (source, to), channel in sorted(self._channels.items()):
            digests = [codec.digest(envelope.encoded) for envelope in channel]
            yield mix(CHANNEL, 0, combine([source, to, *digests]))


NETWORKS: dict[str, type[Network]] = {
    "unordered": Unordered,
    "duplicating": Duplicating,
    "ordered": Ordered,
}
