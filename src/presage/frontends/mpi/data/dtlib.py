"""`mpi4py.util.dtlib`: MPI's datatypes as NumPy's, and the other way round."""

from __future__ import annotations

import importlib
from typing import Any

from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.data.datatype import TYPES, Datatype, by_letter

OTHER = {"char": "S1", "byte": "u1", "bool": "?", "f16": "g", "c32": "G"}
PAIRS = ("i4i4", "f4i4", "f8i4", "i8i4")


def to_numpy_dtype(datatype: Datatype) -> Any:
    """The dtype of one item; a derived type is a record with gaps, or an array of its elements."""
    numpy: Any = importlib.import_module("numpy")
    call = enter_call("to_numpy_dtype", datatype=datatype)
    datatype.check(call, committed=False)
    sign = datatype.basic.sign
    if sign in PAIRS:
        one, two = sign[:2], sign[2:]
        basic = numpy.dtype({"names": ["f0", "f1"], "formats": [one, two]})
    else:
        basic = numpy.dtype(OTHER.get(sign, sign))
    if datatype.offsets == (0,) and datatype.span == 1:
        return basic
    if datatype.offsets == tuple(range(datatype.span)):
        return numpy.dtype((basic, (datatype.span,)))
    width = datatype.basic.width
    return numpy.dtype(
        {
            "names": [f"f{at}" for at in range(len(datatype.offsets))],
            "formats": [basic] * len(datatype.offsets),
            "offsets": [offset * width for offset in datatype.offsets],
            "itemsize": datatype.span * width,
        }
    )


def from_numpy_dtype(dtype: Any) -> Datatype:
    """The datatype of one item of a NumPy array."""
    numpy: Any = importlib.import_module("numpy")
    call = enter_call("from_numpy_dtype", dtype=dtype)
    given = numpy.dtype(dtype)
    if given.subdtype is not None:
        basic, shape = given.subdtype
        return from_numpy_dtype(basic).Create_contiguous(int(numpy.prod(shape)))
    if given.fields is not None:
        raise invalid(f"{call}: records have no datatype in presage's mpi4py")
    if given.kind == "S" and given.itemsize == 1:
        return TYPES["CHAR"]
    letter = f"Z{given.char.lower()}" if given.kind == "c" else given.char
    return by_letter(letter)


FUNCTIONS = {"to_numpy_dtype": to_numpy_dtype, "from_numpy_dtype": from_numpy_dtype}
