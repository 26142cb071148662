"""`mpi4py.util.pkl5`: objects with large buffers. They are no different here."""

from __future__ import annotations

from types import ModuleType
from typing import Any

SAME = "Comm Intracomm Intercomm Request Message Status Pickle pickle"
NUMBERS = "ANY_SOURCE ANY_TAG PROC_NULL ROOT"


def names(mpi: ModuleType) -> dict[str, Any]:
    """What the module has."""
    found = {name: getattr(mpi, name) for name in (*SAME.split(), *NUMBERS.split())}
    return {"__doc__": "Pickle-based communication using protocol 5.", **found}
