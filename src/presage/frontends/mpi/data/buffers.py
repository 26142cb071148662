"""Buffers of the upper-case calls: NumPy arrays, or whatever else has memory to lend.

A buffer is given as `buf`, `[buf, TYPE]`, `[buf, count, TYPE]`, `[buf, (counts, displs), TYPE]` and
the like. It is read when a message is posted and written when one is complete.
"""

from __future__ import annotations

import ctypes
from itertools import accumulate, cycle
from typing import Any

import msgspec

from presage.frontends.mpi.core.mistakes import (
    MPIException,
    WrongBuffer,
    invalid,
    wrong_type,
    wrong_value,
)
from presage.frontends.mpi.data.named_constants import IN_PLACE as IN_PLACE
from presage.frontends.mpi.data.named_constants import InPlaceType, is_bottom
from presage.frontends.mpi.data.raw import at_address, is_mapped, memory_of
from presage.frontends.mpi.data.type_handle import TypeHandle, by_letter

Data = tuple[str, int, bytes]  # as sent: sign of the elements, how many basic ones, their bytes
PACKED = "packed"  # the sign of what goes with everything
SEQUENCES, TYPES = (list, tuple), (TypeHandle, str)
BYTES = {"byte", "u1", "i1", "char"}


def agree(sent: str, wanted: str, elements: int = 1) -> bool:
    """Whether elements of one sign may be received as the other: bytes are bytes to anyone."""
    if sent == wanted or PACKED in (sent, wanted) or {sent, wanted} <= BYTES:
        return True
    if "+" not in sent + wanted:
        return False
    pairs = zip(range(elements), cycle(sent.split("+")), cycle(wanted.split("+")), strict=False)
    return all(one == two or {one, two} <= BYTES for _, one, two in pairs)


def is_in_place(given: Any) -> bool:
    """Whether a call is to use the other buffer."""
    return given is None or isinstance(given, InPlaceType)


class Buffer(msgspec.Struct, eq=False):
    """Memory with a type. `counts` and `displs` are of the parts, for calls that have parts."""

    view: memoryview  # of bytes
    datatype: Any
    count: int
    counts: tuple[int, ...] | None = None
    displs: tuple[int, ...] | None = None
    origin: int = 0  # the address of the first byte, where displacements are addresses
    layout: Any = None  # of the type; None: it has none

    @classmethod
    def of(cls, view: memoryview, datatype: Any, count: int, origin: int = 0) -> Buffer:
        return cls(view, datatype, count, None, None, origin, datatype._known_layout)

    @property
    def sign(self) -> str:
        return self.datatype.sign  # type: ignore[no-any-return]

    @property
    def elements(self) -> int:
        return self.count * self.each

    @property
    def each(self) -> int:
        """Basic elements of one item."""
        return 0 if self.layout is None else self.layout.many

    @property
    def size(self) -> int:
        """Bytes of all elements."""
        return 0 if self.layout is None else self.count * self.layout.size

    def _runs(self, count: int, start: int) -> Any:
        return self.layout.at(count, start * self.layout.extent - self.origin)

    def read(self, count: int | None = None, start: int = 0) -> Data:
        count = self.count if count is None else count
        if not count:
            return self.sign, 0, b""
        layout = self.layout
        if layout.is_dense:
            first = start * layout.extent - self.origin
            data = self.view[first : first + count * layout.extent].tobytes()
            return layout.sign, count * layout.many, data
        data = b"".join(bytes(self.view[at : at + size]) for at, size in self._runs(count, start))
        return self.sign, count * self.each, data

    def write(self, data: Data, call: str, count: int | None = None, start: int = 0) -> None:
        """Put a message there; it may be shorter than the place that it has."""
        count = self.count if count is None else count
        if self.write_whole(data, count, start):
            return
        sign, elements, content = data
        if elements and count and not agree(sign, self.sign, elements):
            raise MPIException(
                "type-mismatch",
                f"{call}: the message holds elements of type {sign}, the buffer {self.sign}",
            )
        room = count * self.each
        raw = PACKED in (sign, self.sign)
        size = count * self.layout.size if count else 0
        if len(content) > size if raw else elements > room:
            raise MPIException(
                "count-mismatch",
                f"{call}: the message is truncated: it has {elements} elements, the buffer room"
                f" for {room}",
            )
        done, whole = 0, len(content)
        for at, size in self._runs(count, start) if whole else ():
            part = min(size, whole - done)
            self.view[at : at + part] = content[done : done + part]
            done += part
            if done == whole:
                break

    def write_whole(self, data: Data, count: int, start: int = 0) -> bool:
        """Put a message there if it is the same bytes in the memory; nearly all are."""
        sign, elements, content = data
        layout = self.layout
        if not count or sign != layout.sign or sign == PACKED or not layout.is_dense:
            return False
        if elements > count * layout.many:
            return False
        first = start * layout.extent - self.origin
        self.view[first : first + len(content)] = content
        return True

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
        has_gaps = self.counts is not None and self.displs != _packed(self.counts)
        if self.view.readonly or has_gaps or not self.size:
            return None
        if not self.layout.is_dense:
            return None
        first = ctypes.addressof((ctypes.c_char * self.size).from_buffer(self.view))
        return first, first + self.size


