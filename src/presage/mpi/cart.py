"""`MPI.Cartcomm`: ranks as points of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from presage.mpi.comm import Comm, Intracomm
from presage.mpi.mistakes import invalid
from presage.mpi.rank import Core, calling
from presage.mpi.status import PROC_NULL, UNDEFINED


class Grid(NamedTuple):
    """The grid of a Cartesian communicator; ranks go row by row."""

    dims: tuple[int, ...]
    periods: tuple[bool, ...]

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


def create_cart(comm: Intracomm, dims: Sequence[int], periods: Any) -> Any:
    """The first ranks become a grid; the others get a null communicator."""
    sizes = tuple(int(size) for size in dims)
    if periods is None or isinstance(periods, bool | int):
        wraps = (bool(periods),) * len(sizes)
    else:
        wraps = tuple(bool(each) for each in periods)
    grid = Grid(sizes, wraps)
    total = 1
    for size in sizes:
        total *= size
    core = comm._core("Create_cart()")
    if total > core.size:
        call = calling("Create_cart", dims=list(sizes))
        raise invalid(f"{call}: a grid of {total} ranks, but there are {core.size}")
    core, name, _ = comm._agreed("Create_cart", [list(sizes), list(wraps)])
    if core.rank >= total:
        return Cartcomm()
    made = Core(f"{name}:grid", core.ranks[:total], core.rank, grid=grid)
    return Cartcomm._new(made, "communicator of Create_cart")


class Topocomm(Intracomm):
    """A communicator whose ranks are arranged."""


class Cartcomm(Topocomm):
    """A communicator whose ranks are points of a grid."""

    @property
    def _grid(self) -> Grid:
        grid: Grid = self._core("a call on a grid").grid
        return grid

    def Get_dim(self) -> int:
        return len(self._grid.dims)

    def Get_topo(self) -> tuple[list[int], list[bool], list[int]]:
        grid = self._grid
        return list(grid.dims), list(grid.periods), grid.coords(self.Get_rank())

    def Get_coords(self, rank: int) -> list[int]:
        return self._grid.coords(rank)

    def Get_cart_rank(self, coords: Sequence[int]) -> int:
        rank = self._grid.rank(coords)
        if rank == PROC_NULL:
            raise invalid(f"{calling('Get_cart_rank')}: {list(coords)} is outside of the grid")
        return rank

    def Shift(self, direction: int, disp: int) -> tuple[int, int]:
        """(source, destination) of a shift along one dimension."""
        here, grid = self.Get_coords(self.Get_rank()), self._grid
        back, forth = list(here), list(here)
        back[direction] -= disp
        forth[direction] += disp
        return grid.rank(back), grid.rank(forth)

    def Sub(self, remain_dims: Sequence[bool]) -> Any:
        """The communicator of the ranks that agree in the dimensions left out."""
        grid, here = self._grid, self.Get_coords(self.Get_rank())
        kept = [at for at, stays in enumerate(remain_dims) if stays]
        outside = [at for at, stays in enumerate(remain_dims) if not stays]
        color = Grid(tuple(grid.dims[at] for at in outside), (True,) * len(outside)).rank(
            [here[at] for at in outside]
        )
        made: Comm = self.Split(color, self.Get_rank())
        core = made._core()
        core.grid = Grid(
            tuple(grid.dims[at] for at in kept), tuple(grid.periods[at] for at in kept)
        )
        sub = Cartcomm._of(core)
        sub._handle = made._handle
        return sub

    dim = ndim = property(Get_dim)
    topo = property(Get_topo)
    dims = property(lambda self: self.Get_topo()[0])
    periods = property(lambda self: self.Get_topo()[1])
    coords = property(lambda self: self.Get_topo()[2])


CART, GRAPH, DIST_GRAPH, NO_TOPOLOGY = 1, 2, 3, UNDEFINED
