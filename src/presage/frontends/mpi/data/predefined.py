"""The datatypes that the standard names, and the letters that stand for them."""

from __future__ import annotations

import struct
from functools import partial
from typing import Any

from presage.frontends.mpi.data import layout as layouts
from presage.frontends.mpi.data.datatype import Datatype
from presage.frontends.mpi.data.layout import Basic, Layout
from presage.frontends.mpi.data.type_handle import TypeHandle, TypeState

ALIASES = {
    "UINT": "UNSIGNED",
    "UNSIGNED_INT": "UNSIGNED",
    "SIGNED_SHORT": "SHORT",
    "SIGNED_INT": "INT",
    "SIGNED_LONG": "LONG",
    "SIGNED_LONG_LONG": "LONG_LONG",
    "BOOL": "C_BOOL",
    **{f"SINT{bits}_T": f"INT{bits}_T" for bits in (8, 16, 32, 64)},
    "F_BOOL": "LOGICAL",
    "F_INT": "INTEGER",
    "F_FLOAT": "REAL",
    "F_DOUBLE": "DOUBLE_PRECISION",
    "F_COMPLEX": "COMPLEX",
    "F_FLOAT_COMPLEX": "COMPLEX",
    "F_DOUBLE_COMPLEX": "DOUBLE_COMPLEX",
    # Not everywhere.
    **dict.fromkeys(("INTEGER16", "LOGICAL16", "REAL2", "COMPLEX4", "BFLOAT16_T"), "DATATYPE_NULL"),
}
NAMED = {
    "i1": ("b", "SIGNED_CHAR INT8_T INTEGER1 LOGICAL1"),
    "u1": ("B", "UNSIGNED_CHAR UINT8_T"),
    "char": ("B", "CHAR CHARACTER"),
    "byte": ("B", "BYTE"),
    "packed": ("B", "PACKED"),
    "i2": ("h", "SHORT INT16_T INTEGER2 LOGICAL2"),
    "u2": ("H", "UNSIGNED_SHORT UINT16_T"),
    "i4": ("i", "INT INT32_T INTEGER INTEGER4 LOGICAL LOGICAL4"),
    "u4": ("I", "UNSIGNED UINT32_T"),
    "wchar": ("I", "WCHAR"),
    "i8": ("q", "LONG LONG_LONG INT64_T INTEGER8 LOGICAL8 AINT OFFSET COUNT"),
    "u8": ("Q", "UNSIGNED_LONG UNSIGNED_LONG_LONG UINT64_T"),
    "f2": ("e", "FLOAT16_T"),
    "f4": ("f", "FLOAT FLOAT32_T REAL REAL4"),
    "f8": ("d", "DOUBLE FLOAT64_T DOUBLE_PRECISION REAL8"),
    "c8": ("ff", "C_FLOAT_COMPLEX C_COMPLEX COMPLEX COMPLEX8 CXX_FLOAT_COMPLEX"),
    "c16": ("dd", "C_DOUBLE_COMPLEX DOUBLE_COMPLEX COMPLEX16 CXX_DOUBLE_COMPLEX"),
    "f16": ("16s", "LONG_DOUBLE REAL16"),
    "c32": ("32s", "C_LONG_DOUBLE_COMPLEX CXX_LONG_DOUBLE_COMPLEX COMPLEX32"),
    "bool": ("?", "C_BOOL CXX_BOOL"),
    "i2i4": ("hi", "SHORT_INT"),
    "f16i4": ("16si", "LONG_DOUBLE_INT"),
    "i4i4": ("ii", "INT_INT TWOINT"),
    "f4i4": ("fi", "FLOAT_INT"),
    "f8i4": ("di", "DOUBLE_INT"),
    "i8i4": ("qi", "LONG_INT"),
}
# Pairs are structures of C, with the gaps that it leaves.
PADDED = {"i2i4": (((0, 2), (4, 4)), 8, 4), "f16i4": (((0, 20),), 32, 16)}
PADDED |= {"f8i4": (((0, 12),), 16, 8), "i8i4": (((0, 12),), 16, 8)}


def _same(layout: Layout) -> Layout:
    return layout


def _predefined() -> dict[str, Any]:
    types: dict[str, Any] = {"DATATYPE_NULL": Datatype()}
    for sign, (form, names) in NAMED.items():
        basic = Basic(sign, form, struct.calcsize(f"={form}"))
        align = 16 if "16s" in form or "32s" in form else struct.calcsize(form[-1])
        align = max(align, struct.calcsize(form[0]) if not form[0].isdigit() else 16)
        runs, extent, align = PADDED.get(sign, (((0, basic.width),), basic.width, align))
        layout = layouts.of_basic(basic, runs, extent, align)
        for name in names.split():
            types[name] = Datatype._of(TypeState(name, "NAMED", partial(_same, layout)))
    return types | {name: types[known] for name, known in ALIASES.items()}


TYPES = _predefined()
BYTE = TYPES["BYTE"]
TypeHandle.named.update(TYPES)

# The letters of the buffer protocol, in native sizes, and NumPy's.
LETTERS = {
    "b": "SIGNED_CHAR",
    "B": "UNSIGNED_CHAR",
    "c": "CHAR",
    "?": "C_BOOL",
    "h": "SHORT",
    "H": "UNSIGNED_SHORT",
    "i": "INT",
    "I": "UNSIGNED",
    "l": "LONG",
    "L": "UNSIGNED_LONG",
    "q": "LONG_LONG",
    "Q": "UNSIGNED_LONG_LONG",
    "e": "FLOAT16_T",
    "f": "FLOAT",
    "d": "DOUBLE",
    "g": "LONG_DOUBLE",
    "n": "COUNT",
    "N": "UNSIGNED_LONG",
    "p": "AINT",
    "P": "UNSIGNED_LONG",
    **dict.fromkeys(("Zf", "F", "c8"), "C_FLOAT_COMPLEX"),
    **dict.fromkeys(("Zd", "D", "c16"), "C_DOUBLE_COMPLEX"),
    **dict.fromkeys(("Zg", "G", "c32"), "C_LONG_DOUBLE_COMPLEX"),
    **dict.fromkeys(("a", "S", "S1", "s", "1s"), "CHAR"),
    **dict.fromkeys(("U", "U1", "w", "1w"), "WCHAR"),
    **dict.fromkeys(("u", "1u"), "UINT16_T"),
    **dict.fromkeys(("M", "M8", "m", "m8"), "INT64_T"),
    **{f"i{bits // 8}": f"INT{bits}_T" for bits in (8, 16, 32, 64)},
    **{f"u{bits // 8}": f"UINT{bits}_T" for bits in (8, 16, 32, 64)},
    "b1": "C_BOOL",
    "f2": "FLOAT16_T",
    "f4": "FLOAT",
    "f8": "DOUBLE",
    "f16": "LONG_DOUBLE",
}
TypeHandle.codes.update({letter: TYPES[name] for letter, name in LETTERS.items()})
