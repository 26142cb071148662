"""Names of mpi4py that scripts meet now and then: hints, raw memory, error handlers."""

from __future__ import annotations

import ctypes
import pickle
from typing import Any

from presage.frontends.mpi.data.buffers import buffer


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


INFO_NULL, INFO_ENV = Info(), Info()


class Errhandler:
    """`MPI.Errhandler`: errors are exceptions here, whichever one is set."""

    def __init__(self, errhandler: Errhandler | None = None) -> None:
        self._name: str = "" if errhandler is None else errhandler._name

    @classmethod
    def named(cls, name: str) -> Errhandler:
        made = cls()
        made._name = name
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Errhandler):
            return NotImplemented
        return self._name == other._name

    def __hash__(self) -> int:
        return hash(self._name)

    def __bool__(self) -> bool:
        return bool(self._name)

    def Free(self) -> None:
        self._name = ""


ERRHANDLER_NULL = Errhandler()
ERRORS_RETURN = Errhandler.named("return")
ERRORS_ABORT = Errhandler.named("abort")
ERRORS_ARE_FATAL = Errhandler.named("fatal")


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

    def Get_errhandler(self) -> Errhandler:
        return Errhandler(ERRORS_RETURN)

    def Get_info(self) -> Info:
        return Info()

    def Set_info(self, info: Any) -> None:
        """There are no hints to take."""

    info = property(Get_info, Set_info)
