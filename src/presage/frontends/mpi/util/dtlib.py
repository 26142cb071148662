"""`mpi4py.util.dtlib`: MPI's datatypes as NumPy's, and the other way round."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from presage.frontends.mpi.core.mistakes import wrong_value
from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.data.datatype import ORDER_C, Datatype
from presage.frontends.mpi.data.predefined import TYPES
from presage.frontends.mpi.data.type_handle import by_letter

OTHER = {"char": "S1", "byte": "u1", "packed": "u1", "bool": "?", "f16": "g", "c32": "G"}
OTHER["wchar"] = "U1"
BLOCKS = "VECTOR HVECTOR INDEXED HINDEXED INDEXED_BLOCK HINDEXED_BLOCK".split()
PAIRS = {"i4i4": "i4", "f4i4": "f4", "f8i4": "f8", "i8i4": "i8", "i2i4": "i2", "f16i4": "g"}


def to_numpy_dtype(datatype: Any) -> Any:
    """The dtype of one item, as it was made: arrays have their shape, and blocks are fields."""
    numpy: Any = importlib.import_module("numpy")
    call = enter_call("to_numpy_dtype")
    if not datatype:
        raise wrong_value(f"{call}: {datatype!r}")
    datatype._used(call)
    return _to_numpy(numpy, datatype, call)


def _to_numpy(numpy: Any, datatype: Any, call: str) -> Any:
    state = datatype._state
    combiner, given, base = state.combiner, state.params, state.base
    if state.is_predefined:
        return _basic(numpy, datatype.layout.pattern[0].sign)
    if combiner == "STRUCT":
        parts = zip(given["blocklengths"], given["datatypes"], strict=True)
        formats = [_block(_to_numpy(numpy, each, call), length) for length, each in parts]
        return _record(numpy, formats, given["displacements"], datatype.layout.extent)
    old = _to_numpy(numpy, base, call)
    if combiner == "DUP":
        return old
    if combiner == "CONTIGUOUS":
        return numpy.dtype((old, (given["count"],)))
    if combiner == "SUBARRAY" and given["subsizes"] == given["sizes"]:
        shape = given["sizes"] if given["order"] == ORDER_C else given["sizes"][::-1]
        return numpy.dtype((old, tuple(shape)))
    if combiner == "RESIZED" and given["lb"] == 0 and old.fields is not None:
        fields = [old.fields[name] for name in old.names]
        formats, places = [each[0] for each in fields], [each[1] for each in fields]
        return _record(numpy, formats, places, given["extent"])
    if combiner not in BLOCKS:
        raise wrong_value(f"{call}: {datatype!r} is no array and no record of NumPy")
    lengths, places = _blocks(combiner, given, base.extent)
    formats = [_block(old, length) for length in lengths]
    return _record(numpy, formats, places, datatype.layout.extent)


def _basic(numpy: Any, sign: str) -> Any:
    if sign in PAIRS:
        return numpy.dtype([("f0", PAIRS[sign]), ("f1", "i4")], align=True)
    return numpy.dtype(OTHER.get(sign, sign))


def _block(one: Any, length: int) -> Any:
    return one if length == 1 else (one, (length,))


def _blocks(combiner: str, given: dict[str, Any], extent: int) -> tuple[list[int], list[int]]:
    """How many items each block has, and at which byte it begins."""
    unit = 1 if combiner.startswith("H") else extent
    places = given.get("displacements")
    if places is None:
        places = [at * given["stride"] for at in range(given["count"])]
    lengths = given.get("blocklengths") or [given["blocklength"]] * len(places)
    return lengths, [at * unit for at in places]


def _record(numpy: Any, formats: list[Any], offsets: list[int], extent: int) -> Any:
    names_ = [f"f{at}" for at in range(len(formats))]
    given = {"names": names_, "formats": formats, "offsets": offsets}
    size = max(extent, numpy.dtype(given).itemsize)  # what is before the first field counts
    made = numpy.dtype(given | {"itemsize": size})
    steps = [(made.fields[name][0].alignment, made.fields[name][1]) for name in names_]
    widest = max((step for step, _ in steps), default=1)
    if size % widest == 0 and all(at % step == 0 for step, at in steps):
        return numpy.dtype({**given, "itemsize": size, "aligned": True})
    return made


def from_numpy_dtype(dtype: Any) -> Any:
    """The datatype of one item of a NumPy array; somebody has to free it."""
    numpy: Any = importlib.import_module("numpy")
    enter_call("from_numpy_dtype")
    return _from_numpy(numpy.dtype(dtype))


def _from_numpy(given: Any) -> Any:
    if given.hasobject:
        raise ValueError("NumPy datatype with object entries")
    if not given.isnative:
        raise ValueError("NumPy datatype with non-native byteorder")
    if given.subdtype is not None:
        basic, shape = given.subdtype
        return _freeing(_from_numpy(basic), lambda old: _array(old, [int(s) for s in shape]))
    if given.fields is not None:
        return _structure(given)
    if given.kind in "SUV":
        if given.itemsize == 0:
            raise ValueError("NumPy datatype without a size")
        one = TYPES[{"S": "CHAR", "U": "WCHAR", "V": "BYTE"}[given.kind]]
        count = given.itemsize // one.Get_size()
        return one.Dup() if count == 1 and given.kind != "V" else one.Create_contiguous(count)
    return by_letter(f"Z{given.char.lower()}" if given.kind == "c" else given.char).Dup()


def _array(old: Any, shape: list[int]) -> Any:
    if len(shape) == 1:
        return old.Create_contiguous(shape[0])
    return old.Create_subarray(shape, shape, [0] * len(shape))


def _structure(given: Any) -> Any:
    fields = [given.fields[name][:2] for name in given.names]
    types = [_from_numpy(each) for each, _ in fields]
    made = Datatype.Create_struct([1] * len(types), [at for _, at in fields], types)
    for each in types:
        each.Free()
    if made.extent != given.itemsize:
        return _freeing(made, lambda old: old.Create_resized(0, given.itemsize))
    return made


def _freeing(old: Any, make: Any) -> Any:
    """A type made of another, which nobody else needs."""
    made = make(old)
    old.Free()
    return made


def names(mpi: ModuleType) -> dict[str, Any]:
    """What the module has."""
    functions = {"to_numpy_dtype": to_numpy_dtype, "from_numpy_dtype": from_numpy_dtype}
    return {"__doc__": "Convert NumPy and MPI datatypes.", **functions}