def buffer(given: Any, call: str, parts: int = 0, vector: bool = True) -> Buffer:
    """The buffer that a call was given; with `parts`, one of so many parts.

    `vector`: whether the parts may differ.
    """
    usual = None if parts else _usual(given, call)
    if usual is not None:
        return usual
    memory, counts, displs, datatype = _taken_apart(given, call, vector and parts > 0)
    if is_bottom(memory):
        return _at_addresses(given, memory, counts, datatype, call)
    view, letter = memory_of(memory, call)
    if datatype is None:
        datatype = by_letter(letter) if letter else TypeHandle.named["BYTE"]
    made = Buffer.of(view, datatype, 0)
    if vector and parts:
        _set_parts(made, counts, displs, parts, call)
    else:
        _set_count(made, counts, displs, max(parts, 1), call)
    if made.layout is not None or made.count:
        datatype.check(call)
        made.datatype = datatype.lasting()
    _check_room(made, view, call)
    return made


def _usual(given: Any, call: str) -> Buffer | None:
    """The buffer of `[memory, count, TYPE]`, if all is well with it; None: look closer."""
    if not isinstance(given, SEQUENCES) or len(given) != 3:
        return None
    memory, count, datatype = given
    if type(count) is not int or count < 0 or not isinstance(datatype, TypeHandle):
        return None
    state = datatype._state
    if state is None or not state.is_predefined or is_bottom(memory):
        return None
    layout = state._layout or state.layout
    if not layout.is_dense:
        return None
    view, _ = memory_of(memory, call)
    if count * layout.extent > len(view):
        return None
    return Buffer(view, datatype, count, None, None, 0, layout)


def _set_count(made: Buffer, count: Any, displ: Any, blocks: int, call: str) -> None:
    """As many items as there is room for, or as are given for each of the blocks."""
    length = len(made.view)
    extent = 0 if made.layout is None else made.layout.extent
    if displ is not None:
        at = _whole(displ, call)
        if at < 0:
            raise wrong_value(f"{call}: a negative displacement ({at})")
        if at > 0 and extent <= 0:
            raise wrong_value(f"{call}: a displacement, but {made.datatype!r} has no extent")
        if at * extent > length:
            raise wrong_value(f"{call}: displacement {at} is beyond the end of the buffer")
        made.view = made.view[at * extent :]
        length -= at * extent
    if count is not None:
        each = _whole(count, call)
        if each < 0:
            raise wrong_value(f"{call}: a negative count ({each})")
        made.count = each * blocks
        if blocks > 1:
            made.counts, made.displs = (each,) * blocks, _packed((each,) * blocks)
    elif length:
        items = _items(length, extent, made.datatype, call)
        if items % blocks:
            raise wrong_value(f"{call}: {items} items cannot be shared by {blocks} ranks")
        made.count = items


def _items(length: int, extent: int, datatype: Any, call: str) -> int:
    if extent <= 0 or length % extent:
        raise wrong_value(f"{call}: {length} bytes are no whole number of items of {datatype!r}")
    return length // extent


