"""What the module `mpi4py.futures` has."""

from __future__ import annotations

import concurrent.futures as standard
from types import ModuleType
from typing import Any

from presage.frontends.mpi.futures import compose, executor
from presage.frontends.mpi.futures.future import Future

SAME = (
    "Executor wait FIRST_COMPLETED FIRST_EXCEPTION ALL_COMPLETED as_completed CancelledError"
    " TimeoutError InvalidStateError BrokenExecutor"
)
OWN = (
    Future,
    executor.MPIPoolExecutor,
    executor.MPICommExecutor,
    executor.ThreadPoolExecutor,
    executor.ProcessPoolExecutor,
    executor.get_comm_workers,
    compose.collect,
    compose.compose,
)


def names(mpi: ModuleType) -> dict[str, Any]:
    """What the module has."""
    found = {name: getattr(standard, name) for name in SAME.split()}
    own = {each.__name__: each for each in OWN}
    return {"__doc__": "Execute computations asynchronously using MPI.", **found, **own}
