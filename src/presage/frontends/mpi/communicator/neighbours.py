"""`MPI.Topocomm`: collective calls among neighbours, in a grid or a graph.

Each rank sends along its outgoing edges and receives along its incoming ones. With eager sends a
rank waits for its neighbours alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from presage.frontends.mpi.collective.exchange import is_vector
from presage.frontends.mpi.collective.persistent import set_up
from presage.frontends.mpi.collective.transport import Plan, made
from presage.frontends.mpi.collective.typed import read_all, typed_parts, use_all, write_all
from presage.frontends.mpi.communicator import graph as graphs
from presage.frontends.mpi.communicator.comm import Intracomm
from presage.frontends.mpi.core.mistakes import wrong_type
from presage.frontends.mpi.core.named import calls
from presage.frontends.mpi.core.status import PROC_NULL
from presage.frontends.mpi.data.buffers import Buffer, buffer
from presage.frontends.mpi.data.hazards import use
from presage.frontends.mpi.data.objects import pack, unpack
from presage.frontends.mpi.point.persistent import Prequest


class Topocomm(Intracomm):
    """A communicator whose ranks are arranged."""

    def __new__(cls, comm: Any = None, *args: Any, **kwargs: Any) -> Any:
        """A handle that stands for the same, which has to be one of its kind."""
        if comm is not None and comm and not isinstance(comm, cls._plain()):
            raise wrong_type(f"MPI.{cls.__name__}() takes one of its kind")
        return super().__new__(cls, comm)

    @classmethod
    def _plain(cls) -> type[Any]:
        """The class of MPI, of a subclass of a script."""
        return next(each for each in cls.__mro__ if each.__module__ == "mpi4py.MPI")

    def _edges(self) -> graphs.Edges:
        core = self._core("a call on neighbours")
        if core.graph is not None:
            return core.graph.edges  # type: ignore[no-any-return]
        return graphs.grid_edges(core.grid, core.rank)

    indegree = property(lambda self: len(self._edges().sources))
    outdegree = property(lambda self: len(self._edges().destinations))
    degrees = property(lambda self: (self.indegree, self.outdegree))
    inedges = property(lambda self: list(self._edges().sources))
    outedges = property(lambda self: list(self._edges().destinations))
    inoutedges = property(lambda self: (self.inedges, self.outedges))

    def _swapped(
        self, name: str, parts: Callable[[str], list[Any]], done: Callable[[str], Any], more: Any
    ) -> Any:
        """Send one part along each outgoing edge; `done` gets one for each incoming edge.

        Of a neighbour that does not exist nothing comes: None.
        """
        core, call, text, _ = self._begin(name)
        edges, is_grid = self._edges(), core.graph is None
        incoming, outgoing = graphs.slots(edges, is_grid)
        given = parts(text)
        mine = [
            (to, label, part)
            for to, label, part in zip(edges.destinations, outgoing, given, strict=True)
            if to != PROC_NULL
        ]

        def result(contributions: list[Any], rank: int) -> list[Any]:
            sent = {
                (source, label): part
                for source, each in enumerate(contributions)
                for to, label, part in each or ()
                if to == rank
            }
            wanted = zip(edges.sources, incoming, strict=True)
            return [sent.get((source, _plain_label(label))) for source, label in wanted]

        needed = tuple(rank for rank in graphs.real(edges.sources) if rank != core.rank)
        plan = Plan(core, call, text, mine, result, done(text), more(text), needed)
        return made(plan)

    # Objects.

    def neighbor_allgather(self, sendobj: Any) -> list[Any]:
        """The same object to all neighbours."""
        return self._objects("neighbor_allgather", [sendobj] * self.outdegree)

    def neighbor_alltoall(self, sendobj: Any) -> list[Any]:
        """An object for each neighbour."""
        objects = list(sendobj)
        if len(objects) != self.outdegree:
            raise ValueError(f"{len(objects)} items for {self.outdegree} neighbours")
        return self._objects("neighbor_alltoall", objects)

    def _objects(self, name: str, objects: list[Any]) -> list[Any]:
        def done(_: str) -> Any:
            return lambda got: [None if each is None else unpack(each) for each in got]

        packed = [pack(each) for each in objects]
        got: list[Any] = self._swapped(name, lambda _: packed, done, lambda _: ())
        return got

    # Buffers.

    @calls("Neighbor_allgather", "Neighbor_allgatherv")
    def _allgather_blocking(self, sendbuf: Any, recvbuf: Any, *, _name: str = "") -> None:
        """The same buffer to all neighbours."""
        self._gather_near(_name, sendbuf, recvbuf)

    @calls("Ineighbor_allgather", "Ineighbor_allgatherv")
    def _allgather_begun(self, sendbuf: Any, recvbuf: Any, *, _name: str = "") -> Any:
        """The same, not blocking."""
        return self._gather_near(_name, sendbuf, recvbuf)

    def _gather_near(self, name: str, sendbuf: Any, recvbuf: Any) -> Any:
        into, out = _Held(), _Held()

        def parts(text: str) -> list[Any]:
            out.buffer = buffer(sendbuf, text)
            into.buffer = buffer(recvbuf, text, self.indegree, is_vector(name))
            return [out.buffer.read()] * self.outdegree

        return self._swapped(name, parts, self._stored(into), _watched(out, into))

    @calls("Neighbor_alltoall", "Neighbor_alltoallv")
    def _alltoall_blocking(self, sendbuf: Any, recvbuf: Any, *, _name: str = "") -> None:
        """A part for each neighbour."""
        self._alltoall_near(_name, sendbuf, recvbuf)

    @calls("Ineighbor_alltoall", "Ineighbor_alltoallv")
    def _alltoall_begun(self, sendbuf: Any, recvbuf: Any, *, _name: str = "") -> Any:
        """The same, not blocking."""
        return self._alltoall_near(_name, sendbuf, recvbuf)

    def _alltoall_near(self, name: str, sendbuf: Any, recvbuf: Any) -> Any:
        into, out, degree = _Held(), _Held(), self.outdegree

        def parts(text: str) -> list[Any]:
            out.buffer = buffer(sendbuf, text, degree, is_vector(name))
            into.buffer = buffer(recvbuf, text, self.indegree, is_vector(name))
            places = [out.buffer.part(at, degree) for at in range(degree)]
            return [out.buffer.read(count, start) for count, start in places]

        return self._swapped(name, parts, self._stored(into), _watched(out, into))

    @calls("Neighbor_alltoallw", "Ineighbor_alltoallw")
    def _alltoallw_near(self, sendbuf: Any, recvbuf: Any, *, _name: str = "") -> Any:
        """A part for each neighbour, of whatever type."""
        into: list[Buffer] = []
        out: list[Buffer] = []

        def parts(text: str) -> list[Any]:
            into.extend(typed_parts(recvbuf, self.indegree, text))
            out.extend(typed_parts(sendbuf, self.outdegree, text))
            return read_all(out)

        def done(text: str) -> Any:
            def store(got: list[Any]) -> None:
                for part, data in zip(into, got, strict=True):
                    if data is not None:
                        write_all([part], text)([data])

            return store

        return self._swapped(_name, parts, done, lambda text: use_all(out, into, text))

    @calls(
        *("Neighbor_allgather_init", "Neighbor_allgatherv_init", "Neighbor_alltoall_init"),
        *("Neighbor_alltoallv_init", "Neighbor_alltoallw_init"),
    )
    def _persistent_near(self, *args: Any, _name: str = "", **kwargs: Any) -> Prequest:
        """Set the call up; `Start` makes it."""
        return set_up(self, _name, args, kwargs)

    def _stored(self, into: _Held) -> Any:
        degree = self.indegree

        def done(text: str) -> Any:
            def store(got: list[Any]) -> None:
                for at, data in enumerate(got):
                    count, start = into.buffer.part(at, degree)
                    if data is not None:
                        into.buffer.write(data, text, count, start)

            return store

        return done


class _Held:
    """A buffer that a call is going to have."""

    buffer: Any = None


def _plain_label(label: Any) -> Any:
    return tuple(label) if isinstance(label, list) else label


def _watched(out: _Held, into: _Held) -> Callable[[str], Any]:
    def used(text: str) -> Any:
        return (*use(out.buffer, text, writes=False), *use(into.buffer, text, writes=True))

    return used
