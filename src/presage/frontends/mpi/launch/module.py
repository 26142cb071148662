"""The module that scripts import as `mpi4py.MPI`, and the package around it.

A rank finds it in `sys.modules` while it runs; an mpi4py that is installed is not touched.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from presage.frontends.mpi.communicator import (
    cart,
    comm,
    graph,
    graphs,
    intercomm,
    neighbours,
    session,
)
from presage.frontends.mpi.core import group, levels, status
from presage.frontends.mpi.core.mistakes import MPIException
from presage.frontends.mpi.core.numbered import Numbered
from presage.frontends.mpi.data import (
    constants,
    datatype,
    errhandlers,
    extras,
    info,
    memory,
    op,
    predefined,
)
from presage.frontends.mpi.data import named_constants as places
from presage.frontends.mpi.inter import spawn
from presage.frontends.mpi.io import file as files
from presage.frontends.mpi.launch import package
from presage.frontends.mpi.launch.functions import functions
from presage.frontends.mpi.launch.rc import Module, Package
from presage.frontends.mpi.point import generalized, message, persistent, request
from presage.frontends.mpi.rma import synchronisation as syncs
from presage.frontends.mpi.rma import window

# Where the names are found that a script uses, and this package too.
SHARED = (
    (status, "ANY_SOURCE ANY_TAG PROC_NULL ROOT UNDEFINED Status"),
    (group, "IDENT CONGRUENT SIMILAR UNEQUAL GROUP_NULL GROUP_EMPTY Group"),
    (comm, "COMM_TYPE_SHARED COMM_WORLD COMM_SELF COMM_NULL Comm Intracomm"),
    (graph, "CART GRAPH DIST_GRAPH"),
    (cart, "Cartcomm"),
    (graphs, "Graphcomm Distgraphcomm"),
    (neighbours, "Topocomm"),
    (intercomm, "Intercomm"),
    (spawn, "APPNUM"),
    (places, "IN_PLACE BOTTOM BUFFER_AUTOMATIC BottomType InPlaceType BufferAutomaticType"),
    (datatype, "Datatype"),
    (op, "Op"),
    (info, "INFO_NULL INFO_ENV Info"),
    (errhandlers, "ERRHANDLER_NULL ERRORS_RETURN ERRORS_ABORT ERRORS_ARE_FATAL Errhandler"),
    (extras, "Pickle"),
    (request, "REQUEST_NULL Request"),
    (persistent, "Prequest"),
    (generalized, "Grequest"),
    (message, "MESSAGE_NULL MESSAGE_NO_PROC Message"),
    (window, "WIN_BASE WIN_SIZE WIN_DISP_UNIT WIN_CREATE_FLAVOR WIN_MODEL WIN_NULL Win"),
    (window, "WIN_FLAVOR_CREATE WIN_FLAVOR_ALLOCATE WIN_FLAVOR_DYNAMIC WIN_FLAVOR_SHARED"),
    (window, "WIN_SEPARATE WIN_UNIFIED"),
    (syncs, "LOCK_EXCLUSIVE LOCK_SHARED"),
    (syncs, "MODE_NOCHECK MODE_NOSTORE MODE_NOPUT MODE_NOPRECEDE MODE_NOSUCCEED"),
    (files, "SEEK_SET SEEK_CUR SEEK_END FILE_NULL File"),
    (session, "SESSION_NULL Session"),
)

CONSTANTS: dict[str, Any] = {
    **{name: getattr(module, name) for module, names in SHARED for name in names.split()},
    **{name: level for level, name in enumerate(levels.LEVELS)},
    **files.MODES,
    "Exception": MPIException,
    "TAG_UB": comm.TAG_UB_KEY,
    "WIN_FLAVOR": window.WIN_CREATE_FLAVOR,
    "VERSION": 4,
    "SUBVERSION": 0,
    "buffer": memory.Memory,
    "memory": memory.Memory,
    "pickle": extras.PICKLE,
}


def _missing(name: str) -> NoReturn:
    raise AttributeError(
        f"presage's mpi4py.MPI has no `{name}`; what it has is listed in docs/reference/mpi.md"
    )


def _build() -> ModuleType:
    mpi = Module("mpi4py.MPI", "Message Passing Interface, simulated by presage.")
    for names in (constants.NUMBERS, CONSTANTS, predefined.TYPES, op.OPS, functions()):
        mpi.__dict__.update(names)
    mpi.__dict__.update(__getattr__=_missing, __package__="mpi4py", __file__=__file__)
    for name, value in vars(mpi).items():
        if isinstance(value, Numbered):
            value._note_constant(value, name)
        elif value is MPIException:
            continue  # reports name it
        elif isinstance(value, type) and value.__module__.startswith("presage."):
            value.__module__ = "mpi4py.MPI"  # so that pickles name it as scripts do
            value.__name__ = value.__qualname__ = name
    return mpi


MPI = _build()
MODULES = package.modules(MPI)
PACKAGE = {
    **{name: MODULES[f"mpi4py.{name}"] for name in ("util", "run", "bench", "futures")},
    **package.NAMES,
    "__path__": [str(Path(__file__).with_name("mpi4py"))],  # where nothing is found
}


def own_package() -> dict[str, Any]:
    """What of `mpi4py` is a rank's own: the package, `rc`, and what a script may set elsewhere."""
    own = Package(PACKAGE, MPI)
    found = {"mpi4py": own, "mpi4py.rc": own.rc, **package.own_modules(MODULES)}
    own.__dict__["util"] = found["mpi4py.util"]
    return found
