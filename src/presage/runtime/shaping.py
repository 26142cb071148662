"""An emulated network: delay, jitter, loss and rate, for each directed pair of nodes.

Where the kernel has no `netem`, and for nodes on a virtual clock, what a network does to frames is
computed: when each arrives, or that it never does. Draws come from one seeded generator per
directed pair, so the traffic of one pair does not change what happens to another.

Invariant: frames of a stream arrive in the order they were sent; none of them is lost, a loss is
the time until it is sent again.
"""

from __future__ import annotations

from presage.errors import BadSystem
from presage.records import record
from presage.runtime.chance import Chance

RESENT_AFTER = 0.2  # seconds until a stream sends again what was lost, beside the round trip


@record(frozen=True)
class Shape:
    """What the network between two nodes is like, in one direction."""

    delay: float = 0.0  # seconds, one way
    jitter: float = 0.0  # seconds, at most that much more
    loss: float = 0.0  # a share of all packets
    rate: float | None = None  # bytes a second; None: any number

    def __post_init__(self) -> None:
        fine = self.delay >= 0 and self.jitter >= 0 and 0 <= self.loss < 1
        if not fine or (self.rate is not None and self.rate <= 0):
            raise BadSystem(
                f"`{self}` is not a network",
                "a negative time, a loss that is not from 0 to 1, or a rate of 0",
                "give seconds, a share such as 0.003, and bytes a second",
            )


class _Pair:
    """One direction between two nodes."""

    __slots__ = ("arrived", "busy", "chance")

    def __init__(self, seed: int, source: str, to: str) -> None:
        self.chance = Chance(seed, f"{source} -> {to}", 0)
        self.busy = 0.0  # until when what was sent before is being sent
        self.arrived = 0.0  # when the last frame of the stream arrives


class Shaper:
    """When frames arrive. Times are those of the caller's clock."""

    def __init__(self, shape: Shape | None = None, seed: int = 0) -> None:
        self.shape = shape or Shape()
        self._seed = seed
        self._own: dict[tuple[str, str], Shape] = {}
        self._pairs: dict[tuple[str, str], _Pair] = {}

    def between(self, source: str, to: str, shape: Shape) -> None:
        """Let one direction be another than the rest."""
        self._own[source, to] = shape

    def datagram(self, source: str, to: str, size: int, now: float) -> float | None:
        """When a datagram arrives; None if it is lost."""
        pair, shape = self._pair(source, to)
        leaves = _sent(pair, shape, size, now)
        if shape.loss and pair.chance.number() < shape.loss:
            return None
        return leaves + _delay(pair, shape)

    def stream(self, source: str, to: str, size: int, now: float) -> float:
        """When a frame of a stream arrives: not before any that was sent before it."""
        pair, shape = self._pair(source, to)
        arrives = _sent(pair, shape, size, now) + _delay(pair, shape)
        while shape.loss and pair.chance.number() < shape.loss:
            arrives += RESENT_AFTER + 2 * shape.delay
        pair.arrived = max(pair.arrived, arrives)
        return pair.arrived

    def delay(self, source: str, to: str) -> float:
        """How long something without size takes, such as a refusal."""
        return _delay(*self._pair(source, to))

    def _pair(self, source: str, to: str) -> tuple[_Pair, Shape]:
        key = (source, to)
        pair = self._pairs.get(key)
        if pair is None:
            pair = self._pairs[key] = _Pair(self._seed, source, to)
        return pair, self._own.get(key, self.shape)


def _sent(pair: _Pair, shape: Shape, size: int, now: float) -> float:
    """When the last byte has left."""
    if shape.rate is None:
        return now
    pair.busy = max(pair.busy, now) + size / shape.rate
    return pair.busy


def _delay(pair: _Pair, shape: Shape) -> float:
    return shape.delay + (pair.chance.number() * shape.jitter if shape.jitter else 0.0)
