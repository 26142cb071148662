"""Buffers of the upper-case calls: NumPy arrays, or whatever else has the buffer protocol.

A buffer is given as `buf`, `[buf, TYPE]`, `[buf, count, TYPE]`, `[buf, (counts, displs), TYPE]` and
the like. It is read when a message is posted and written when one is complete.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from presage.frontends.mpi.core.mistakes import MPIException, invalid
from presage.frontends.mpi.data.datatype import BYTE, Datatype, agree, by_letter

Data = tuple[str, int, bytes]  # as sent: sign of the elements, how many basic ones, their bytes


class Constant:
    """A name that stands for itself."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"MPI.{self._name}"

    def __reduce__(self) -> Any:
        return Constant, (self._name,)


IN_PLACE = Constant("IN_PLACE")
BOTTOM = Constant("BOTTOM")


def is_in_place(given: Any) -> bool:
    """Whether a call is to use the other buffer."""
    return given is None or given is IN_PLACE


@dataclass(eq=False)
class Buffer:
    """Memory with a type. `counts` and `displs` are of the parts, for calls that have parts."""

    view: memoryview  # of bytes
    datatype: Datatype
    count: int
    counts: tuple[int, ...] | None = None
    displs: tuple[int, ...] | None = None

    @property
    def sign(self) -> str:
        return self.datatype.basic.sign

    @property
    def elements(self) -> int:
        return self.count * len(self.datatype.offsets)

    def read(self, count: int | None = None, start: int = 0) -> Data:
        count = self.count if count is None else count
        width = self.datatype.basic.width
        if len(self.datatype.offsets) == self.datatype.span:
            size = width * self.datatype.span
            data = bytes(self.view[start * size : (start + count) * size])
        else:
            places = (at * width for at in self._places(count, start))
            data = b"".join(bytes(self.view[at : at + width]) for at in places)
        return self.sign, count * len(self.datatype.offsets), data

    def write(self, data: Data, call: str, count: int | None = None, start: int = 0) -> None:
        """Put a message there; it may be shorter than the place that it has."""
        sign, elements, content = data
        count = self.count if count is None else count
        if elements and not agree(sign, self.sign):
            raise MPIException(
                "type-mismatch",
                f"{call}: the message holds elements of type {sign}, the buffer {self.sign}",
            )
        room = count * len(self.datatype.offsets)
        if elements > room:
            raise MPIException(
                "count-mismatch",
                f"{call}: the message is truncated: it has {elements} elements, the buffer room"
                f" for {room}",
            )
        width = self.datatype.basic.width
        span = self.datatype.span
        if self.datatype.offsets == tuple(range(span)):
            first = start * span * width
            self.view[first : first + elements * width] = content[: elements * width]
            return
        for index, at in enumerate(self._places(count, start)[:elements]):
            self.view[at * width : (at + 1) * width] = content[index * width : (index + 1) * width]

    def _places(self, count: int, start: int) -> list[int]:
        span = self.datatype.span
        return [(start + i) * span + at for i in range(count) for at in self.datatype.offsets]

    def part(self, index: int, parts: int) -> tuple[int, int]:
        """How many items the part of a rank has, and where they begin."""
        if self.counts is not None and self.displs is not None:
            return self.counts[index], self.displs[index]
        count = self.count // parts
        return count, index * count

    @property
    def content(self) -> bytes:
        """All that is its own, to see whether somebody changes it."""
        if self.counts is None or self.displs is None:
            return self.read()[2]
        parts = zip(self.counts, self.displs, strict=True)
        return b"".join(self.read(count, start)[2] for count, start in parts)

    def address(self) -> tuple[int, int] | None:
        """First and last byte in memory; None if it cannot be told, or there are gaps."""
        has_gaps = len(self.datatype.offsets) != self.datatype.span
        has_gaps |= self.counts is not None and self.displs != _packed(self.counts)
        size = self.elements * self.datatype.basic.width
        if self.view.readonly or has_gaps or not size:
            return None
        held = (ctypes.c_char * size).from_buffer(self.view)
        first = ctypes.addressof(held)
        return first, first + size


