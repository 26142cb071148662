"""`MPI.Datatype`: what buffers hold. Derived types are patterns of elements of one basic type."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from presage.frontends.mpi.core.mistakes import invalid
from presage.frontends.mpi.core.rank import current_rank, enter_call


class Basic(NamedTuple):
    """What MPI compares: two types with the same `sign` hold the same."""

    sign: str
    form: str  # of one element, for `struct`; complex numbers and pairs have two
    width: int


class Datatype:
    """A type of element in a buffer."""

    def __init__(
        self,
        name: str,
        basic: Basic,
        offsets: tuple[int, ...] = (0,),
        extent: int = 1,
        predefined: bool = False,
    ) -> None:
        self.name = name
        self.basic = basic
        self.offsets = offsets  # of the basic elements of one, counted in basic elements
        self.span = extent  # from one to the next, likewise
        self.predefined = predefined
        self.committed = predefined
        self.freed = False
        self._handle = 0 if predefined else current_rank().keep(f"datatype {name}")

    def __repr__(self) -> str:
        return f"MPI.{self.name}" if self.predefined else f"<{self.name} of {self.basic.sign}>"

    def __reduce__(self) -> Any:
        if not self.predefined:
            raise ValueError(f"{self!r} cannot be sent to another rank")
        return _by_name, (self.name,)

    def Get_size(self) -> int:
        return self.basic.width * len(self.offsets)

    def Get_extent(self) -> tuple[int, int]:
        return 0, self.span * self.basic.width

    def Get_name(self) -> str:
        return f"MPI_{self.name}"

    def Set_name(self, name: str) -> None:
        self.name = name

    def Commit(self) -> Datatype:
        self.committed = True
        return self

    def Free(self) -> None:
        if self.predefined or self.freed:
            raise invalid(f"{enter_call('Datatype.Free')}: {self!r} cannot be freed")
        self.freed = True
        current_rank().drop(self._handle)

    def Is_predefined(self) -> bool:
        return self.predefined

    def Dup(self) -> Datatype:
        enter_call("Datatype.Dup")
        copy = Datatype(self.name, self.basic, self.offsets, self.span)
        copy.committed = self.committed
        return copy

    def Create_contiguous(self, count: int) -> Datatype:
        return self._derived("contiguous", [at * self.span for at in range(count)])

    def Create_vector(self, count: int, blocklength: int, stride: int) -> Datatype:
        blocks = [(blocklength, at * stride) for at in range(count)]
        return self._derived("vector", self._starts(blocks))

    def Create_indexed(self, blocklengths: Any, displacements: Any) -> Datatype:
        blocks = list(zip(blocklengths, displacements, strict=True))
        return self._derived("indexed", self._starts(blocks))

    def Create_indexed_block(self, blocklength: int, displacements: Any) -> Datatype:
        return self._derived(
            "indexed_block", self._starts([(blocklength, at) for at in displacements])
        )

    def Create_resized(self, lb: int, extent: int) -> Datatype:
        enter_call("Create_resized", lb=lb, extent=extent)
        if lb or extent % self.basic.width:
            raise invalid(f"Create_resized(lb={lb}, extent={extent}): only whole elements from 0")
        return Datatype("resized", self.basic, self.offsets, extent // self.basic.width)

    def _starts(self, blocks: list[tuple[int, int]]) -> list[int]:
        return [(at + i) * self.span for length, at in blocks for i in range(length)]

    def _derived(self, name: str, starts: list[int]) -> Datatype:
        call = enter_call(f"Create_{name}")
        self.check(call, committed=False)
        offsets = tuple(int(start) + offset for start in starts for offset in self.offsets)
        if any(offset < 0 for offset in offsets):
            raise invalid(f"{call}: elements before the beginning of the buffer")
        return Datatype(name, self.basic, offsets, max(offsets, default=-1) + 1)

    def check(self, call: str, committed: bool = True) -> None:
        """Refuse a type that cannot be used."""
        if self.name == "DATATYPE_NULL":
            raise invalid(f"{call}: the datatype is DATATYPE_NULL")
        if self.freed:
            raise invalid(f"{call}: the datatype {self!r} was freed before")
        if committed and not self.committed:
            raise invalid(f"{call}: the datatype {self!r} was not committed")

    size = property(Get_size)
    extent = property(lambda self: self.span * self.basic.width)
    is_predefined = property(Is_predefined)


def _basic(name: str, sign: str, form: str) -> tuple[str, Datatype]:
    width = struct.calcsize(f"={form}") if form else 0
    return name, Datatype(name, Basic(sign, form, width), predefined=True)


ALIASES = {
    "UINT": "UNSIGNED",
    "UNSIGNED_INT": "UNSIGNED",
    "SIGNED_SHORT": "SHORT",
    "SIGNED_INT": "INT",
    "SIGNED_LONG": "LONG",
    "SIGNED_LONG_LONG": "LONG_LONG",
    **{f"SINT{bits}_T": f"INT{bits}_T" for bits in (8, 16, 32, 64)},
    "F_BOOL": "LOGICAL",
    "F_INT": "INTEGER",
    "F_FLOAT": "REAL",
    "F_DOUBLE": "DOUBLE_PRECISION",
    "F_COMPLEX": "COMPLEX",
    "F_FLOAT_COMPLEX": "COMPLEX",
    "F_DOUBLE_COMPLEX": "DOUBLE_COMPLEX",
    **dict.fromkeys(("INTEGER16", "REAL2", "COMPLEX4"), "DATATYPE_NULL"),  # not everywhere
}


def _predefined() -> dict[str, Datatype]:
    named = {
        "i1": ("b", "SIGNED_CHAR INT8_T INTEGER1 LOGICAL1"),
        "u1": ("B", "UNSIGNED_CHAR UINT8_T"),
        "char": ("B", "CHAR CHARACTER"),
        "byte": ("B", "BYTE PACKED"),
        "i2": ("h", "SHORT INT16_T INTEGER2 LOGICAL2"),
        "u2": ("H", "UNSIGNED_SHORT UINT16_T"),
        "i4": ("i", "INT INT32_T INTEGER INTEGER4 LOGICAL LOGICAL4"),
        "u4": ("I", "UNSIGNED UINT32_T WCHAR"),
        "i8": ("q", "LONG LONG_LONG INT64_T INTEGER8 LOGICAL8 AINT OFFSET COUNT"),
        "u8": ("Q", "UNSIGNED_LONG UNSIGNED_LONG_LONG UINT64_T"),
        "f4": ("f", "FLOAT REAL REAL4"),
        "f8": ("d", "DOUBLE DOUBLE_PRECISION REAL8"),
        "c8": ("ff", "C_FLOAT_COMPLEX COMPLEX COMPLEX8 CXX_FLOAT_COMPLEX"),
        "c16": ("dd", "C_DOUBLE_COMPLEX C_COMPLEX DOUBLE_COMPLEX COMPLEX16 CXX_DOUBLE_COMPLEX"),
        "f16": ("16s", "LONG_DOUBLE REAL16"),
        "c32": ("32s", "C_LONG_DOUBLE_COMPLEX CXX_LONG_DOUBLE_COMPLEX COMPLEX32"),
        "bool": ("?", "C_BOOL BOOL CXX_BOOL"),
        "i2i4": ("hi", "SHORT_INT"),
        "f16i4": ("16si", "LONG_DOUBLE_INT"),
        "i4i4": ("ii", "INT_INT TWOINT"),
        "f4i4": ("fi", "FLOAT_INT"),
        "f8i4": ("di", "DOUBLE_INT"),
        "i8i4": ("qi", "LONG_INT"),
        "null": ("", "DATATYPE_NULL"),
    }
    types = dict(
        _basic(name, sign, form) for sign, (form, names) in named.items() for name in names.split()
    )
    return types | {name: types[known] for name, known in ALIASES.items()}


TYPES = _predefined()
BYTE = TYPES["BYTE"]

# The letters of the buffer protocol, in native sizes, and NumPy's for complex numbers.
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
    "f": "FLOAT",
    "d": "DOUBLE",
    "g": "LONG_DOUBLE",
    "Zg": "C_LONG_DOUBLE_COMPLEX",
    "Zf": "C_FLOAT_COMPLEX",
    "Zd": "C_DOUBLE_COMPLEX",
}


def _by_name(name: str) -> Datatype:
    return TYPES[name]


def by_letter(letter: str) -> Datatype:
    """The type of the elements that a buffer says it holds."""
    name = LETTERS.get(letter.lstrip("@=<"))
    if name is None:
        raise invalid(f"a buffer of elements `{letter}` has no MPI datatype")
    return TYPES[name]


def agree(sent: str, wanted: str) -> bool:
    """Whether elements of one sign may be received as the other: bytes are bytes to anyone."""
    return sent == wanted or {sent, wanted} <= {"byte", "u1", "i1", "char"}
