"""Whether a breadth-first search will end, guessed from how its levels grow.

The levels of a finite space grow, ever more slowly, and then shrink: the logarithm of their sizes
is about a parabola. What is left is read off its falling side; where the growth does not slow down,
no end is in sight. This is a guess, and is worded as one.
"""

from __future__ import annotations

from math import exp, inf, log

from msgspec import Struct

LEVELS_MIN = 6  # fewer say nothing
LEVELS_USED = 6  # the last ones
STEPS_MAX = 10_000  # levels that are looked ahead
STATES_MAX = 1e15


class Levels(Struct):
    """How many states there were when each level began."""

    _begun: dict[int, int] = {}

    def note(self, depth: int, unique: int) -> None:
        """The search is at `depth`, and has met so many states."""
        self._begun.setdefault(depth, unique)

    def left(self) -> float | None:
        """About how many states are left; infinity: no end is in sight; None: too early to say."""
        sizes = self._sizes()
        if len(sizes) < LEVELS_MIN:
            return None
        growth = [log(after / before) for before, after in zip(sizes, sizes[1:], strict=False)]
        growth = growth[-LEVELS_USED:]
        slope = _slope(growth)
        return _ahead(sizes[-1], sum(growth[-2:]) / 2, slope)

    def _sizes(self) -> list[float]:
        """The sizes of levels; those that went by unseen are shared out evenly."""
        known = sorted(self._begun.items())
        sizes: list[float] = []
        for (depth, before), (deeper, after) in zip(known, known[1:], strict=False):
            each = max(1.0, (after - before) / (deeper - depth))
            sizes.append(each)
        return sizes


def _slope(values: list[float]) -> float:
    """How much values change from one to the next, by least squares."""
    middle = (len(values) - 1) / 2
    mean = sum(values) / len(values)
    above = sum((at - middle) * (value - mean) for at, value in enumerate(values))
    return above / sum((at - middle) ** 2 for at in range(len(values)))


def _ahead(size: float, growth: float, slope: float) -> float:
    """The states of all levels after one of `size`, if growth goes on changing by `slope`."""
    total = 0.0
    for _ in range(STEPS_MAX):
        growth += min(slope, 0.0)
        size *= exp(growth)
        if size < 1:
            return total
        total += size
        if total > STATES_MAX:
            break
    return inf
