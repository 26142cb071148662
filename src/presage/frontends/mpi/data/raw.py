"""Memory of any object: the buffer protocol, DLPack, the array interface of CUDA, an address.

Only memory of the host can be read. An array that says it is on another device is taken if the
memory it points to is mapped into this process, as managed memory is.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from presage.frontends.mpi.core.mistakes import WrongBuffer, wrong_type, wrong_value

TENSORS = ("dltensor_versioned", "dltensor")
KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}  # of DLPack
HOST = 1  # a device of DLPack
SIMPLE = frozenset("bBhHiIlLqQfd?")  # letters that a view can be cast from
BYTES = bytes, bytearray
READ_ONLY = 1  # a flag of a versioned tensor

_name = ctypes.pythonapi.PyCapsule_IsValid
_name.argtypes, _name.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_int
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
_rename = ctypes.pythonapi.PyCapsule_SetName
_rename.argtypes, _rename.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_int


class Tensor(ctypes.Structure):
    """`DLTensor` of DLPack."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int),
        ("device_id", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    """`DLManagedTensor`."""

    _fields_ = (("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER))


class Versioned(ctypes.Structure):
    """`DLManagedTensorVersioned`."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


def at_address(address: int, size: int, readonly: bool = False) -> memoryview:
    """A view of memory that somebody else keeps."""
    if not size:
        return memoryview(b"" if readonly else bytearray())
    view = memoryview((ctypes.c_ubyte * size).from_address(address)).cast("B")
    return view.toreadonly() if readonly else view


_mapped: list[tuple[int, int]] = []  # as it was when last looked


def is_mapped(address: int, size: int) -> bool:
    """Whether the memory is that of this process."""
    if _within(address, size):
        return True
    _mapped.clear()
    for line in Path("/proc/self/maps").read_text().splitlines():
        bounds, rights = line.split(" ", 2)[:2]
        start, end = (int(each, 16) for each in bounds.split("-"))
        if rights.startswith("r"):
            if _mapped and _mapped[-1][1] == start:
                start = _mapped.pop()[0]
            _mapped.append((start, end))
    return _within(address, size)


def _within(address: int, size: int) -> bool:
    return any(start <= address and address + size <= end for start, end in _mapped)


def _of_host(address: int, size: int, readonly: bool, what: Any) -> memoryview:
    if size and not is_mapped(address, size):
        raise WrongBuffer(
            "invalid-argument",
            f"the memory of {type(what).__name__} is on another device; copy it to the host first",
        )
    return at_address(address, size, readonly)


def of_dlpack(given: Any) -> tuple[memoryview, str]:
    """The bytes of a tensor, and a letter or a kind and size for its elements."""
    kind, _ = given.__dlpack_device__()
    stream = None if kind == HOST else -1
    try:
        capsule = given.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:
        capsule = given.__dlpack__(stream=stream)
    name = next((each for each in TENSORS if _name(capsule, each.encode())), None)
    if name is None:
        raise WrongBuffer("invalid-argument", "a capsule that holds no DLPack tensor")
    holder = Versioned if name == TENSORS[0] else Managed
    managed: Any = holder.from_address(_pointer(capsule, name.encode()))
    tensor = managed.tensor
    width = (tensor.bits + 7) // 8 * tensor.lanes
    shape = [tensor.shape[dim] for dim in range(tensor.ndim)]
    count = 1
    for size in shape:
        count *= size
    strides = [tensor.strides[dim] for dim in range(tensor.ndim)] if tensor.strides else None
    _check_strides(shape, strides, 1)
    readonly = holder is Versioned and bool(managed.flags & READ_ONLY)
    start = (tensor.data or 0) + tensor.byte_offset
    is_host = kind == HOST
    view = (
        at_address(start, count * width, readonly)
        if is_host
        else _of_host(start, count * width, readonly, given)
    )
    letters = KINDS.get(tensor.code, "V")
    if letters == "f" and tensor.lanes == 2:
        letters = "c"
    return view, f"{letters}{width}"


def _check_strides(shape: list[int], strides: list[int] | None, unit: int) -> None:
    """Refuse an array with gaps."""
    if strides is None or 0 in shape:
        return
    for order in (range(len(shape) - 1, -1, -1), range(len(shape))):
        step = unit
        for dim in order:
            if shape[dim] != 1 and strides[dim] != step:
                break
            step *= shape[dim]
        else:
            return
    raise WrongBuffer("invalid-argument", "the buffer is not contiguous")


def of_cuda_interface(given: Any) -> tuple[memoryview, str]:
    """The same of an object with `__cuda_array_interface__`."""
    said = given.__cuda_array_interface__
    address, readonly = said.get("data") or (0, False)
    kind = said["typestr"]
    if kind[0] == ">":
        raise WrongBuffer("invalid-argument", f"elements `{kind}` with foreign byte order")
    if said.get("mask") is not None:
        raise WrongBuffer("invalid-argument", "an array with a mask")
    width, shape = int(kind[2:]), list(said["shape"])
    count = 1
    for size in shape:
        count *= size
    strides = said.get("strides")
    _check_strides(shape, None if strides is None else list(strides), width)
    return _of_host(address or 0, count * width, bool(readonly), given), kind[1:]


def memory_of(given: Any, call: str) -> tuple[memoryview, str]:
    """The bytes of an object, and a letter for its elements, if it has one."""
    if isinstance(given, BYTES):
        return memoryview(given), ""
    try:
        view = memoryview(given)
    except BufferError as error:
        raise WrongBuffer("invalid-argument", f"{call}: {error}") from error
    except (TypeError, ValueError) as error:
        if hasattr(given, "__dlpack_device__"):
            return of_dlpack(given)
        if hasattr(given, "__cuda_array_interface__"):
            return of_cuda_interface(given)
        raise wrong_type(f"{call}: {type(given).__name__} is no buffer") from error
    form = view.format
    if form in SIMPLE and view.c_contiguous and view.nbytes:
        if form != "B":
            return view.cast("B"), form
        letter = "" if isinstance(given, memoryview) else form
        return (view if view.ndim == 1 else view.cast("B")), letter
    if not view.c_contiguous and not view.f_contiguous:
        raise WrongBuffer("invalid-argument", f"{call}: the buffer is not contiguous")
    letter = "" if isinstance(given, memoryview) and form == "B" else form
    if letter[:1] == ">":
        text = f"{call}: elements `{letter}` with foreign byte order"
        raise WrongBuffer("invalid-argument", text)
    if hasattr(given, "dtype"):  # complex numbers and records cannot be cast by memoryview
        flat = given.reshape(-1, order="F" if not view.c_contiguous else "C")
        view = memoryview(flat.view("u1"))
    elif not view.c_contiguous:
        raise WrongBuffer("invalid-argument", f"{call}: the buffer is not contiguous")
    return view.cast("B") if view.format != "B" or view.ndim != 1 else view, letter


def address_of(view: memoryview) -> int:
    """Where a view begins; 0 for one that is empty."""
    if not view.nbytes:
        return 0
    if not view.readonly:
        return ctypes.addressof(ctypes.c_char.from_buffer(view))
    return _readonly_address(view)


class PyBuffer(ctypes.Structure):
    """The beginning of a request for memory, as the interpreter fills it in."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("rest", ctypes.c_char * 128),
    )


def _readonly_address(view: memoryview) -> int:
    request = PyBuffer()
    ctypes.pythonapi.PyObject_GetBuffer(
        ctypes.py_object(view), ctypes.byref(request), ctypes.c_int(0)
    )
    address = int(request.buf or 0)
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(request))
    return address


def checked_size(size: Any) -> int:
    """Bytes to allocate."""
    try:
        number = int(size.__index__())
    except AttributeError:
        raise wrong_type(f"{size!r} is no number of bytes") from None
    if number < 0:
        raise wrong_value(f"a negative number of bytes ({number})")
    return number
