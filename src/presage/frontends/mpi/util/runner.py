"""`mpi4py.run`: a script run by `python -m mpi4py`, where an exception ends all ranks."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from presage.frontends.mpi.core.rank import current_rank


def run_command_line(args: Sequence[str] | None = None) -> None:
    """Run what a command line names: a file, `-m module` or `-c code`."""
    words = list(sys.argv if args is None else args)
    if not words:
        raise SystemExit("usage: python -m mpi4py file | -m module | -c code")
    sys.argv[:] = words
    if words[0] == "-c":
        exec(compile(words[1], "<string>", "exec"), {"__name__": "__main__"})
    elif words[0] == "-m":
        sys.argv[:] = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(words[0], run_name="__main__")


def set_abort_status(status: Any) -> None:
    """What the end of the program is going to say."""
    number = status.code if isinstance(status, SystemExit) else status
    if isinstance(number, BaseException):
        number = 1
    current_rank().own_notes["abort status"] = number if isinstance(number, int) else 1


def main() -> None:
    """Run what the command line names."""
    run_command_line(sys.argv[1:])


def names(mpi: ModuleType) -> dict[str, Any]:
    """What the module has."""
    functions = (run_command_line, set_abort_status, main)
    return {"__doc__": "Run Python code using mpi4py.", **{f.__name__: f for f in functions}}
