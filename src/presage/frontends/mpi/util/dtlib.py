"""`mpi4py.util.dtlib`: MPI's datatypes as NumPy's, and the other way round."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from presage.frontends.mpi.core.mistakes import wrong_value
from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.data.datatype import Datatype
from presage.frontends.mpi.data.predefined import TYPES
from presage.frontends.mpi.data.type_handle import by_letter

OTHER = {"char": "S1", "byte": "u1", "packed": "u1", "bool": "?", "f16": "g", "c32": "G"}
OTHER["wchar"] = "U1"
PAIRS = {"i4i4": "i4", "f4i4": "f4", "f8i4": "f8", "i8i4": "i8", "i2i4": "i2", "f16i4": "g"}


def to_numpy_dtype(datatype: Any) -> Any:
    """The dtype of one item; a derived type is a record with gaps, or an array of its elements."""
    numpy: Any = importlib.import_module("numpy")
    call = enter_call("to_numpy_dtype", datatype=datatype)
    datatype._used(call)
    combiner, layout = datatype._state.combiner, datatype.layout
    if layout.lower:
        raise wrong_value(f"{call}: it begins at byte {layout.lower}")
    if combiner == "STRUCT":
        return _record(numpy, datatype._state.params, layout)
    if layout.many == 1 and layout.is_dense:
        return _basic(numpy, layout.pattern[0].sign)
    if combiner == "NAMED":
        return _basic(numpy, layout.pattern[0].sign)
    if layout.is_dense and len(layout.pattern) == 1:
        return numpy.dtype((_basic(numpy, layout.pattern[0].sign), (layout.many,)))
    return _scattered(numpy, layout)


def _basic(numpy: Any, sign: str) -> Any:
    if sign in PAIRS:
        return numpy.dtype([("f0", PAIRS[sign]), ("f1", "i4")], align=True)
    return numpy.dtype(OTHER.get(sign, sign))


def _record(numpy: Any, given: dict[str, Any], layout: Any) -> Any:
    formats = []
    for length, each in zip(given["blocklengths"], given["datatypes"], strict=True):
        one = to_numpy_dtype(each)
        formats.append(one if length == 1 else (one, (length,)))
    return numpy.dtype(
        {
            "names": [f"f{at}" for at in range(len(formats))],
            "formats": formats,
            "offsets": given["displacements"],
            "itemsize": layout.extent,
            "aligned": False,
        }
    )


def _scattered(numpy: Any, layout: Any) -> Any:
    """One field for each basic element."""
    offsets, formats, at = [], [], 0
    for start, size in layout.runs:
        end = start + size
        while start < end:
            basic = layout.pattern[at % len(layout.pattern)]
            offsets.append(start)
            formats.append(_basic(numpy, basic.sign))
            start, at = start + basic.width, at + 1
    names_ = [f"f{each}" for each in range(len(offsets))]
    fields = {"names": names_, "formats": formats, "offsets": offsets}
    return numpy.dtype({**fields, "itemsize": layout.extent})


def from_numpy_dtype(dtype: Any) -> Any:
    """The datatype of one item of a NumPy array."""
    numpy: Any = importlib.import_module("numpy")
    enter_call("from_numpy_dtype", dtype=dtype)
    given = numpy.dtype(dtype)
    if given.hasobject:
        raise ValueError("NumPy datatype with object entries")
    if not given.isnative:
        raise ValueError("NumPy datatype with non-native byteorder")
    if given.subdtype is not None:
        basic, shape = given.subdtype
        return _freeing(from_numpy_dtype(basic), lambda old: _array(old, [int(s) for s in shape]))
    if given.fields is not None:
        return _structure(given)
    if given.kind in "SU":
        one = TYPES["CHAR" if given.kind == "S" else "WCHAR"]
        width = one.Get_size()
        return one if given.itemsize == width else one.Create_contiguous(given.itemsize // width)
    if given.kind == "V":
        return TYPES["BYTE"].Create_contiguous(given.itemsize)
    return by_letter(f"Z{given.char.lower()}" if given.kind == "c" else given.char)


def _array(old: Any, shape: list[int]) -> Any:
    if len(shape) == 1:
        return old.Create_contiguous(shape[0])
    return old.Create_subarray(shape, shape, [0] * len(shape))


def _structure(given: Any) -> Any:
    fields = [given.fields[name][:2] for name in given.names]
    types = [from_numpy_dtype(each) for each, _ in fields]
    made = Datatype.Create_struct([1] * len(types), [at for _, at in fields], types)
    for each in types:
        if not each.is_predefined:
            each.Free()
    if made.extent != given.itemsize:
        return _freeing(made, lambda old: old.Create_resized(0, given.itemsize))
    return made


def _freeing(old: Any, make: Any) -> Any:
    """A type made of another, which nobody else needs."""
    made = make(old)
    if not old.is_predefined:
        old.Free()
    return made


def names(mpi: ModuleType) -> dict[str, Any]:
    """What the module has."""
    functions = {"to_numpy_dtype": to_numpy_dtype, "from_numpy_dtype": from_numpy_dtype}
    return {"__doc__": "Convert NumPy and MPI datatypes.", **functions}
