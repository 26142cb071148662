"""`MPI.Op`: what reductions do with two contributions."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from presage.frontends.mpi.core.error_codes import CODES
from presage.frontends.mpi.core.mistakes import MPIException, invalid, wrong_type, wrong_value
from presage.frontends.mpi.core.numbered import StateHandle, family
from presage.frontends.mpi.core.rank import current_rank, enter_call
from presage.frontends.mpi.data.buffers import Data, buffer
from presage.frontends.mpi.data.long_double import fold_long
from presage.frontends.mpi.data.memory import Memory
from presage.frontends.mpi.data.predefined import NAMED, TYPES

FORMS = {sign: form for sign, (form, _) in NAMED.items()}


class OpState:
    """An operation, however many handles stand for it."""

    def __init__(self, name: str, function: Callable[..., Any], own: bool = False) -> None:
        self.name = name
        self.function = function
        self.own = own
        self.commutes = True
        self.handle = current_rank().keep(f"operation {name}") if own else 0
        self.freed = False


@family
class Op(StateHandle):
    """An operation; called with two objects it gives the result."""

    _state: OpState | None

    def __new__(cls, op: Any = None) -> Any:
        return cls._copied(op)

    @property
    def name(self) -> str:
        return "OP_NULL" if self._state is None else self._state.name

    def __repr__(self) -> str:
        return f"MPI.{self.name}"

    def __call__(self, x: Any, y: Any) -> Any:
        state = self._used("a call")
        return state.function(x, y, None) if state.own else state.function(x, y)

    def _used(self, call: str) -> OpState:
        if self._state is None or self._state.freed:
            why = "is no operation" if self._state is None else "was freed before"
            raise invalid(f"{call}: {self!r} {why}", "ERR_OP")
        return self._state

    @classmethod
    def Create(cls, function: Callable[..., Any], commute: bool = False) -> Any:
        """An operation of the script, given (in, inout, datatype); for objects that is None."""
        enter_call("Op.Create")
        if not callable(function):
            raise wrong_type(f"Op.Create: {function!r} is no function")
        name = f"Op.Create({getattr(function, '__name__', 'function')})"
        state = OpState(name, function, own=True)
        state.commutes = bool(commute)
        return cls._of(state)

    def Free(self) -> None:
        """Let go of it."""
        call = enter_call("Op.Free")
        state = self._used(call)
        if not state.own:
            raise invalid(f"{call}: {self!r} cannot be freed", "ERR_OP")
        state.freed = True
        current_rank().drop(state.handle)

    def Is_commutative(self) -> bool:
        """Whether the order of two makes no difference."""
        return self._used("Is_commutative").commutes

    def Is_predefined(self) -> bool:
        """Whether the standard names it."""
        return self._state is None or not self._state.own

    is_commutative = property(Is_commutative)
    is_predefined = property(Is_predefined)

    def Reduce_local(self, inbuf: Any, inoutbuf: Any) -> None:
        """Fold one buffer into another."""
        call = enter_call("Reduce_local", op=self)
        out, into = buffer(inbuf, call), buffer(inoutbuf, call)
        if (out.sign, out.elements) != (into.sign, into.elements):
            raise wrong_value(f"{call}: the buffers differ in type or length")
        into.write(self.fold_data([out.read(), into.read()], call), call)

    def check(self, call: str) -> None:
        """Refuse what is no operation."""
        self._used(call)

    def fold(self, values: Sequence[Any]) -> Any:
        """All objects into one, in the order of ranks."""
        return reduce(self, values)

    def fold_data(self, parts: Sequence[Data], call: str) -> Data:
        """All buffers into one, element by element, in the order of ranks."""
        sign, elements, total = parts[0]
        state = self._used(call)
        for _, _, data in parts[1:]:
            if state.own:
                inout = bytearray(data)
                state.function(Memory(total), Memory(inout), of_sign(sign))
                total = bytes(inout)
            elif state.name in ("REPLACE", "NO_OP"):
                total = data if state.name == "REPLACE" else total
            else:
                total = self._elementwise(sign, elements, total, data, call)
        return sign, elements, total

    def _elementwise(self, sign: str, elements: int, one: bytes, two: bytes, call: str) -> bytes:
        bad = sign in ("char", "wchar", "packed") or "+" in sign
        complex_ = sign in ("c8", "c16", "c32")
        bad |= (sign[0] == "f" or complex_) and self.name in (*BITWISE, *LOGICAL)
        bad |= complex_ and self.name in ("MAX", "MIN")
        bad |= ("i4" in sign[1:]) != (self.name in ("MAXLOC", "MINLOC"))
        if bad:
            text = f"{call}: {self!r} of elements {sign}"
            raise MPIException("invalid-argument", text, CODES["ERR_OP"])
        if sign in ("f16", "c32", "f16i4"):
            return fold_long(self.name, sign, one, two)
        items = zip(numbers(sign, elements, one), numbers(sign, elements, two), strict=True)
        return as_bytes(sign, [self(x, y) for x, y in items])


def of_sign(sign: str) -> Any:
    """The first type with elements of a sign."""
    return TYPES[NAMED[sign][1].split()[0]]


def width_of(sign: str) -> tuple[int, int]:
    """Bytes of the elements of a sign taken once, and how many they are."""
    signs = sign.split("+")
    return sum(struct.calcsize(f"={FORMS[each]}") for each in signs), len(signs)


def numbers(sign: str, elements: int, data: bytes) -> list[Any]:
    """The elements of a buffer as Python's numbers; pairs as tuples."""
    form = FORMS[sign]
    flat = struct.unpack("=" + form * elements, data)
    if len(form) == 1:
        return list(flat)
    pairs = list(zip(flat[::2], flat[1::2], strict=True))
    return [complex(*pair) for pair in pairs] if sign in ("c8", "c16") else pairs


def as_bytes(sign: str, values: list[Any]) -> bytes:
    """Numbers as a buffer holds them; whole numbers wrap around as in C."""
    form = FORMS[sign]
    if len(form) == 2:
        pairs = [(v.real, v.imag) if isinstance(v, complex) else v for v in values]
        return struct.pack("=" + form * len(values), *(part for pair in pairs for part in pair))
    if sign[0] in "iub" and sign != "bool":
        bits = 8 * struct.calcsize(f"={form}")
        low = -(1 << bits - 1) if sign[0] == "i" else 0
        values = [(int(v) - low) % (1 << bits) + low for v in values]
    return struct.pack("=" + form * len(values), *values)


def _located(better: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    def choose(x: Any, y: Any) -> Any:
        if x[0] == y[0]:
            return y if y[1] < x[1] else x
        return x if better(x[0], y[0]) else y

    return choose


BITWISE = ("BAND", "BOR", "BXOR")
LOGICAL = ("LAND", "LOR", "LXOR")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "SUM": operator.add,
    "PROD": operator.mul,
    "MAX": max,
    "MIN": min,
    "LAND": lambda x, y: bool(x) and bool(y),
    "LOR": lambda x, y: bool(x) or bool(y),
    "LXOR": lambda x, y: bool(x) != bool(y),
    "BAND": operator.and_,
    "BOR": operator.or_,
    "BXOR": operator.xor,
    "MAXLOC": _located(operator.gt),
    "MINLOC": _located(operator.lt),
    "REPLACE": lambda x, y: y,
    "NO_OP": lambda x, y: x,
}
OPS: dict[str, Any] = {name: Op._of(OpState(name, made)) for name, made in FUNCTIONS.items()}
OPS["OP_NULL"] = Op()
for _name in ("REPLACE", "NO_OP"):
    OPS[_name]._state.commutes = False
