"""The module that scripts import as `mpi4py.MPI`, and the package around it.

A rank finds it in `sys.modules` while it runs; an mpi4py that is installed is not touched.
"""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

from presage.frontends.mpi.communicator import cart, comm, grid, intercomm
from presage.frontends.mpi.core import group, status
from presage.frontends.mpi.core.mistakes import MPIException
from presage.frontends.mpi.core.rank import current_rank
from presage.frontends.mpi.data import dtlib, extras
from presage.frontends.mpi.data.buffers import BOTTOM, IN_PLACE
from presage.frontends.mpi.data.datatype import TYPES, Datatype
from presage.frontends.mpi.data.op import OPS, Op
from presage.frontends.mpi.inter import spawn
from presage.frontends.mpi.io import file as files
from presage.frontends.mpi.launch.finalize import finalize
from presage.frontends.mpi.point.message import MESSAGE_NO_PROC, MESSAGE_NULL, Message
from presage.frontends.mpi.point.persistent import Prequest
from presage.frontends.mpi.point.request import REQUEST_NULL, Request
from presage.frontends.mpi.rma import synchronisation as syncs
from presage.frontends.mpi.rma import window
from presage.process.context import current

VERSION = "4.0.0"  # of mpi4py, whose names these are
TICK = 1e-6

CLASSES = {
    "Comm": comm.Comm,
    "Intracomm": comm.Intracomm,
    "Cartcomm": cart.Cartcomm,
    "Topocomm": cart.Topocomm,
    "Intercomm": intercomm.Intercomm,
    "Group": group.Group,
    "Status": status.Status,
    "Request": Request,
    "Prequest": Prequest,
    "Message": Message,
    "Op": Op,
    "Datatype": Datatype,
    "Exception": MPIException,
    "Win": window.Win,
    "File": files.File,
}

CONSTANTS = {
    "ANY_SOURCE": status.ANY_SOURCE,
    "ANY_TAG": status.ANY_TAG,
    "PROC_NULL": status.PROC_NULL,
    "ROOT": status.ROOT,
    "UNDEFINED": status.UNDEFINED,
    "IDENT": group.IDENT,
    "CONGRUENT": group.CONGRUENT,
    "SIMILAR": group.SIMILAR,
    "UNEQUAL": group.UNEQUAL,
    "CART": cart.CART,
    "GRAPH": cart.GRAPH,
    "DIST_GRAPH": cart.DIST_GRAPH,
    "TAG_UB": 0,
    "APPNUM": spawn.APPNUM,
    "COMM_TYPE_SHARED": comm.COMM_TYPE_SHARED,
    "BSEND_OVERHEAD": 64,
    "MAX_PROCESSOR_NAME": 256,
    "MAX_ERROR_STRING": 256,
    "THREAD_SINGLE": 0,
    "THREAD_FUNNELED": 1,
    "THREAD_SERIALIZED": 2,
    "THREAD_MULTIPLE": 3,
    "VERSION": 4,
    "SUBVERSION": 0,
    "IN_PLACE": IN_PLACE,
    "BOTTOM": BOTTOM,
    "COMM_WORLD": comm.COMM_WORLD,
    "COMM_SELF": comm.COMM_SELF,
    "COMM_NULL": comm.COMM_NULL,
    "GROUP_NULL": group.GROUP_NULL,
    "GROUP_EMPTY": group.GROUP_EMPTY,
    "REQUEST_NULL": REQUEST_NULL,
    "MESSAGE_NULL": MESSAGE_NULL,
    "INFO_NULL": None,
    "ERRORS_RETURN": None,
    "ERRORS_ARE_FATAL": None,
    "ERRORS_ABORT": None,
    "ERRHANDLER_NULL": None,
    "MESSAGE_NO_PROC": MESSAGE_NO_PROC,
    "buffer": extras.Memory,
    "memory": extras.Memory,
    "Info": extras.Info,
    "Pickle": extras.Pickle,
    "pickle": extras.Pickle(),
}


def wtime() -> float:
    """The rank's own clock; every look at it takes a moment, so that no duration is 0."""
    rank, context = current_rank(), current()
    context.clock_read = True
    rank.times_read += 1
    return context.clock + rank.times_read * TICK


def _functions() -> dict[str, Any]:
    return {
        "Init": lambda: None,
        "Init_thread": lambda required=3: required,
        "Finalize": finalize,
        "Is_initialized": lambda: True,
        "Is_finalized": lambda: current_rank().finalized,
        "Query_thread": lambda: CONSTANTS["THREAD_SINGLE"],
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
        "Get_error_string": str,
        "Get_error_class": int,
        "Alloc_mem": lambda size, info=None: memoryview(bytearray(size)),
        "Free_mem": lambda mem: None,
    }


def _missing(name: str) -> NoReturn:
    raise AttributeError(
        f"presage's mpi4py.MPI has no `{name}`; what it has is listed in docs/reference/mpi.md"
    )


def _build() -> dict[str, ModuleType]:
    package, mpi = ModuleType("mpi4py"), ModuleType("mpi4py.MPI")
    util, pkl5 = ModuleType("mpi4py.util"), ModuleType("mpi4py.util.pkl5")
    types = ModuleType("mpi4py.util.dtlib")
    named: dict[str, Any] = {
        **CLASSES,
        **CONSTANTS,
        **TYPES,
        **OPS,
        **extras.CODES,
        **syncs.CONSTANTS,
        **window.CONSTANTS,
        **files.CONSTANTS,
        **_functions(),
    }
    mpi.__dict__.update(named, __getattr__=_missing, __package__="mpi4py")
    rc = SimpleNamespace(initialize=True, finalize=None, threads=True, thread_level="multiple")
    package.__dict__.update(
        MPI=mpi, rc=rc, util=util, __version__=VERSION, __path__=[], get_config=dict
    )
    package.__dict__["get_include"] = lambda: ""
    # Large messages are no different here.
    pkl5.__dict__.update(Comm=comm.Comm, Intracomm=comm.Intracomm, Request=Request)
    pkl5.__dict__.update(Intercomm=intercomm.Intercomm)
    types.__dict__.update(dtlib.FUNCTIONS)
    util.__dict__.update(pkl5=pkl5, dtlib=types, __path__=[])
    return {each.__name__: each for each in (package, mpi, util, pkl5, types)}


MODULES = _build()
