"""Names of mpi4py that scripts meet now and then: hints, raw memory, codes of errors."""

from __future__ import annotations

import ctypes
import pickle
from typing import Any

from presage.frontends.mpi.data.buffers import buffer

ERRORS = (
    "SUCCESS ERR_BUFFER ERR_COUNT ERR_TYPE ERR_TAG ERR_COMM ERR_RANK ERR_REQUEST ERR_ROOT ERR_GROUP"
    " ERR_OP ERR_TOPOLOGY ERR_DIMS ERR_ARG ERR_UNKNOWN ERR_TRUNCATE ERR_OTHER ERR_INTERN"
    " ERR_IN_STATUS ERR_PENDING"
)
CODES = {name: code for code, name in enumerate(ERRORS.split())}


class Info(dict[str, str]):
    """`MPI.Info`: hints to a library, of which there is none here."""

    @classmethod
    def Create(cls, items: Any = ()) -> Info:
        return cls(items)

    def Set(self, key: str, value: str) -> None:
        self[key] = value

    def Get(self, key: str) -> str | None:
        return self.get(key)

    def Dup(self) -> Info:
        return Info(self)

    def Free(self) -> None:
        self.clear()


class Memory:
    """`MPI.memory`, also called `MPI.buffer`: makes views of raw memory."""

    @staticmethod
    def allocate(nbytes: int, clear: bool = False) -> memoryview:
        return memoryview(bytearray(nbytes))

    @staticmethod
    def frombuffer(given: Any, readonly: bool = False) -> memoryview:
        view = memoryview(given).cast("B")
        return view.toreadonly() if readonly else view

    @staticmethod
    def fromaddress(address: int, nbytes: int, readonly: bool = False) -> memoryview:
        held = (ctypes.c_char * nbytes).from_address(address)
        return Memory.frombuffer(held, readonly)


class Pickle:
    """`MPI.Pickle`: how objects become bytes."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.PROTOCOL = pickle.HIGHEST_PROTOCOL

    def dumps(self, obj: Any) -> bytes:
        return pickle.dumps(obj, self.PROTOCOL)

    def loads(self, data: Any) -> Any:
        return pickle.loads(data)


_attached: list[Any] = []


def attach_buffer(buf: Any) -> None:
    """`MPI.Attach_buffer`: buffered sends find room without it."""
    _attached.append(buf)


def detach_buffer() -> Any:
    return _attached.pop() if _attached else None


def get_address(location: Any) -> int:
    found = buffer(location, "Get_address").address()
    return 0 if found is None else found[0]


class Unheeded:
    """Calls of communicators, windows and files that mean nothing here, and do no harm."""

    def Set_errhandler(self, errhandler: Any) -> None:
        """Errors always are exceptions."""

    def Get_errhandler(self) -> Any:
        return None

    def Get_info(self) -> Info:
        return Info()

    def Set_info(self, info: Any) -> None:
        """There are no hints to take."""

    info = property(Get_info, Set_info)