def buffer(given: Any, call: str, parts: int = 0) -> Buffer:
    """The buffer that a call was given; with `parts`, one of so many parts."""
    memory, counts, displs, datatype = _taken_apart(given, call)
    if memory is BOTTOM or memory is None:
        return Buffer(memoryview(bytearray()), datatype or BYTE, 0)
    view, letter = _memory(memory, call)
    if datatype is None:
        datatype = by_letter(letter) if letter else BYTE
    datatype.check(call)
    size = datatype.basic.width * datatype.span
    room = _room(len(view), datatype, size)
    made = Buffer(view, datatype, room)
    if isinstance(counts, int) and parts:  # of each part
        counts = (counts,) * parts
    if displs is not None and counts is None and parts:
        counts = (room // parts,) * parts
    if isinstance(displs, int) and parts:  # from one part to the next
        displs = tuple(displs * at for at in range(parts))
    elif isinstance(displs, int):  # where the only one begins
        made.view = view[displs * size :]
        room = made.count = max(0, room - displs)
    if isinstance(counts, tuple):
        if parts and len(counts) != parts:
            raise invalid(f"{call}: {len(counts)} counts for {parts} ranks")
        made.counts = counts
        made.displs = displs if displs is not None else _packed(counts)
        made.count = sum(counts)
        least = max((c + d for c, d in zip(counts, made.displs, strict=True) if c), default=0)
    elif counts is not None:
        made.count = counts
        least = made.count
    else:
        least = 0
    if made.count < 0 or (made.counts and min(made.counts) < 0):
        raise invalid(f"{call}: a negative count ({made.count})")
    if least > room:
        raise invalid(f"{call}: {least} items of {datatype!r} do not fit in {len(view)} bytes")
    return made


def _room(size: int, datatype: Datatype, one: int) -> int:
    """How many items there is room for; the last need not be followed by its gap."""
    if not one or not datatype.offsets:
        return 0
    return size // one


def _packed(counts: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sum(counts[:at]) for at in range(len(counts)))


def _taken_apart(given: Any, call: str) -> tuple[Any, Any, Any, Datatype | None]:
    if not isinstance(given, list | tuple):
        return given, None, None, None
    rest = list(given[1:])
    datatype = None
    if rest and isinstance(rest[-1], Datatype | str):
        last = rest.pop()
        datatype = last if isinstance(last, Datatype) else by_letter(last)
    if len(rest) == 1 and isinstance(rest[0], tuple) and len(rest[0]) == 2:
        rest = list(rest[0])  # (counts, displs)
    counts = _numbers(rest[0]) if rest and rest[0] is not None else None
    displs = _numbers(rest[1]) if len(rest) > 1 and rest[1] is not None else None
    if len(rest) > 2 or not given:
        raise invalid(f"{call}: {given!r} is no buffer; give [buf, count, TYPE]")
    return given[0], counts, displs, datatype


def _numbers(given: Any) -> int | tuple[int, ...]:
    return tuple(int(each) for each in given) if hasattr(given, "__len__") else int(given)


def _memory(memory: Any, call: str) -> tuple[memoryview, str]:
    """The bytes of an object, and the letter of its elements, if it has one."""
    if isinstance(memory, bytes | bytearray):
        return memoryview(memory), ""
    try:
        view = memoryview(memory)
    except (TypeError, ValueError) as error:
        raise invalid(f"{call}: {type(memory).__name__} is no buffer") from error
    if not view.c_contiguous:
        raise invalid(f"{call}: the buffer is not contiguous")
    letter = "" if isinstance(memory, memoryview) and view.format == "B" else view.format
    if hasattr(memory, "dtype"):  # complex numbers and records cannot be cast by memoryview
        view = memoryview(memory.reshape(-1).view("u1"))
    return view.cast("B") if view.format != "B" or view.ndim != 1 else view, letter
