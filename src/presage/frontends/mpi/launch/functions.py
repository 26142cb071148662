"""The functions of `mpi4py.MPI`."""

from __future__ import annotations

from typing import Any, NoReturn

from presage.frontends.mpi.communicator import grid
from presage.frontends.mpi.core import error_codes
from presage.frontends.mpi.core.levels import MULTIPLE, SINGLE
from presage.frontends.mpi.core.mistakes import invalid, unsupported, wrong_type
from presage.frontends.mpi.core.numbered import Numbered
from presage.frontends.mpi.core.rank import TICK, current_rank, enter_call
from presage.frontends.mpi.core.status import Status
from presage.frontends.mpi.data import extras
from presage.frontends.mpi.data.info import Info
from presage.frontends.mpi.data.memory import Memory
from presage.frontends.mpi.data.type_handle import TypeHandle
from presage.frontends.mpi.inter import ports
from presage.frontends.mpi.launch.finalize import finalize
from presage.frontends.mpi.point.request import Request, at_once
from presage.process.context import current

PORTS = (
    ports.open_port,
    ports.close_port,
    ports.publish_name,
    ports.unpublish_name,
    ports.lookup_name,
)
HANDLE_BYTES, STATUS_BYTES = 8, 24  # as in C


def Wtime() -> float:
    """The rank's own clock; every look at it takes a moment, so that no duration is 0."""
    return current().read_clock()


def Wtick() -> float:
    """How fine the clock is."""
    return TICK


def Init() -> None:
    """Initialize MPI, where importing it has not."""
    current_rank().initialized = True


def Init_thread(required: int = MULTIPLE) -> int:
    """The same; threads may do what is asked for."""
    Init()
    if not SINGLE <= required <= MULTIPLE:
        raise invalid(f"Init_thread: {required} is no level of threads")
    current_rank().level = required
    return required


def Finalize() -> None:
    """The end of MPI for this rank."""
    finalize()


def Is_initialized() -> bool:
    """Whether importing `MPI` or a call has initialized it."""
    return current_rank().is_initialized()


def Is_finalized() -> bool:
    """Whether `Finalize` was called."""
    return current_rank().finalized


def Query_thread() -> int:
    """What threads may do: what was asked for."""
    return current_rank().thread_level


def Is_thread_main() -> bool:
    """Whether the thread that calls is the one that has initialized MPI."""
    threads = current_rank().threads
    return threads is None or threads.current is threads.main


def Get_processor_name() -> str:
    """All ranks are on one machine."""
    return "presage"


def Get_version() -> tuple[int, int]:
    """Of the standard."""
    return 4, 0


def Get_library_version() -> str:
    """Which library this is."""
    return "presage"


def get_vendor() -> tuple[str, tuple[int, int, int]]:
    """Who made the library."""
    return "presage", (0, 1, 0)


def Get_error_class(errorcode: int) -> int:
    """The class of a code."""
    _check_code(errorcode)
    return error_codes.class_of(errorcode)


def Get_error_string(errorcode: int) -> str:
    """What a code means."""
    _check_code(errorcode)
    return error_codes.text_of(errorcode)


def _check_code(code: int) -> None:
    if not error_codes.is_known(code):
        raise invalid(f"{code} is no code of an error")


def Add_error_class() -> int:
    """A new class of errors."""
    return error_codes.add_class()


def Add_error_code(errorclass: int) -> int:
    """A new code of a class."""
    _check_code(errorclass)
    return error_codes.add_code(errorclass)


def Add_error_string(errorcode: int, string: str) -> None:
    """What a new code means."""
    if errorcode not in error_codes.added().classes:
        raise invalid(f"{errorcode} is no code that was added")
    error_codes.added().texts[errorcode] = string


def Remove_error_class(errorclass: int) -> None:
    """Forget a class; no code may be left of it."""
    known = error_codes.added().classes
    has_more = list(known.values()).count(errorclass) > 1
    if known.get(errorclass) != errorclass or has_more or errorclass in error_codes.added().texts:
        raise invalid(f"{errorclass} is no class that was added, or has codes or a text")
    del known[errorclass]


