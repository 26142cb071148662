"""`MPI.Graphcomm` and `MPI.Distgraphcomm`: ranks as nodes of a graph."""

from __future__ import annotations

from typing import Any

from presage.frontends.mpi.communicator.comm import GRAPHS
from presage.frontends.mpi.communicator.graph import DIST_GRAPH, GRAPH, Graph
from presage.frontends.mpi.communicator.neighbours import Topocomm


class Graphcomm(Topocomm, kind=GRAPHS[GRAPH]):
    """A communicator whose ranks are nodes of a graph that all of them know."""

    @property
    def _graph(self) -> Graph:
        graph: Graph = self._core("a call on a graph").graph
        return graph

    def Get_dims(self) -> tuple[int, int]:
        """How many nodes and edges."""
        return len(self._graph.ends), len(self._graph.targets)

    def Get_topo(self) -> tuple[list[int], list[int]]:
        """Where the edges of each node end in the list, and the list."""
        return list(self._graph.ends), list(self._graph.targets)

    def Get_neighbors_count(self, rank: int) -> int:
        """How many neighbours a rank has."""
        return len(self._graph.neighbours(rank))

    def Get_neighbors(self, rank: int) -> list[int]:
        """The neighbours of a rank."""
        return list(self._graph.neighbours(rank))

    dims = property(Get_dims)
    nnodes = property(lambda self: self.Get_dims()[0])
    nedges = property(lambda self: self.Get_dims()[1])
    topo = property(Get_topo)
    index = property(lambda self: self.Get_topo()[0])
    edges = property(lambda self: self.Get_topo()[1])
    nneighbors = property(lambda self: self.Get_neighbors_count(self.Get_rank()))
    neighbors = property(lambda self: self.Get_neighbors(self.Get_rank()))


class Distgraphcomm(Topocomm, kind=GRAPHS[DIST_GRAPH]):
    """A communicator whose ranks know their own edges of a graph."""

    def Get_dist_neighbors_count(self) -> tuple[int, int, bool]:
        """How many sources and destinations, and whether edges have weights."""
        edges = self._edges()
        return len(edges.sources), len(edges.destinations), edges.weights is not None

    def Get_dist_neighbors(self) -> tuple[list[int], list[int], Any]:
        """Sources, destinations, and the weights of both."""
        edges = self._edges()
        weights = None if edges.weights is None else tuple(list(w) for w in edges.weights)
        return list(edges.sources), list(edges.destinations), weights
