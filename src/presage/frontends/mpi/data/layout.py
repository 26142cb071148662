"""Where the elements of a datatype lie in memory, and what they are. Pure.

MPI calls it a type map: basic types with offsets, in order. Here it is the bytes, as runs in that
order, and beside them the basic types, as the shortest pattern that repeats. A message holds the
bytes of the runs one after another, without gaps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod

from presage.records import NamedTuple

Runs = tuple[tuple[int, int], ...]  # stretches of bytes: where one begins, and how long it is


class Basic(NamedTuple):
    """What MPI compares: two types with the same `sign` hold the same."""

    sign: str
    form: str  # of one element, for `struct`; complex numbers and pairs have two
    width: int


@dataclass(frozen=True)
class Layout:
    """The bytes of one item, and the distance to the next."""

    runs: Runs
    pattern: tuple[Basic, ...]  # of the elements, again and again
    many: int  # basic elements
    lower: int
    extent: int
    align: int = 1

    @cached_property
    def size(self) -> int:
        return sum(size for _, size in self.runs)

    @cached_property
    def sign(self) -> str:
        return "+".join(basic.sign for basic in self.pattern)

    @cached_property
    def is_dense(self) -> bool:
        """Whether items follow each other without gaps."""
        if not self.runs:
            return self.extent == 0
        return self.runs == ((0, self.extent),) and self.lower == 0

    @cached_property
    def true_bounds(self) -> tuple[int, int]:
        """First byte, and the one after the last."""
        if not self.runs:
            return 0, 0
        return min(at for at, _ in self.runs), max(at + size for at, size in self.runs)

    def at(self, count: int, start: int = 0) -> Iterable[tuple[int, int]]:
        """The runs of `count` items that begin at byte `start`."""
        if self.is_dense:
            return [(start, count * self.extent)] if count and self.extent else []
        return (
            (start + item * self.extent + at, size)
            for item in range(count)
            for at, size in self.runs
        )

    def elements_in(self, size: int) -> int:
        """How many whole basic elements so many bytes of a message hold."""
        widths = [basic.width for basic in self.pattern]
        if not size or not sum(widths):
            return 0
        rounds, rest = divmod(size, sum(widths))
        whole = rounds * len(widths)
        for width in widths:
            if rest < width:
                break
            rest -= width
            whole += 1
        return whole


def of_basic(basic: Basic, runs: Runs, extent: int, align: int) -> Layout:
    return Layout(runs, (basic,), 1, 0, extent, align)


def joined(runs: Iterable[tuple[int, int]]) -> Runs:
    """The same bytes; one run for those that follow one another."""
    whole: list[tuple[int, int]] = []
    for at, size in runs:
        if whole and sum(whole[-1]) == at:
            at, size = whole[-1][0], whole.pop()[1] + size
        if size:
            whole.append((at, size))
    return tuple(whole)


Block = tuple[int, int]  # how many items, and the byte where they begin


def blocks(old: Layout, given: Sequence[Block]) -> Layout:
    """Blocks of items of one type."""
    used = [(length, at) for length, at in given if length > 0]
    if not used:
        return Layout((), old.pattern, 0, 0, 0, old.align)
    runs = joined(run for length, at in used for run in old.at(length, at))
    reach = [(at, at + (length - 1) * old.extent) for length, at in used]
    lower = min(min(each) for each in reach) + old.lower
    upper = max(max(each) for each in reach) + old.lower + old.extent
    many = old.many * sum(length for length, _ in used)
    return Layout(runs, old.pattern, many, lower, upper - lower, old.align)


def struct(given: Sequence[tuple[int, int, Layout]]) -> Layout:
    """Blocks of several types: how many, where, of what."""
    parts = [(blocks(old, [(length, at)]), length) for length, at, old in given]
    used = [part for part, length in parts if length > 0]
    align = max((part.align for part, _ in parts), default=1)
    if not used:
        return Layout((), (), 0, 0, 0, align)
    lower = min(part.lower for part in used)
    upper = max(part.lower + part.extent for part in used)
    extent = -(-(upper - lower) // align) * align  # as a compiler pads it
    runs = joined(run for part in used for run in part.runs)
    if len({part.pattern for part in used}) == 1:
        pattern = used[0].pattern
    else:
        every = (p.pattern * (p.many // len(p.pattern)) for p in used if p.many)
        pattern = shortest([basic for each in every for basic in each])
    return Layout(runs, pattern, sum(part.many for part in used), lower, extent, align)


def shortest(pattern: Sequence[Basic]) -> tuple[Basic, ...]:
    """The shortest pattern that gives this one if it is repeated."""
    size = len(pattern)
    for period in range(1, size):
        if size % period == 0 and list(pattern[:period]) * (size // period) == list(pattern):
            return tuple(pattern[:period])
    return tuple(pattern)


def resized(old: Layout, lower: int, extent: int) -> Layout:
    return replace(old, lower=lower, extent=extent)


def picked(old: Layout, sizes: Sequence[int], picks: Sequence[Sequence[int]], c: bool) -> Layout:
    """Some elements of an array: those with these coordinates, in the order of the array."""
    order = range(len(sizes)) if c else range(len(sizes) - 1, -1, -1)
    steps, step = [0] * len(sizes), old.extent
    for dim in reversed(order):
        steps[dim] = step
        step *= sizes[dim]
    places = (
        sum(at * steps[dim] for at, dim in zip(each, order, strict=True))
        for each in product(*(picks[dim] for dim in order))
    )
    runs = joined(run for place in places for run in old.at(1, place))
    many = old.many * prod(len(each) for each in picks)
    return Layout(runs, old.pattern, many, 0, old.extent * prod(sizes), old.align)


def of_process(
    size: int, count: int, place: int, distribution: str, argument: int | None
) -> list[int]:
    """Which indices of one dimension of a distributed array a process has.

    `block`: one stretch of `argument` indices each; `cyclic`: stretches in turn; `none`: all.
    """
    if distribution == "none":
        return list(range(size))
    if distribution == "block":
        width = -(-size // count) if argument is None else argument
        return list(range(min(size, place * width), min(size, (place + 1) * width)))
    width = 1 if argument is None else argument
    return [at for at in range(size) if at // width % count == place]


def places_of(rank: int, sizes: Sequence[int]) -> list[int]:
    """The coordinates of a process in a grid that is numbered row by row."""
    found: list[int] = []
    for size in reversed(sizes):
        rank, at = divmod(rank, size)
        found.insert(0, at)
    return found
