"""`MPI.buffer`, also called `MPI.memory`: a piece of raw memory."""

from __future__ import annotations

from typing import Any

from presage._core import Exporter
from presage.frontends.mpi.core.mistakes import wrong_type, wrong_value
from presage.frontends.mpi.data.raw import address_of, at_address, checked_size, memory_of


class Memory(Exporter):
    """Bytes of memory, one by one or in slices."""

    _obj: Any  # whose memory it is
    _place: int | None  # its address, where the view does not say

    def __new__(cls, *buf: Any) -> Memory:
        made = super().__new__(cls)
        made.view, made._obj, made._place = memoryview(bytearray()), None, None
        if buf:
            made._lend(*buf)
        return made

    def _lend(self, buf: Any, readonly: bool = False) -> None:
        if isinstance(buf, list | tuple | int | float) or buf is None:
            raise wrong_type(f"{type(buf).__name__} is no buffer")
        view = memory_of(buf, "MPI.buffer")[0]
        self.view = view.toreadonly() if readonly else view
        self._obj = buf._obj if isinstance(buf, Memory) else buf

    @staticmethod
    def allocate(nbytes: int, clear: bool = False) -> Memory:
        """New memory."""
        size = checked_size(nbytes)
        made = Memory()
        made._obj = bytearray(size)
        made.view = memoryview(made._obj)
        made._place = None if size else id(made._obj)
        return made

    @staticmethod
    def frombuffer(obj: Any, readonly: bool = False) -> Memory:
        """The memory of an object."""
        made = Memory()
        made._lend(obj, readonly)
        return made

    @staticmethod
    def fromaddress(address: int, nbytes: int, readonly: bool = False) -> Memory:
        """Memory by its address."""
        if nbytes < 0 or (address == 0 and nbytes > 0):
            raise wrong_value(f"there are no {nbytes} bytes at address {address}")
        made = Memory()
        made.view = at_address(address, nbytes, readonly)
        made._place = address
        return made

    @property
    def address(self) -> int:
        """Where it begins; 0 if there is none."""
        return self._place if self._place is not None else address_of(self.view)

    @property
    def obj(self) -> Any:
        """Whose memory it is."""
        return self._obj

    @property
    def nbytes(self) -> int:
        """How many bytes."""
        return int(self.view.nbytes)

    @property
    def readonly(self) -> bool:
        """Whether it can only be read."""
        return bool(self.view.readonly)

    format = property(lambda self: "B")
    itemsize = property(lambda self: 1)

    def cast(self, format: Any, shape: Any = None) -> Any:
        """A view with elements of another format."""
        view: Any = self.view.cast("B")
        return view.cast(format) if shape is None else view.cast(format, shape)

    def tobytes(self, order: str | None = None) -> bytes:
        """A copy."""
        return bytes(self.view)

    def toreadonly(self) -> Memory:
        """The same, to be read only."""
        made = Memory()
        made.view, made._obj, made._place = self.view.toreadonly(), self._obj, self._place
        return made

    def release(self) -> None:
        """Let go of it."""
        self.view, self._obj, self._place = memoryview(bytearray()), None, None

    def __len__(self) -> int:
        return self.nbytes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Memory):
            return NotImplemented
        return (self.address, self.nbytes) == (other.address, other.nbytes)

    __hash__ = None  # type: ignore[assignment]

    def _index(self, item: Any) -> int:
        try:
            at = int(item.__index__())
        except AttributeError:
            raise TypeError("indices must be integers or slices") from None
        if not -self.nbytes <= at < self.nbytes:
            raise IndexError("index out of range")
        return at

    def _slice(self, item: slice) -> tuple[int, int]:
        start, stop, step = item.indices(self.nbytes)
        if step != 1:
            raise IndexError("slice with step not supported")
        return start, max(start, stop)

    def __getitem__(self, item: Any) -> Any:
        if not isinstance(item, slice):
            return self.view[self._index(item)]
        start, stop = self._slice(item)
        made = Memory()
        made.view, made._obj = self.view[start:stop], self._obj
        return made

    def __setitem__(self, item: Any, value: Any) -> None:
        if self.readonly:
            raise TypeError("memory buffer is read-only")
        if not isinstance(item, slice):
            self.view[self._index(item)] = value
            return
        start, stop = self._slice(item)
        if isinstance(value, int):
            self.view[start:stop] = bytes([value]) * (stop - start)
            return
        data = memory_of(value, "MPI.buffer")[0]
        if len(data) != stop - start:
            raise ValueError(f"{len(data)} bytes for {stop - start}")
        self.view[start:stop] = bytes(data)

    def __delitem__(self, item: Any) -> None:
        raise NotImplementedError("memory cannot be deleted")
