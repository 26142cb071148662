"""What scripts do wrong with MPI, as exceptions: `MPI.Exception`, which a script may catch.

`kind` says what a report calls it; see docs/reference/mpi.md for the list. The code is one of MPI's
classes of errors, or what a script has added.
"""

from __future__ import annotations

from typing import Any

from presage.frontends.mpi.core import error_codes
from presage.frontends.mpi.core.error_codes import CODES as ERRORS
from presage.process.ops import Misuse

CODES = {
    kind: ERRORS[name]
    for kind, name in {
        "invalid-argument": "ERR_ARG",
        "type-mismatch": "ERR_TYPE",
        "count-mismatch": "ERR_TRUNCATE",
        "collective-mismatch": "ERR_IN_STATUS",
        "local-concurrency": "ERR_BUFFER",
        "file-error": "ERR_IO",
        "missing-epoch": "ERR_RMA_SYNC",
        "double-epoch": "ERR_RMA_SYNC",
        "open-epoch": "ERR_RMA_SYNC",
        "rma-range": "ERR_RMA_RANGE",
        "global-concurrency": "ERR_RMA_CONFLICT",
    }.items()
}
CODE_OTHER = ERRORS["ERR_OTHER"]


class Aborted(BaseException):
    """The script ends itself, and all ranks with it: nothing to be caught as an error.

    `status`: what its caller gets to know, in eight bits.
    """

    kind = "abort"

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status & 0xFF


class MPIException(Misuse, RuntimeError):
    """An error of MPI; mpi4py calls it `MPI.Exception`.

    Scripts make one of a code alone.
    """

    def __init__(self, kind: Any = 0, text: str = "", code: int | None = None) -> None:
        if isinstance(kind, str):
            super().__init__(kind, text or kind)
            self._code = CODES.get(kind, CODE_OTHER) if code is None else code
        else:
            self._code = int(kind)
            super().__init__("mpi-error", error_codes.text_of(self._code))

    def Get_error_code(self) -> int:
        """The code of the error."""
        return self._code

    def Get_error_class(self) -> int:
        """The class of the code."""
        return error_codes.class_of(self._code)

    def Get_error_string(self) -> str:
        """What went wrong, in words."""
        return str(self)

    error_code = property(Get_error_code)
    error_class = property(Get_error_class)
    error_string = property(Get_error_string)

    def __repr__(self) -> str:
        return f"MPI.Exception({self._code})"

    def __int__(self) -> int:
        return self._code

    def __bool__(self) -> bool:
        return self._code != 0

    def __hash__(self) -> int:
        return hash(self._code)

    def __eq__(self, other: object) -> bool:
        return _number(other) == self._code

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        return self._code < int(other)

    def __le__(self, other: Any) -> bool:
        return self._code <= int(other)

    def __gt__(self, other: Any) -> bool:
        return self._code > int(other)

    def __ge__(self, other: Any) -> bool:
        return self._code >= int(other)


def _number(given: object) -> int | None:
    if isinstance(given, MPIException):
        return given.Get_error_code()
    return given if isinstance(given, int) else None


class WrongValue(MPIException, ValueError):
    """An argument that mpi4py itself refuses, before MPI sees it."""


class WrongType(MPIException, TypeError):
    """The same, of another type than it has to be."""


class WrongKey(MPIException, KeyError):
    """The same, for a name that stands for nothing."""

    __str__ = Exception.__str__


class WrongBuffer(MPIException, BufferError):
    """Memory that cannot be used as it was to be."""


class Unsupported(MPIException, NotImplementedError):
    """A call that this MPI does not have."""


for _kind in (MPIException, WrongValue, WrongType, WrongKey, WrongBuffer, Unsupported):
    _kind.__name__ = "MPI.Exception"  # as scripts and reports call it


def invalid(text: str, error: str = "ERR_ARG") -> MPIException:
    """An argument that MPI does not allow; `error` names its class."""
    return MPIException("invalid-argument", text, ERRORS[error])


def wrong_value(text: str) -> MPIException:
    return WrongValue("invalid-argument", text)


def wrong_type(text: str) -> MPIException:
    return WrongType("invalid-argument", text)


def unsupported(text: str) -> MPIException:
    return Unsupported("invalid-argument", text, ERRORS["ERR_UNSUPPORTED_OPERATION"])
