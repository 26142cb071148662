"""Grids: how ranks are numbered in them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from presage.frontends.mpi.core.status import PROC_NULL
from presage.records import NamedTuple


class Grid(NamedTuple):
    """The grid of a Cartesian communicator; ranks go row by row."""

    dims: tuple[int, ...]
    periods: tuple[bool, ...]

    @property
    def size(self) -> int:
        return prod(self.dims)

    def coords(self, rank: int) -> list[int]:
        found: list[int] = []
        for size in reversed(self.dims):
            rank, at = divmod(rank, size)
            found.insert(0, at)
        return found

    def rank(self, coords: Sequence[int]) -> int:
        """PROC_NULL beyond the edge of the grid."""
        number = 0
        for at, size, wraps in zip(coords, self.dims, self.periods, strict=True):
            if not wraps and not 0 <= at < size:
                return PROC_NULL
            number = number * size + at % size
        return number


def compute_dims(nodes: int, dims: int | Sequence[int]) -> list[int]:
    """`MPI.Compute_dims`: factors of `nodes`, as near to each other as they come."""
    given = [0] * dims if isinstance(dims, int) else list(dims)
    rest = nodes
    for size in given:
        rest //= size or 1
    free = [at for at, size in enumerate(given) if size == 0]
    factors = []
    for left in range(len(free), 0, -1):
        fitting = [size for size in range(1, rest + 1) if rest % size == 0]
        factors.append(min(size for size in fitting if size**left >= rest))
        rest //= factors[-1]
    for at, size in zip(free, sorted(factors, reverse=True), strict=True):
        given[at] = size
    return given


def grid_of(dims: Sequence[int], periods: Any) -> Grid:
    """The grid that a script asks for; `periods` may be one for all dimensions."""
    sizes = tuple(int(size) for size in dims)
    if periods is None or isinstance(periods, bool | int):
        return Grid(sizes, (bool(periods),) * len(sizes))
    return Grid(sizes, tuple(bool(each) for each in periods))