def _set_parts(made: Buffer, counts: Any, displs: Any, parts: int, call: str) -> None:
    """Counts and displacements of each part; without them, parts as equal as they come."""
    if counts is None:
        extent = 0 if made.layout is None else made.layout.extent
        items = _items(len(made.view), extent, made.datatype, call) if len(made.view) else 0
        counts = tuple(items // parts + (items % parts > at) for at in range(parts))
    elif not isinstance(counts, tuple):
        counts = (_whole(counts, call),) * parts
    if displs is None:
        displs = _packed(counts)
    elif not isinstance(displs, tuple):
        displs = tuple(_whole(displs, call) * at for at in range(parts))
    if len(counts) != parts or len(displs) != parts:
        raise wrong_value(f"{call}: {len(counts)} counts for {parts} ranks")
    made.counts, made.displs, made.count = counts, displs, sum(counts)
    if counts and min(counts) < 0:
        raise wrong_value(f"{call}: a negative count ({min(counts)})")


def _check_room(made: Buffer, view: memoryview, call: str) -> None:
    """Refuse what reaches beyond the memory."""
    if not made.count:
        return
    layout = made.layout
    if made.counts is None and layout.is_dense and made.count * layout.extent <= len(made.view):
        return
    first, end = layout.true_bounds
    if made.counts is None or made.displs is None:
        places = [(made.count, 0)]
    else:
        places = [(c, d) for c, d in zip(made.counts, made.displs, strict=True) if c]
    least = min(start * layout.extent + min(0, (c - 1) * layout.extent) for c, start in places)
    most = max(start * layout.extent + max(0, (c - 1) * layout.extent) for c, start in places)
    if least + first < 0 or most + end > len(made.view):
        count = max(c + start for c, start in places)
        raise invalid(
            f"{call}: {count} items of {made.datatype!r} do not fit in {len(view)} bytes",
            "ERR_BUFFER",
        )


def _at_addresses(given: Any, memory: Any, counts: Any, datatype: Any, call: str) -> Buffer:
    """From MPI.BOTTOM: displacements are addresses. Of None, there is nothing."""
    empty = memoryview(bytearray())
    if datatype is None:
        if isinstance(given, list | tuple):
            raise wrong_type(f"{call}: MPI.BOTTOM needs a datatype")
        return Buffer.of(empty, TypeHandle.named["BYTE"], 0)
    count = 0 if counts is None or isinstance(counts, tuple) else _whole(counts, call)
    if count < 0 or (count and memory is None):
        raise wrong_value(f"{call}: no buffer, but a count of {count}")
    if not count:
        return Buffer.of(empty, datatype, 0)
    return absolute(datatype, count, 0, call)


def absolute(datatype: Any, count: int, address: int, call: str) -> Buffer:
    """Items by their address."""
    datatype.check(call)
    runs = list(datatype.layout.at(count, address))
    if not all(is_mapped(at, size) for at, size in runs):
        text = f"{call}: addresses of {datatype!r} are outside of the memory of this process"
        raise WrongBuffer("invalid-argument", text)
    low = min((at for at, _ in runs), default=0)
    high = max((at + size for at, size in runs), default=0)
    return Buffer.of(at_address(low, high - low), datatype.lasting(), count, low - address)


def _packed(counts: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(accumulate(counts, initial=0))[: len(counts)]


def _taken_apart(given: Any, call: str, vector: bool) -> tuple[Any, Any, Any, Any]:
    if not isinstance(given, SEQUENCES):
        return given, None, None, None
    if not 2 <= len(given) <= 4:
        raise wrong_value(f"{call}: {given!r} is no buffer; give [buf, count, TYPE]")
    memory, *rest = given
    datatype = None
    if len(rest) != 1 or isinstance(rest[0], TYPES):
        datatype = rest.pop()
    if isinstance(datatype, str):
        datatype = by_letter(datatype)
    if len(rest) == 1 and isinstance(rest[0], tuple if vector else SEQUENCES):
        if len(rest[0]) != 2:
            raise wrong_value(f"{call}: {rest[0]!r} are not (counts, displs)")
        rest = list(rest[0])
    counts = _numbers(rest[0]) if rest and rest[0] is not None else None
    displs = _numbers(rest[1]) if len(rest) > 1 and rest[1] is not None else None
    return memory, counts, displs, datatype


def _numbers(given: Any) -> Any:
    return tuple(int(each) for each in given) if hasattr(given, "__len__") else given


def _whole(given: Any, call: str) -> int:
    if type(given) is int:
        return given
    try:
        return int(given.__index__())
    except AttributeError:
        raise wrong_type(f"{call}: {given!r} is no count") from None
