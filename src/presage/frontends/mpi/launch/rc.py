"""`mpi4py.rc`: what a script may say before it imports `mpi4py.MPI`, for each rank by itself.

The variables `MPI4PY_RC_...` of the environment come first, as in mpi4py. They are read when the
script asks for `MPI`.
"""

from __future__ import annotations

import os
import warnings
from types import ModuleType
from typing import Any

from presage.frontends.mpi.core.rank import running_rank

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
WORDS = {
    **dict.fromkeys(("true", "yes", "on", "y", "1"), True),
    **dict.fromkeys(("false", "no", "off", "n", "0"), False),
}
CHOICES: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        ("initialize", "threads", "fast_reduce", "recv_mprobe"), (True, False, "yes", "no")
    ),
    "finalize": (None, True, False, "yes", "no"),
    "thread_level": ("single", "funneled", "serialized", "multiple"),
    "errors": ("default", "exception", "abort", "fatal"),
}


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
    if text.isdecimal() and type(usual) is int:
        return int(text)
    return WORDS.get(text.lower(), text.lower())


def chosen(rc: Any) -> dict[str, Any]:
    """The options that hold: what makes no sense is warned of, and left as usual."""
    found = {}
    for name, usual in OPTIONS.items():
        value = getattr(rc, name, usual)
        if _makes_sense(name, value):
            found[name] = {"yes": True, "no": False}.get(value, value)
        else:
            found[name] = usual
            text = f"mpi4py.rc.{name}: unexpected value {value!r}"
            warnings.warn(text, RuntimeWarning, stacklevel=3)
    return found


def _makes_sense(name: str, value: Any) -> bool:
    return value in CHOICES[name] if name in CHOICES else type(value) is int and value >= 0


class Package(ModuleType):
    """`mpi4py`, as one rank has it: when `MPI` is imported, it reads what was said before."""

    def __init__(self, shared: dict[str, Any], mpi: ModuleType) -> None:
        super().__init__("mpi4py")
        self.__dict__.update(shared, rc=Rc())
        self._mpi = mpi
        self._options: dict[str, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name != "MPI":
            raise AttributeError(f"presage's mpi4py has no `{name}`; see docs/reference/mpi.md")
        self.MPI = self._mpi
        self.option("initialize")
        return self._mpi

    @staticmethod
    def variable(name: str) -> str:
        """What the environment of the running rank says."""
        return os.environ.get(name, "")

    def option(self, name: str) -> Any:
        """One that holds: the first question is whether MPI is initialized when imported."""
        if self._options is None:
            rc = self.__dict__.get("rc")
            if isinstance(rc, Rc):
                read_environment(rc)
            self._options = chosen(rc)
        return self._options[name]


class Module(ModuleType):
    """`mpi4py.MPI`, of all ranks: who imports it looks whether it has a `__spec__`."""

    @property
    def __spec__(self) -> None:  # type: ignore[override]
        if (rank := running_rank()) is not None and rank.package is not None:
            rank.package.option("initialize")
