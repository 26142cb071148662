"""What scripts do wrong with MPI, as exceptions: `MPI.Exception`, which a script may catch.

`kind` says what a report calls it; see docs/reference/mpi.md for the list.
"""

from __future__ import annotations

from presage.process.ops import Misuse

CODES = {
    "invalid-argument": 13,
    "type-mismatch": 3,
    "count-mismatch": 15,
    "collective-mismatch": 18,
    "local-concurrency": 1,
    "abort": 19,
    "file-error": 32,
    "missing-epoch": 50,
    "double-epoch": 50,
    "open-epoch": 50,
    "rma-range": 55,
    "global-concurrency": 49,
}
CODE_OTHER = 16


class MPIException(Misuse):
    """An error of MPI; mpi4py calls it `MPI.Exception`."""

    def __init__(self, kind: str, text: str = "") -> None:
        super().__init__(kind, text or kind)
        self.error_code = CODES.get(kind, CODE_OTHER)

    def Get_error_code(self) -> int:
        return self.error_code

    def Get_error_class(self) -> int:
        return self.error_code

    def Get_error_string(self) -> str:
        return str(self)

    error_class = property(Get_error_class)
    error_string = property(Get_error_string)


MPIException.__name__ = "MPI.Exception"  # as scripts and reports call it


def invalid(text: str) -> MPIException:
    """An argument that MPI does not allow."""
    return MPIException("invalid-argument", text)
