"""`Pack` and its relatives: items as a plain sequence of bytes, of this machine or of any.

`external32` is big-endian, with numbers of the sizes they have here. A long double is its IEEE form
of 128 bits.
"""

from __future__ import annotations

import struct
from typing import Any

from presage.frontends.mpi.core.mistakes import MPIException, invalid, wrong_value
from presage.frontends.mpi.core.rank import enter_call
from presage.frontends.mpi.data.buffers import Buffer, buffer
from presage.frontends.mpi.data.layout import Basic, Layout
from presage.frontends.mpi.data.raw import memory_of
from presage.frontends.mpi.data.type_handle import TypeHandle

EXTERNAL = "external32"


class Packing(TypeHandle):
    """Items as bytes."""

    def Pack(self, inbuf: Any, outbuf: Any, position: int, comm: Any) -> int:
        """Write items as bytes; gives the position after them."""
        call = enter_call("Datatype.Pack", position=position)
        comm._core(call)
        return _packed(self, inbuf, outbuf, position, call, lambda data: data)

    def Unpack(self, inbuf: Any, position: int, outbuf: Any, comm: Any) -> int:
        """Read items from bytes; gives the position after them."""
        call = enter_call("Datatype.Unpack", position=position)
        comm._core(call)
        return _unpacked(self, inbuf, position, outbuf, call, lambda data: data)

    def Pack_size(self, count: int, comm: Any) -> int:
        """Bytes that so many items take."""
        comm._core(enter_call("Datatype.Pack_size", count=count))
        return count * self.Get_size()

    def Pack_external(self, datarep: str, inbuf: Any, outbuf: Any, position: int) -> int:
        """Write items as bytes that any machine reads alike."""
        call = enter_call("Datatype.Pack_external", position=position)
        _check_datarep(datarep, call)
        return _packed(self, inbuf, outbuf, position, call, self._turned)

    def Unpack_external(self, datarep: str, inbuf: Any, position: int, outbuf: Any) -> int:
        """Read items from such bytes."""
        call = enter_call("Datatype.Unpack_external", position=position)
        _check_datarep(datarep, call)
        return _unpacked(self, inbuf, position, outbuf, call, self._turned_back)

    def Pack_external_size(self, datarep: str, count: int) -> int:
        """Bytes that so many items take then."""
        _check_datarep(datarep, enter_call("Datatype.Pack_external_size"))
        return count * self.Get_size()

    def _turned(self, data: bytes) -> bytes:
        return _each(self.layout, data, to_external)

    def _turned_back(self, data: bytes) -> bytes:
        return _each(self.layout, data, from_external)


def _check_datarep(datarep: str, call: str) -> None:
    if datarep != EXTERNAL:
        raise invalid(f"{call}: datarep has to be `{EXTERNAL}`, not `{datarep}`", "ERR_ARG")


def _items(datatype: Any, given: Any, call: str) -> Buffer:
    """Memory as items of the type: as many as there is room for."""
    datatype.check(call, committed=False)
    memory = given[0] if isinstance(given, list | tuple) else given
    if isinstance(given, list | tuple) and len(given) > 1:
        return buffer([*given[:-1], datatype] if len(given) > 2 else [*given, datatype], call)
    view = memory_of(memory, call)[0]
    extent = datatype.layout.extent
    return Buffer.of(view, datatype, len(view) // extent if extent > 0 else 0)


def _bytes(given: Any, position: int, call: str) -> memoryview:
    view = memory_of(given[0] if isinstance(given, list | tuple) else given, call)[0]
    if not 0 <= position <= len(view):
        raise wrong_value(f"{call}: position {position} is outside of the buffer")
    return view


def _packed(datatype: Any, inbuf: Any, outbuf: Any, position: int, call: str, turn: Any) -> int:
    out, data = _bytes(outbuf, position, call), turn(_items(datatype, inbuf, call).read()[2])
    if position + len(data) > len(out):
        raise MPIException(
            "count-mismatch", f"{call}: {len(data)} bytes, but room for {len(out) - position}"
        )
    out[position : position + len(data)] = data
    return position + len(data)


def _unpacked(datatype: Any, inbuf: Any, position: int, outbuf: Any, call: str, turn: Any) -> int:
    view, into = _bytes(inbuf, position, call), _items(datatype, outbuf, call)
    end = position + into.size
    if end > len(view):
        text = f"{call}: {into.size} bytes, but there are {len(view) - position}"
        raise MPIException("count-mismatch", text)
    into.write((into.sign, into.elements, turn(bytes(view[position:end]))), call)
    return end


def _each(layout: Layout, data: bytes, turn: Any) -> bytes:
    """Turn each element of a message."""
    done, at, parts = 0, 0, []
    while at < len(data):
        basic = layout.pattern[done % len(layout.pattern)]
        parts.append(turn(basic, data[at : at + basic.width]))
        at, done = at + basic.width, done + 1
    return b"".join(parts)


def to_external(basic: Basic, data: bytes) -> bytes:
    return _turn(basic, data, _to_quad, "=", ">")


def from_external(basic: Basic, data: bytes) -> bytes:
    return _turn(basic, data, _from_quad, ">", "=")


def _turn(basic: Basic, data: bytes, long: Any, before: str, after: str) -> bytes:
    if "s" not in basic.form:
        turned: bytes = struct.pack(after + basic.form, *struct.unpack(before + basic.form, data))
        return turned
    longs: list[bytes] = [long(data[at : at + 16]) for at in range(0, len(data) // 16 * 16, 16)]
    rest = data[len(longs) * 16 :]
    return b"".join(longs) + rest[::-1]


def _to_quad(data: bytes) -> bytes:
    """80 bits of the x87 as 128 bits, big-endian: the leading 1 is not written there."""
    mantissa, top = struct.unpack("<QH", data[:10])
    whole: int = (top << 112) | ((mantissa & (1 << 63) - 1) << 49)
    return whole.to_bytes(16, "big")


def _from_quad(data: bytes) -> bytes:
    whole = int.from_bytes(data, "big")
    top, fraction = whole >> 112, (whole & (1 << 112) - 1) >> 49
    leading = 1 << 63 if top & 0x7FFF else 0
    return struct.pack("<QH", fraction | leading, top) + bytes(6)