def Remove_error_code(errorcode: int) -> None:
    """Forget a code; its text has to be forgotten before."""
    added = error_codes.added()
    is_class = added.classes.get(errorcode) == errorcode
    if errorcode not in added.classes or is_class or errorcode in added.texts:
        raise invalid(f"{errorcode} is no code that was added, or has a text")
    del added.classes[errorcode]


def Remove_error_string(errorcode: int) -> None:
    """Forget what a code means."""
    if error_codes.added().texts.pop(errorcode, None) is None:
        raise invalid(f"{errorcode} has no text that was added")


def Attach_buffer(buf: Any) -> None:
    """Buffered sends find room without it."""
    extras.attach_buffer(buf)


def Detach_buffer() -> Any:
    """What was attached."""
    return extras.detach_buffer()


def Flush_buffer() -> None:
    """What was sent has left the sender by then."""


def Iflush_buffer() -> Request:
    """The same, to be waited for."""
    return at_once()


def Get_address(location: Any) -> int:
    """Where memory begins."""
    return extras.get_address(location)


def Aint_add(base: int, disp: int) -> int:
    """An address some bytes further."""
    return extras.to_signed(base + disp)


def Aint_diff(addr1: int, addr2: int) -> int:
    """Bytes from one address to another."""
    return extras.to_signed(addr1 - addr2)


def Compute_dims(nnodes: int, dims: Any) -> list[int]:
    """A grid of so many ranks."""
    return grid.compute_dims(nnodes, dims)


def Alloc_mem(size: int, info: Any = None) -> Memory:
    """New memory."""
    return Memory.allocate(size)


def Free_mem(mem: Memory) -> None:
    """Let go of memory."""
    mem.release()


def Pcontrol(level: int) -> None:
    """Nobody profiles."""
    if not -128 <= level <= 127:
        raise wrong_type(f"Pcontrol: {level} is no level")


def Get_hw_resource_info() -> Any:
    """Nothing is known of the machine."""
    return Info.of_items({"mpi_library": "presage"})


def Register_datarep(datarep: str, read_fn: Any, write_fn: Any, extent_fn: Any) -> NoReturn:
    """Not there."""
    raise unsupported(f"{enter_call('Register_datarep')}: files are `native` here")


def Get_abi_version() -> tuple[int, int]:
    """There is no binary interface."""
    return -1, -1


def Get_abi_info() -> NoReturn:
    """Not there."""
    raise unsupported("Get_abi_info: presage's MPI has no binary interface")


def Get_abi_fortran_info() -> NoReturn:
    """Not there."""
    raise unsupported("Get_abi_fortran_info: presage's MPI has no binary interface")


def _sizeof(arg: Any) -> int:
    """Bytes of a handle or a status in C."""
    kind = arg if isinstance(arg, type) else type(arg)
    if issubclass(kind, Status):
        return STATUS_BYTES
    if not issubclass(kind, Numbered):
        raise wrong_type(f"{arg!r} is no handle")
    return HANDLE_BYTES


def _addressof(arg: Any) -> int:
    """A number for a handle or a status."""
    _sizeof(arg)
    return id(arg)


def _handleof(arg: Any) -> int:
    """The number of a handle."""
    _sizeof(arg)
    return id(arg) if isinstance(arg, Status) else int(arg.handle)


def _typecode(datatype: Any) -> str | None:
    """The letter of a type, or None."""
    code: str | None = datatype._char()
    return code


def _typealign(datatype: Any) -> int | None:
    """Where a type may begin in a structure of C."""
    return datatype.layout.align if datatype and datatype.is_predefined else None


def _set_abort_status(status: int) -> None:
    """What `Abort` is going to say."""
    current_rank().own_notes["abort status"] = status


def functions() -> dict[str, Any]:
    """All of them, by name."""
    found = {
        name: value
        for name, value in globals().items()
        if callable(value) and getattr(value, "__module__", "") == __name__ and name != "functions"
    }
    del found["_check_code"]
    for each in found.values():
        each.__module__ = "mpi4py.MPI"
    found["Get_vendor"] = found["get_vendor"]
    for each in PORTS:
        found[each.__name__.capitalize()] = each
    found["_typedict"] = TypeHandle.codes
    return found
