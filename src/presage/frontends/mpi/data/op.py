"""`MPI.Op`: what reductions do with two contributions."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from presage.frontends.mpi.core.mistakes import MPIException, invalid
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.data.buffers import Data, buffer
from presage.frontends.mpi.data.datatype import TYPES, Datatype


class Op:
    """An operation; called with two objects it gives the result."""

    def __init__(self, name: str, function: Callable[..., Any] | None, own: bool = False) -> None:
        self.name = name
        self._function = function
        self._own = own
        self.commutes = True
        self._handle = current_rank().keep(f"operation {name}") if own else 0
        self.freed = False

    def __repr__(self) -> str:
        return f"MPI.{self.name}"

    def __reduce__(self) -> Any:
        if self._own:
            raise ValueError(f"{self!r} cannot be sent to another rank")
        return _by_name, (self.name,)

    def __call__(self, x: Any, y: Any) -> Any:
        if self._function is None:
            raise invalid(f"{self!r} is no operation")
        return self._function(x, y, None) if self._own else self._function(x, y)

    @classmethod
    def Create(cls, function: Callable[..., Any], commute: bool = False) -> Op:
        """An operation of the script, given (in, inout, datatype); for objects that is None."""
        enter_call("Op.Create")
        op = cls(f"Op.Create({getattr(function, '__name__', 'function')})", function, own=True)
        op.commutes = commute
        return op

    def Free(self) -> None:
        if not self._own or self.freed:
            raise invalid(f"{enter_call('Op.Free')}: {self!r} cannot be freed")
        self.freed = True
        current_rank().drop(self._handle)

    def Is_commutative(self) -> bool:
        return self.commutes

    def Is_predefined(self) -> bool:
        return not self._own

    is_commutative = property(Is_commutative)
    is_predefined = property(Is_predefined)

    def Reduce_local(self, inbuf: Any, inoutbuf: Any) -> None:
        """Fold one buffer into another."""
        call = enter_call("Reduce_local", op=self)
        out, into = buffer(inbuf, call), buffer(inoutbuf, call)
        if (out.sign, out.elements) != (into.sign, into.elements):
            raise invalid(f"{call}: the buffers differ in type or length")
        into.write(self.fold_data([out.read(), into.read()], call), call)

    def check(self, call: str) -> None:
        if self._function is None or self.freed:
            why = "was freed before" if self.freed else "is no operation"
            raise invalid(f"{call}: {self!r} {why}")

    def fold(self, values: Sequence[Any]) -> Any:
        """All objects into one, in the order of ranks."""
        return reduce(self, values)

    def fold_data(self, parts: Sequence[Data], call: str) -> Data:
        """All buffers into one, element by element, in the order of ranks."""
        sign, elements, total = parts[0]
        for _, _, data in parts[1:]:
            if self._own:
                inout = bytearray(data)
                assert self._function is not None
                self._function(memoryview(total), memoryview(inout), of_sign(sign))
                total = bytes(inout)
            else:
                total = self._elementwise(sign, elements, total, data, call)
        return sign, elements, total

    def _elementwise(self, sign: str, elements: int, one: bytes, two: bytes, call: str) -> bytes:
        if sign in ("char", "null", "f16", "c32") or (sign[0] in "fc" and self.name in BITWISE):
            raise MPIException("invalid-argument", f"{call}: {self!r} of elements {sign}")
        items = zip(numbers(sign, elements, one), numbers(sign, elements, two), strict=True)
        return as_bytes(sign, [self(x, y) for x, y in items])


def of_sign(sign: str) -> Datatype:
    return next(kind for kind in TYPES.values() if kind.basic.sign == sign)


def numbers(sign: str, elements: int, data: bytes) -> list[Any]:
    """The elements of a buffer as Python's numbers; pairs as tuples."""
    form = of_sign(sign).basic.form
    flat = struct.unpack("=" + form * elements, data)
    if len(form) == 1:
        return list(flat)
    pairs = list(zip(flat[::2], flat[1::2], strict=True))
    return [complex(*pair) for pair in pairs] if sign in ("c8", "c16") else pairs


def as_bytes(sign: str, values: list[Any]) -> bytes:
    """Numbers as a buffer holds them; whole numbers wrap around as in C."""
    form = of_sign(sign).basic.form
    if len(form) == 2:
        pairs = [(v.real, v.imag) if isinstance(v, complex) else v for v in values]
        return struct.pack("=" + form * len(values), *(part for pair in pairs for part in pair))
    if sign[0] in "iub" and sign != "bool":
        bits = 8 * struct.calcsize(f"={form}")
        low = -(1 << bits - 1) if sign[0] == "i" else 0
        values = [(int(v) - low) % (1 << bits) + low for v in values]
    return struct.pack("=" + form * len(values), *values)


def _by_name(name: str) -> Op:
    return OPS[name]


def _located(better: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    def choose(x: Any, y: Any) -> Any:
        if x[0] == y[0]:
            return y if y[1] < x[1] else x
        return x if better(x[0], y[0]) else y

    return choose


BITWISE = ("BAND", "BOR", "BXOR")
OPS = {
    "SUM": Op("SUM", operator.add),
    "PROD": Op("PROD", operator.mul),
    "MAX": Op("MAX", max),
    "MIN": Op("MIN", min),
    "LAND": Op("LAND", lambda x, y: bool(x) and bool(y)),
    "LOR": Op("LOR", lambda x, y: bool(x) or bool(y)),
    "LXOR": Op("LXOR", lambda x, y: bool(x) != bool(y)),
    "BAND": Op("BAND", operator.and_),
    "BOR": Op("BOR", operator.or_),
    "BXOR": Op("BXOR", operator.xor),
    "MAXLOC": Op("MAXLOC", _located(operator.gt)),
    "MINLOC": Op("MINLOC", _located(operator.lt)),
    "REPLACE": Op("REPLACE", lambda x, y: y),
    "NO_OP": Op("NO_OP", lambda x, y: x),
    "OP_NULL": Op("OP_NULL", None),
}
