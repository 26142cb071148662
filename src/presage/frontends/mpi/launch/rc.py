"""`mpi4py.rc`: what a script may say before it imports `mpi4py.MPI`, for each rank by itself.

The variables `MPI4PY_RC_...` of the environment come first, as in mpi4py. They are read when the
script asks for `MPI`.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

OPTIONS: dict[str, Any] = {
    "initialize": True,
    "threads": True,
    "thread_level": "multiple",
    "finalize": None,
    "fast_reduce": True,
    "recv_mprobe": True,
    "irecv_bufsz": 32768,
    "errors": "exception",
}
WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class Rc:
    """Options by name; others are refused."""

    def __init__(self, **options: Any) -> None:
        self.__dict__.update(OPTIONS)
        self(**options)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in OPTIONS:
            raise TypeError(f"object has no attribute {name!r}")
        self.__dict__[name] = value

    def __call__(self, **options: Any) -> None:
        for name in options:
            if name not in OPTIONS:
                raise TypeError(f"unexpected argument {name!r}")
        self.__dict__.update(options)

    def __repr__(self) -> str:
        return "<mpi4py.rc>"


def read_environment(rc: Rc) -> None:
    for name, usual in OPTIONS.items():
        text = os.environ.get(f"MPI4PY_RC_{name.upper()}", "")
        if text:
            setattr(rc, name, _value(text, usual))


def _value(text: str, usual: Any) -> Any:
    if isinstance(usual, str):
        return text.lower()
    if text.isdecimal():
        return bool(int(text)) if isinstance(usual, bool | None) else int(text)
    return WORDS.get(text.lower(), usual)


class Package(ModuleType):
    """`mpi4py`, as one rank has it: asked for `MPI`, it reads what was said before."""

    def __init__(self, shared: dict[str, Any], mpi: ModuleType) -> None:
        super().__init__("mpi4py")
        self.__dict__.update(shared, rc=Rc())
        self._mpi = mpi

    def __getattr__(self, name: str) -> Any:
        if name != "MPI":
            raise AttributeError(f"presage's mpi4py has no `{name}`; see docs/reference/mpi.md")
        if isinstance(rc := self.__dict__.get("rc"), Rc):
            read_environment(rc)
        self.MPI = self._mpi
        return self._mpi

    @property
    def initializes(self) -> bool:
        """Whether MPI is initialized when it is imported."""
        return bool(getattr(self.__dict__.get("rc"), "initialize", True))
