"""The module that scripts import as `mpi4py.MPI`, and the package around it.

A rank finds it in `sys.modules` while it runs; an mpi4py that is installed is not touched.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from presage.frontends.mpi.communicator import cart, comm, grid, intercomm
from presage.frontends.mpi.core import group, status
from presage.frontends.mpi.core.mistakes import MPIException
from presage.frontends.mpi.core.rank import TICK, current_rank
from presage.frontends.mpi.data import buffers, constants, datatype, dtlib, extras, op
from presage.frontends.mpi.inter import spawn
from presage.frontends.mpi.io import file as files
from presage.frontends.mpi.launch.finalize import finalize
from presage.frontends.mpi.launch.rc import Package
from presage.frontends.mpi.point import message, persistent, request
from presage.frontends.mpi.rma import synchronisation as syncs
from presage.frontends.mpi.rma import window
from presage.process.context import current

VERSION = "4.0.0"  # of mpi4py, whose names these are

# Where the names are found that a script uses, and this package too.
SHARED = (
    (status, "ANY_SOURCE ANY_TAG PROC_NULL ROOT UNDEFINED Status"),
    (group, "IDENT CONGRUENT SIMILAR UNEQUAL GROUP_NULL GROUP_EMPTY Group"),
    (comm, "COMM_TYPE_SHARED COMM_WORLD COMM_SELF COMM_NULL Comm Intracomm"),
    (cart, "CART GRAPH DIST_GRAPH Cartcomm Topocomm"),
    (intercomm, "Intercomm"),
    (spawn, "APPNUM"),
    (buffers, "IN_PLACE BOTTOM"),
    (datatype, "Datatype"),
    (op, "Op"),
    (extras, "INFO_NULL INFO_ENV Info Pickle Errhandler"),
    (extras, "ERRHANDLER_NULL ERRORS_RETURN ERRORS_ABORT ERRORS_ARE_FATAL"),
    (request, "REQUEST_NULL Request"),
    (persistent, "Prequest"),
    (message, "MESSAGE_NULL MESSAGE_NO_PROC Message"),
    (window, "WIN_BASE WIN_SIZE WIN_DISP_UNIT WIN_CREATE_FLAVOR WIN_MODEL WIN_NULL Win"),
    (window, "WIN_FLAVOR_CREATE WIN_FLAVOR_ALLOCATE WIN_FLAVOR_DYNAMIC WIN_FLAVOR_SHARED"),
    (window, "WIN_SEPARATE WIN_UNIFIED"),
    (syncs, "LOCK_EXCLUSIVE LOCK_SHARED"),
    (syncs, "MODE_NOCHECK MODE_NOSTORE MODE_NOPUT MODE_NOPRECEDE MODE_NOSUCCEED"),
    (files, "SEEK_SET SEEK_CUR SEEK_END FILE_NULL File"),
)
THREADS = ("THREAD_SINGLE", "THREAD_FUNNELED", "THREAD_SERIALIZED", "THREAD_MULTIPLE")

SINGLE = THREADS.index("THREAD_SINGLE")  # ranks have one thread each

CONSTANTS: dict[str, Any] = {
    **{name: getattr(module, name) for module, names in SHARED for name in names.split()},
    **{name: level for level, name in enumerate(THREADS)},
    **files.MODES,
    "Exception": MPIException,
    "TAG_UB": 0,
    "WIN_FLAVOR": window.WIN_CREATE_FLAVOR,
    "VERSION": 4,
    "SUBVERSION": 0,
    "buffer": extras.Memory,
    "memory": extras.Memory,
    "pickle": extras.Pickle(),
}


def wtime() -> float:
    """The rank's own clock."""
    return current().read_clock()


def _init() -> int:
    """Initialize MPI, where importing it has not; gives the level of threads."""
    current_rank().initialized = True
    return SINGLE


def _functions() -> dict[str, Any]:
    return {
        "Init": _init,
        "Init_thread": lambda required=3: _init(),
        "Finalize": finalize,
        "Is_initialized": lambda: current_rank().is_initialized(),
        "Is_finalized": lambda: current_rank().finalized,
        "Query_thread": lambda: SINGLE,
        "Is_thread_main": lambda: True,
        "Wtime": wtime,
        "Wtick": lambda: TICK,
        "Get_processor_name": lambda: "presage",
        "Get_version": lambda: (4, 0),
        "Get_library_version": lambda: "presage",
        "Get_vendor": lambda: ("presage", (0, 1, 0)),
        "get_vendor": lambda: ("presage", (0, 1, 0)),
        "Attach_buffer": extras.attach_buffer,
        "Detach_buffer": extras.detach_buffer,
        "Get_address": extras.get_address,
        "Compute_dims": grid.compute_dims,
        "Get_error_string": constants.error_string,
        "Get_error_class": int,
        "Alloc_mem": lambda size, info=None: memoryview(bytearray(size)),
        "Free_mem": lambda mem: None,
    }


def _missing(name: str) -> NoReturn:
    raise AttributeError(
        f"presage's mpi4py.MPI has no `{name}`; what it has is listed in docs/reference/mpi.md"
    )


def _build() -> dict[str, ModuleType]:
    mpi = ModuleType("mpi4py.MPI")
    util, pkl5 = ModuleType("mpi4py.util"), ModuleType("mpi4py.util.pkl5")
    types = ModuleType("mpi4py.util.dtlib")
    for names in (constants.NUMBERS, CONSTANTS, datatype.TYPES, op.OPS, _functions()):
        mpi.__dict__.update(names)
    mpi.__dict__.update(__getattr__=_missing, __package__="mpi4py")
    # Large messages are no different here.
    for name in ("Comm", "Intracomm", "Intercomm", "Request"):
        pkl5.__dict__[name] = CONSTANTS[name]
    types.__dict__.update(dtlib.FUNCTIONS)
    util.__dict__.update(pkl5=pkl5, dtlib=types, __path__=[])
    return {each.__name__: each for each in (mpi, util, pkl5, types)}


MODULES = _build()
MPI = MODULES["mpi4py.MPI"]
PACKAGE = {
    "util": MODULES["mpi4py.util"],
    "__version__": VERSION,
    "__path__": [str(Path(__file__).with_name("mpi4py"))],  # where nothing is found
    "get_config": dict,
    "get_include": lambda: "",
}


def package() -> dict[str, Any]:
    """What of `mpi4py` is a rank's own: the package, and `rc`."""
    own = Package(PACKAGE, MPI)
    return {"mpi4py": own, "mpi4py.rc": own.rc}
