"""Graphs of ranks: who sends to whom in a neighbourhood collective call. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.frontends.mpi.communicator.grid import Grid
from presage.frontends.mpi.core.status import PROC_NULL
from presage.records import NamedTuple

CART, GRAPH, DIST_GRAPH = 1, 2, 3


class Edges(NamedTuple):
    """The neighbours of one rank, and the weights of the edges; None: they have none."""

    sources: tuple[int, ...]
    destinations: tuple[int, ...]
    weights: tuple[tuple[int, ...], tuple[int, ...]] | None = None


class Graph(NamedTuple):
    """The graph of a communicator, as one of its ranks knows it."""

    topology: int
    edges: Edges  # of this rank
    ends: tuple[int, ...] = ()  # of the whole graph, where all know it
    targets: tuple[int, ...] = ()

    def neighbours(self, rank: int) -> tuple[int, ...]:
        first = self.ends[rank - 1] if rank else 0
        return self.targets[first : self.ends[rank]]


def graph_of(index: Sequence[int], edges: Sequence[int], rank: int) -> Graph:
    """A graph that all ranks know; the index may begin with a 0 that counts nothing."""
    ends = tuple(int(each) for each in index)
    if ends and ends[0] == 0 and len(ends) > 1:
        ends = ends[1:]
    made = Graph(GRAPH, Edges((), ()), ends, tuple(int(each) for each in edges))
    near = made.neighbours(rank) if rank < len(ends) else ()
    return made._replace(edges=Edges(near, near))


def grid_edges(grid: Grid, rank: int) -> Edges:
    """The neighbours in a grid: of each dimension the one before, and the one after."""
    here = grid.coords(rank)
    near = []
    for dim in range(len(grid.dims)):
        for step in (-1, 1):
            place = list(here)
            place[dim] += step
            near.append(grid.rank(place))
    return Edges(tuple(near), tuple(near))


def slots(edges: Edges, is_grid: bool) -> tuple[list[Any], list[Any]]:
    """A label for each incoming and each outgoing edge: the two ends of one edge say the same.

    Several edges of the same two ranks differ by their order; in a grid by their
    dimension and direction: what goes to the neighbour before comes from the one after.
    """
    if is_grid:
        incoming = [(at // 2, 1 - at % 2) for at in range(len(edges.sources))]
        outgoing = [(at // 2, at % 2) for at in range(len(edges.destinations))]
        return incoming, outgoing
    return _counted(edges.sources), _counted(edges.destinations)


def _counted(ranks: Sequence[int]) -> list[int]:
    """How often each was there before."""
    return [ranks[:at].count(rank) for at, rank in enumerate(ranks)]


def real(ranks: Sequence[int]) -> list[int]:
    """All that exist, each once."""
    return sorted({rank for rank in ranks if rank != PROC_NULL})
