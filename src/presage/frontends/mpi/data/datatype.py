"""`MPI.Datatype`: what buffers hold, and the calls that make new types of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.frontends.mpi.core.mistakes import invalid, wrong_value
from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.data import layout as layouts
from presage.frontends.mpi.data.constants import NUMBERS
from presage.frontends.mpi.data.packing import Packing
from presage.frontends.mpi.data.type_handle import TypeHandle, TypeState, same_length

ORDER_C, ORDER_F = NUMBERS["ORDER_C"], NUMBERS["ORDER_F"]
DISTRIBUTIONS = {
    NUMBERS["DISTRIBUTE_BLOCK"]: "block",
    NUMBERS["DISTRIBUTE_CYCLIC"]: "cyclic",
    NUMBERS["DISTRIBUTE_NONE"]: "none",
}
DEFAULT = NUMBERS["DISTRIBUTE_DFLT_DARG"]
CHARS = {
    "i1": "b",
    "u1": "B",
    "byte": "B",
    "packed": "B",
    "i2": "h",
    "u2": "H",
    "i4": "i",
    "u4": "I",
    "i8": "l",
    "u8": "L",
    "f2": "e",
    "f4": "f",
    "f8": "d",
    "f16": "g",
    "c8": "F",
    "c16": "D",
    "c32": "G",
    "bool": "?",
    "char": "c",
    "wchar": "w",
}
STRINGS = {"byte": "u1", "packed": "u1", "bool": "b1", "char": "S1", "wchar": "U1"}
CLASSES = {
    NUMBERS["TYPECLASS_LOGICAL"]: "LOGICAL",
    NUMBERS["TYPECLASS_INTEGER"]: "INTEGER",
    NUMBERS["TYPECLASS_REAL"]: "REAL",
    NUMBERS["TYPECLASS_COMPLEX"]: "COMPLEX",
}
PAIRS = {"SHORT", "INT", "LONG", "FLOAT", "DOUBLE", "LONG_DOUBLE"}  # that have one with INT


class Datatype(Packing, TypeHandle):
    """A type of element in a buffer."""

    def Create_contiguous(self, count: int) -> Any:
        """Items one after another."""
        count = _count(count)
        old = self._used("Create_contiguous").layout
        return self._derived(
            "CONTIGUOUS", {"count": count}, lambda: layouts.blocks(old, [(count, 0)])
        )

    def Create_vector(self, count: int, blocklength: int, stride: int) -> Any:
        """Blocks of items, with the same number of items from one to the next."""
        given = {"count": _count(count), "blocklength": _count(blocklength), "stride": int(stride)}
        old = self._used("Create_vector").layout
        places = [(blocklength, at * stride * old.extent) for at in range(count)]
        return self._derived("VECTOR", given, lambda: layouts.blocks(old, places))

    def Create_hvector(self, count: int, blocklength: int, stride: int) -> Any:
        """The same, with a stride in bytes."""
        given = {"count": _count(count), "blocklength": _count(blocklength), "stride": int(stride)}
        old = self._used("Create_hvector").layout
        places = [(blocklength, at * stride) for at in range(count)]
        return self._derived("HVECTOR", given, lambda: layouts.blocks(old, places))

    def Create_indexed(self, blocklengths: Any, displacements: Any) -> Any:
        """Blocks of items, wherever they are."""
        old = self._used("Create_indexed").layout
        return self._indexed("INDEXED", blocklengths, displacements, old.extent)

    def Create_hindexed(self, blocklengths: Any, displacements: Any) -> Any:
        """The same, with displacements in bytes."""
        return self._indexed("HINDEXED", blocklengths, displacements, 1)

    def Create_indexed_block(self, blocklength: int, displacements: Any) -> Any:
        """Blocks of the same length."""
        old = self._used("Create_indexed_block").layout
        return self._indexed("INDEXED_BLOCK", blocklength, displacements, old.extent)

    def Create_hindexed_block(self, blocklength: int, displacements: Any) -> Any:
        """The same, with displacements in bytes."""
        return self._indexed("HINDEXED_BLOCK", blocklength, displacements, 1)

    def _indexed(self, name: str, lengths: Any, displacements: Any, unit: int) -> Any:
        places = [int(at) for at in displacements]
        given: dict[str, Any] = {}
        if name.endswith("BLOCK"):
            given["blocklength"] = _count(lengths)
            counts = [given["blocklength"]] * len(places)
        else:
            given["blocklengths"] = counts = [_count(each) for each in lengths]
        given["displacements"] = places
        same_length(f"Create_{name.lower()}", counts, places)
        old = self._used(f"Create_{name.lower()}").layout
        parts = [(count, at * unit) for count, at in zip(counts, places, strict=True)]
        return self._derived(name, given, lambda: layouts.blocks(old, parts))

    @classmethod
    def Create_struct(cls, blocklengths: Any, displacements: Any, datatypes: Any) -> Any:
        """Blocks of several types, with displacements in bytes."""
        call = enter_call("Create_struct")
        lengths, places = [_count(each) for each in blocklengths], [int(at) for at in displacements]
        types = list(datatypes)
        same_length("Create_struct", lengths, places, types)
        for each in types:
            each._used(call)
        parts = [
            (length, at, each.layout)
            for length, at, each in zip(lengths, places, types, strict=True)
        ]
        given = {"blocklengths": lengths, "displacements": places}
        kept = {"datatypes": [each.lasting() for each in types]}
        return cls._new("STRUCT", {**given, **kept}, lambda: layouts.struct(parts))

    def Create_subarray(self, sizes: Any, subsizes: Any, starts: Any, order: int = ORDER_C) -> Any:
        """A part of an array."""
        given: dict[str, Any] = {
            "sizes": [int(each) for each in sizes],
            "subsizes": [int(each) for each in subsizes],
            "starts": [int(each) for each in starts],
            "order": order,
        }
        same_length("Create_subarray", given["sizes"], given["subsizes"], given["starts"])
        each = zip(given["sizes"], given["subsizes"], given["starts"], strict=True)
        if any(not 0 <= start <= start + part <= size for size, part, start in each):
            raise invalid(f"{enter_call('Create_subarray')}: the part is not inside of the array")
        old = self._used("Create_subarray").layout
        picks = [
            range(at, at + size)
            for at, size in zip(given["starts"], given["subsizes"], strict=True)
        ]
        return self._derived(
            "SUBARRAY",
            given,
            lambda: layouts.picked(old, given["sizes"], picks, order == ORDER_C),
        )

    def Create_darray(
        self,
        size: int,
        rank: int,
        gsizes: Any,
        distribs: Any,
        dargs: Any,
        psizes: Any,
        order: int = ORDER_C,
    ) -> Any:
        """What one process has of an array that is distributed over a grid of processes."""
        lists = [[int(each) for each in given] for given in (gsizes, distribs, dargs, psizes)]
        same_length("Create_darray", *lists)
        sizes, ways, arguments, counts = lists
        if not 0 <= rank < size or any(way not in DISTRIBUTIONS for way in ways):
            raise invalid(f"{enter_call('Create_darray')}: rank {rank} of {size}, or distribs")
        old = self._used("Create_darray").layout
        place = layouts.places_of(rank, counts)
        picks = [
            layouts.of_process(
                sizes[dim],
                counts[dim],
                place[dim],
                DISTRIBUTIONS[ways[dim]],
                None if arguments[dim] == DEFAULT else arguments[dim],
            )
            for dim in range(len(sizes))
        ]
        given = {"size": size, "rank": rank, "gsizes": sizes, "distribs": ways}
        more = {"dargs": arguments, "psizes": counts, "order": order}
        return self._derived(
            "DARRAY", {**given, **more}, lambda: layouts.picked(old, sizes, picks, order == ORDER_C)
        )

    def Create_resized(self, lb: int, extent: int) -> Any:
        """The same, with another distance from one item to the next."""
        old = self._used("Create_resized").layout
        given = {"lb": int(lb), "extent": int(extent)}
        return self._derived("RESIZED", given, lambda: layouts.resized(old, int(lb), int(extent)))

    Resized = Create_resized
    Create_dup = TypeHandle.Dup

    # Types of the standard, by what they hold.

    @classmethod
    def Get_value_index(cls, value: Any, index: Any) -> Any:
        """The pair of a value and an index; DATATYPE_NULL if there is none."""
        for each in (value, index):
            each._used("Get_value_index")
        name = value._used().name
        is_pair = name in PAIRS and index == cls.named["INT"]
        return cls.named[f"{name}_INT"] if is_pair else cls.named["DATATYPE_NULL"]

    @classmethod
    def Match_size(cls, typeclass: int, size: int) -> Any:
        """The Fortran type of a class with so many bytes."""
        call = enter_call("Match_size", typeclass=typeclass, size=size)
        found = cls.named.get(f"{CLASSES.get(typeclass)}{size}")
        if not found:
            raise invalid(f"{call}: there is no such type")
        return found

    @classmethod
    def Create_f90_integer(cls, r: int) -> Any:
        """A Fortran integer of `r` digits."""
        found = next((n for n, digits in ((1, 2), (2, 4), (4, 9), (8, 18)) if r <= digits), None)
        return cls._f90("F90_INTEGER", {"r": r}, f"INTEGER{found}" if found else None)

    @classmethod
    def Create_f90_real(cls, p: int, r: int) -> Any:
        """A Fortran real of `p` digits and exponents to `r`."""
        return cls._f90("F90_REAL", {"p": p, "r": r}, _real(p, r, ("REAL4", "REAL8", "REAL16")))

    @classmethod
    def Create_f90_complex(cls, p: int, r: int) -> Any:
        """The same, complex."""
        names = ("COMPLEX8", "COMPLEX16", "COMPLEX32")
        return cls._f90("F90_COMPLEX", {"p": p, "r": r}, _real(p, r, names))

    @classmethod
    def _f90(cls, combiner: str, given: dict[str, Any], name: str | None) -> Any:
        call = enter_call(f"Create_{combiner.lower()}", **given)
        if not name:
            raise invalid(f"{call}: there is no such type")
        state = TypeState(f"{combiner}{tuple(given.values())}", combiner, lambda: layout)
        layout = cls.named[name].layout
        state.params = given
        return cls._of(state)

    # Letters, as `struct`, `array` and NumPy use them.

    def tocode(self) -> str:
        """Its letter."""
        code = self._char()
        if code is None:
            raise wrong_value(f"{self!r} has no letter")
        return code

    def _char(self) -> str | None:
        if self._state is None:
            return None
        is_plain = self._state.is_predefined or self._state.combiner in ("DUP", "RESIZED")
        return CHARS.get(self.sign) if is_plain and self.layout.many == 1 else None

    @classmethod
    def fromcode(cls, code: str) -> Any:
        """The type of a letter."""
        found = cls.codes.get(code)
        if found is None:
            raise wrong_value(f"`{code}` stands for no MPI datatype")
        return found

    @property
    def typechar(self) -> str:
        """The character of its type in NumPy."""
        char = self._char()
        return {None: "V", "c": "S", "w": "U"}.get(char, char or "V")

    @property
    def typestr(self) -> str:
        """Kind and size, as NumPy writes them."""
        if self._char() is None:
            return f"V{0 if self._state is None else self.layout.extent}"
        return STRINGS.get(self.sign, self.sign)


def _count(given: Any) -> int:
    count = int(given.__index__())
    if count < 0:
        raise invalid(f"{enter_call('Datatype')}: a negative count ({count})", "ERR_ARG")
    return count


def _real(digits: int, exponent: int, names: Sequence[str]) -> str | None:
    limits = ((6, 37), (15, 307), (18, 4931))
    pairs = zip(limits, names, strict=True)
    return next((name for (p, r), name in pairs if digits <= p and exponent <= r), None)
