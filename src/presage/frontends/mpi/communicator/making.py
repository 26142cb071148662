"""Communicators made from one: by starting other ranks, and by arranging the ranks there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.frontends.mpi.collective.objects import ObjectCollectives
from presage.frontends.mpi.communicator import graph as graphs
from presage.frontends.mpi.communicator import grid
from presage.frontends.mpi.core.comm_state import CommState
from presage.frontends.mpi.core.mistakes import MPIException, invalid, wrong_value
from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.core.status import UNDEFINED
from presage.frontends.mpi.data.constants import NUMBERS
from presage.frontends.mpi.inter import ports, spawn

UNWEIGHTED, WEIGHTS_EMPTY = NUMBERS["UNWEIGHTED"], NUMBERS["WEIGHTS_EMPTY"]


class Made(ObjectCollectives):
    """A communicator that makes others."""

    def _made(self, core: CommState, what: str) -> Any:
        raise NotImplementedError

    def _agreed(self, name: str, mine: Any) -> tuple[CommState, str, list[Any]]:
        raise NotImplementedError

    def _null(self, kind: str) -> Any:
        raise NotImplementedError


class Spawning(Made):
    """Spawn, Spawn_multiple, Accept and Connect: other ranks come in."""

    def Spawn(
        self,
        command: Any,
        args: Any = None,
        maxprocs: int = 1,
        info: Any = None,
        root: int = 0,
        errcodes: list[int] | None = None,
    ) -> Any:
        """Start ranks that run a script."""
        given = spawn.Given("Spawn", lambda: [(command, args, maxprocs, info)], root)
        core, counts = spawn.spawn(self, given)
        if errcodes is not None:
            errcodes[:] = [0] * sum(counts)
        return self._made(core, "Spawn")

    def Spawn_multiple(
        self,
        command: Sequence[Any],
        args: Any = None,
        maxprocs: Any = None,
        info: Any = None,
        root: int = 0,
        errcodes: list[list[int]] | None = None,
    ) -> Any:
        """Start ranks that run several scripts."""
        each = spawn.one_by_one(command, args, maxprocs, info)
        core, counts = spawn.spawn(self, spawn.Given("Spawn_multiple", each, root))
        if errcodes is not None:
            errcodes[:] = [[0] * count for count in counts]
        return self._made(core, "Spawn_multiple")

    def Accept(self, port_name: Any, info: Any = None, root: int = 0) -> Any:
        """Wait for a group that connects to a port of the root."""
        return self._made(ports.joined(self, "Accept", port_name, root), "Accept")

    def Connect(self, port_name: Any, info: Any = None, root: int = 0) -> Any:
        """Meet a group that accepts at a port."""
        return self._made(ports.joined(self, "Connect", port_name, root), "Connect")


class Topologies(Made):
    """Grids and graphs."""

    def Create_cart(self, dims: Sequence[int], periods: Any = None, reorder: bool = False) -> Any:
        """The first ranks become a grid; the others get a null communicator."""
        shape = self._grid_of("Create_cart", dims, periods)
        core, name, _ = self._agreed("Create_cart", [list(shape.dims), list(shape.periods)])
        if core.rank >= shape.size:
            return self._null("cartesian")
        made = CommState(f"{name}:grid", core.ranks[: shape.size], core.rank, grid=shape)
        return self._made(made, "Create_cart")

    def _grid_of(self, name: str, dims: Sequence[int], periods: Any) -> grid.Grid:
        shape = grid.grid_of(dims, periods)
        if len(shape.periods) != len(shape.dims):
            raise wrong_value(f"{name}: {len(shape.periods)} periods for {len(shape.dims)} dims")
        core = self._core(f"{name}()")
        if shape.size > core.size:
            call = enter_call(name, dims=list(shape.dims))
            text = f"{call}: a grid of {shape.size} ranks, but there are {core.size}"
            raise invalid(text, "ERR_DIMS")
        return shape

    def Cart_map(self, dims: Sequence[int], periods: Any = None) -> int:
        """The rank that this one would have in a grid."""
        shape = self._grid_of("Cart_map", dims, periods)
        rank = self._core("Cart_map").rank
        return rank if rank < shape.size else UNDEFINED

    def Create_graph(
        self, index: Sequence[int], edges: Sequence[int], reorder: bool = False
    ) -> Any:
        """The first ranks become nodes of a graph that all of them know."""
        core = self._core("Create_graph()")
        shape = self._graph_of("Create_graph", index, edges)
        core, name, said = self._agreed("Create_graph", [list(shape.ends), list(shape.targets)])
        for rank, theirs in enumerate(said):
            if theirs != [list(shape.ends), list(shape.targets)]:
                text = f"Create_graph: rank {rank} of the communicator names another graph"
                raise MPIException("collective-mismatch", text)
        if core.rank >= len(shape.ends):
            return self._null("graph")
        nodes = core.ranks[: len(shape.ends)]
        return self._made(CommState(f"{name}:graph", nodes, core.rank, graph=shape), "Create_graph")

    def _graph_of(self, name: str, index: Sequence[int], edges: Sequence[int]) -> graphs.Graph:
        core = self._core(f"{name}()")
        shape = graphs.graph_of(index, edges, core.rank)
        nodes = len(shape.ends)
        bad = nodes > core.size or sorted(shape.ends) != list(shape.ends)
        bad |= bool(nodes) and shape.ends[-1] != len(shape.targets)
        if bad or any(not 0 <= each < nodes for each in shape.targets):
            call = enter_call(name, index=list(index), edges=list(edges))
            text = f"{call}: this is no graph of at most {core.size} ranks"
            raise invalid(text, "ERR_TOPOLOGY")
        return shape

    def Graph_map(self, index: Sequence[int], edges: Sequence[int]) -> int:
        """The rank that this one would have in a graph."""
        shape = self._graph_of("Graph_map", index, edges)
        rank = self._core("Graph_map").rank
        return rank if rank < len(shape.ends) else UNDEFINED

    def Create_dist_graph_adjacent(
        self,
        sources: Any,
        destinations: Any,
        sourceweights: Any = None,
        destweights: Any = None,
        info: Any = None,
        reorder: bool = False,
    ) -> Any:
        """A graph of which each rank names its own edges."""
        into, out = [int(s) for s in sources or ()], [int(d) for d in destinations or ()]
        weights = (_weights(sourceweights, len(into)), _weights(destweights, len(out)))
        known = None if None in weights else (tuple(weights[0] or ()), tuple(weights[1] or ()))
        self._check_ranks("Create_dist_graph_adjacent", (*into, *out))
        core, name, _ = self._agreed("Create_dist_graph_adjacent", None)
        edges = graphs.Edges(tuple(into), tuple(out), known)
        shape = graphs.Graph(graphs.DIST_GRAPH, edges)
        made = CommState(f"{name}:graph", core.ranks, core.rank, graph=shape)
        return self._made(made, "Create_dist_graph_adjacent")

    def Create_dist_graph(
        self,
        sources: Any,
        degrees: Any,
        destinations: Any,
        weights: Any = None,
        info: Any = None,
        reorder: bool = False,
    ) -> Any:
        """A graph of which each rank names some edges, of whichever ranks."""
        froms, targets = [int(s) for s in sources or ()], [int(d) for d in destinations or ()]
        many = (
            [int(degrees)] * len(froms) if isinstance(degrees, int) else [*map(int, degrees or ())]
        )
        if len(many) != len(froms) or sum(many) != len(targets):
            raise wrong_value("Create_dist_graph: sources, degrees and destinations do not fit")
        known = _weights(weights, len(targets))
        self._check_ranks("Create_dist_graph", (*froms, *targets))
        starts = [source for source, count in zip(froms, many, strict=True) for _ in range(count)]
        mine = [starts, targets, known]
        core, name, said = self._agreed("Create_dist_graph", mine)
        edges = _own_edges(core.rank, said)
        shape = graphs.Graph(graphs.DIST_GRAPH, edges)
        made = CommState(f"{name}:graph", core.ranks, core.rank, graph=shape)
        return self._made(made, "Create_dist_graph")

    def _check_ranks(self, name: str, ranks: Sequence[int]) -> None:
        size = self._core(f"{name}()").size
        strange = [rank for rank in ranks if not 0 <= rank < size]
        if strange:
            raise invalid(f"{enter_call(name)}: there is no rank {strange[0]}", "ERR_RANK")


def _own_edges(rank: int, said: list[Any]) -> graphs.Edges:
    """The edges of one rank, of all that were named."""
    every = [
        (start, end, 0 if weights is None else weights[at])
        for starts, ends, weights in said
        for at, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]
    into = [(start, weight) for start, end, weight in every if end == rank]
    out = [(end, weight) for start, end, weight in every if start == rank]
    weighted = all(weights is not None for _, _, weights in said)
    return graphs.Edges(
        tuple(start for start, _ in into),
        tuple(end for end, _ in out),
        (tuple(w for _, w in into), tuple(w for _, w in out)) if weighted else None,
    )


def _weights(given: Any, count: int) -> list[int] | None:
    """Weights of so many edges; None: they have none."""
    if given is None or (isinstance(given, int) and given == UNWEIGHTED):
        return None
    weights = [] if isinstance(given, int) and given == WEIGHTS_EMPTY else [int(w) for w in given]
    if len(weights) != count:
        raise wrong_value(f"{len(weights)} weights for {count} edges")
    return weights
