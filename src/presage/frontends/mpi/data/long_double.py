"""Reductions of long doubles, which Python has no numbers for: by NumPy, as it has arrays of them.

Without NumPy they are rounded to doubles on the way.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

WIDTH = 16


def fold_long(op: str, sign: str, one: bytes, two: bytes) -> bytes:
    """Element by element; of pairs with an index, the better one."""
    if sign == "f16i4":
        return _pairs(op, one, two)
    if importlib.util.find_spec("numpy") is None:
        return _rounded(op, one, two)
    numpy: Any = importlib.import_module("numpy")
    kind = "g" if sign == "f16" else "G"
    x, y = numpy.frombuffer(one, kind), numpy.frombuffer(two, kind)
    by = {"SUM": numpy.add, "PROD": numpy.multiply, "MAX": numpy.maximum, "MIN": numpy.minimum}
    result: bytes = by[op](x, y).tobytes()
    return result


PLAIN: dict[str, Callable[[float, float], float]] = {
    "SUM": lambda x, y: x + y,
    "PROD": lambda x, y: x * y,
    "MAX": max,
    "MIN": min,
}


def value(data: bytes) -> float:
    """As near as a double comes."""
    return float(ctypes.c_longdouble.from_buffer_copy(data[:WIDTH]).value)


def _rounded(op: str, one: bytes, two: bytes) -> bytes:
    parts = range(0, len(one), WIDTH)
    return b"".join(
        bytes(ctypes.c_longdouble(PLAIN[op](value(one[at:]), value(two[at:])))) for at in parts
    )


def _pairs(op: str, one: bytes, two: bytes) -> bytes:
    size = WIDTH + 4
    return b"".join(
        _better(op, one[at : at + size], two[at : at + size]) for at in range(0, len(one), size)
    )


def _better(op: str, one: bytes, two: bytes) -> bytes:
    x, y = value(one), value(two)
    if x == y:
        return min(one, two, key=lambda pair: int.from_bytes(pair[WIDTH:], "little", signed=True))
    return one if (x > y) == (op == "MAXLOC") else two
