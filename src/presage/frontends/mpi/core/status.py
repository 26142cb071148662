"""`MPI.Status`: what is known of a message that was received or probed."""

from __future__ import annotations

from array import array
from typing import Any

ANY_SOURCE = -1
ANY_TAG = -1
PROC_NULL = -2
ROOT = -4
UNDEFINED = -32766


class Status:
    """Where a message came from, its tag, and how long it was."""

    def __init__(self, status: Status | None = None) -> None:
        self._source = ANY_SOURCE
        self._tag = ANY_TAG
        self._error = 0
        self._bytes = 0
        self._cancelled = False
        if status is not None:
            if not isinstance(status, Status):
                raise TypeError(f"expected a Status, got {type(status).__name__}")
            self.take(status)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Status):
            return NotImplemented
        return self._values() == other._values()

    __hash__ = None  # type: ignore[assignment]

    def _values(self) -> list[int]:
        return [self._source, self._tag, self._error, self._bytes, int(self._cancelled)]

    def __reduce__(self) -> Any:
        return type(self), (), self.__getstate__()

    def __getstate__(self) -> dict[str, int]:
        names = ("source", "tag", "error", "count", "cancelled")
        return dict(zip(names, self._values(), strict=True))

    def __setstate__(self, state: dict[str, int]) -> None:
        self._source, self._tag, self._error = state["source"], state["tag"], state["error"]
        self._bytes, self._cancelled = state["count"], bool(state["cancelled"])

    def tomemory(self) -> memoryview:
        """Its numbers, as they can be changed."""
        return memoryview(array("i", self._values())).cast("B").cast("i")

    def py2f(self) -> list[int]:
        """As Fortran has it: `F_SOURCE`, `F_TAG` and `F_ERROR` are places in the list."""
        return self._values()

    @classmethod
    def f2py(cls, arg: list[int]) -> Any:
        """The reverse."""
        status = cls()
        status._source, status._tag, status._error, status._bytes = arg[:4]
        status._cancelled = bool(arg[4])
        return status

    def take(self, other: Status) -> None:
        """Become equal to `other`."""
        self.__dict__.update(other.__dict__)

    @classmethod
    def of(cls, source: int, tag: int, size: int) -> Status:
        status = cls()
        status._source, status._tag, status._bytes = source, tag, size
        return status

    def Get_source(self) -> int:
        return self._source

    def Set_source(self, source: int) -> None:
        self._source = source

    def Get_tag(self) -> int:
        return self._tag

    def Set_tag(self, tag: int) -> None:
        self._tag = tag

    def Get_error(self) -> int:
        return self._error

    def Set_error(self, error: int) -> None:
        self._error = error

    def Get_count(self, datatype: Any = None) -> int:
        """Whole elements of `datatype` (default: bytes)."""
        size = 1 if datatype is None else datatype.Get_size()
        if size == 0:
            return 0
        return self._bytes // size if self._bytes % size == 0 else UNDEFINED

    def Set_elements(self, datatype: Any, count: int) -> None:
        self._bytes = count * datatype.Get_size()

    def _set_bytes(self, count: int) -> None:
        self._bytes = count

    def Get_elements(self, datatype: Any) -> int:
        """Whole basic elements."""
        return int(datatype.layout.elements_in(self._bytes))

    def Is_cancelled(self) -> bool:
        return self._cancelled

    def Set_cancelled(self, flag: bool) -> None:
        self._cancelled = flag

    source = property(Get_source, Set_source)
    tag = property(Get_tag, Set_tag)
    error = property(Get_error, Set_error)
    count = property(Get_count, _set_bytes)
    cancelled = property(Is_cancelled, Set_cancelled)


NULL_STATUS = Status.of(PROC_NULL, ANY_TAG, 0)


def fill(status: Status | None, known: Status) -> None:
    """Give a caller's status, if there is one, what is known."""
    if status is not None:
        status.take(known)
