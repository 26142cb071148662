"""`MPI.Status`: what is known of a message that was received or probed."""

from __future__ import annotations

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
        size = datatype.basic.width
        return self._bytes // size if size else 0

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
