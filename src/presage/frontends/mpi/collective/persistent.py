"""Persistent collective calls: set up once, started many times.

Each start is the call that does not block, under a name of its own: so ranks that start a
persistent call do not meet those that make a plain one.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

from presage.frontends.mpi.collective.typed import TypedCollectives
from presage.frontends.mpi.core.mistakes import wrong_type
from presage.frontends.mpi.core.named import calls
from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.point.persistent import Prequest


def set_up(comm: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Prequest:
    """A request that makes the call of this name whenever it is started."""
    bare = name.removesuffix("_init")
    begin = getattr(type(comm), f"I{bare[0].lower()}{bare[1:]}")
    text = enter_call(name)
    comm._core(text)
    given = {key: value for key, value in kwargs.items() if key != "info"}
    try:
        signature(begin).bind(comm, *args, **given)
    except TypeError as error:
        if not args or "info" in kwargs:
            raise wrong_type(f"{name}: {error}") from error
        args = args[:-1]  # the last one is the info
        try:
            signature(begin).bind(comm, *args, **given)
        except TypeError:
            raise wrong_type(f"{name}: {error}") from error
    called = f"I{bare[0].lower()}{bare[1:]}_init"
    return Prequest.set_up(text, lambda: begin(comm, *args, **given, _name=called))


class PersistentCollectives(TypedCollectives):
    """Bcast_init and its relatives."""

    @calls(
        *("Barrier_init", "Bcast_init", "Gather_init", "Gatherv_init", "Scatter_init"),
        *("Scatterv_init", "Allgather_init", "Allgatherv_init", "Alltoall_init"),
        *("Alltoallv_init", "Alltoallw_init", "Reduce_init", "Allreduce_init"),
        *("Reduce_scatter_init", "Reduce_scatter_block_init", "Scan_init", "Exscan_init"),
    )
    def _persistent(self, *args: Any, _name: str = "", **kwargs: Any) -> Prequest:
        """Set the call up; `Start` makes it."""
        return set_up(self, _name, args, kwargs)
