"""`MPI.Cartcomm`: ranks as points of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.frontends.mpi.communicator.comm import CARTESIAN, Comm
from presage.frontends.mpi.communicator.grid import Grid
from presage.frontends.mpi.communicator.neighbours import Topocomm
from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.core.status import PROC_NULL


class Cartcomm(Topocomm, kind=CARTESIAN):
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
            raise invalid(f"{enter_call('Get_cart_rank')}: {list(coords)} is outside of the grid")
        return rank

    def Shift(self, direction: int, disp: int) -> tuple[int, int]:
        """(source, destination) of a shift along one dimension."""
        place, grid = self.Get_coords(self.Get_rank()), self._grid
        back, forth = list(place), list(place)
        back[direction] -= disp
        forth[direction] += disp
        return grid.rank(back), grid.rank(forth)

    def Sub(self, remain_dims: Sequence[bool]) -> Any:
        """The communicator of the ranks that agree in the dimensions left out."""
        grid, place = self._grid, self.Get_coords(self.Get_rank())
        kept = [at for at, stays in enumerate(remain_dims) if stays]
        outside = [at for at, stays in enumerate(remain_dims) if not stays]
        color = Grid(tuple(grid.dims[at] for at in outside), (True,) * len(outside)).rank(
            [place[at] for at in outside]
        )
        made: Comm = self.Split(color, self.Get_rank())
        core = made._core()
        core.grid = Grid(
            tuple(grid.dims[at] for at in kept), tuple(grid.periods[at] for at in kept)
        )
        sub = Comm._classes[CARTESIAN]._of(core)
        sub._handle = made._handle
        return sub

    dim = ndim = property(Get_dim)
    topo = property(Get_topo)
    dims = property(lambda self: self.Get_topo()[0])
    periods = property(lambda self: self.Get_topo()[1])
    coords = property(lambda self: self.Get_topo()[2])
