"""Modules that others import and hardly use: they are loaded when something of theirs is asked for.

`dataclasses` imports `inspect` for texts that few classes need, and `inspect` what reads and prints
code. A deferred module is in `sys.modules` from the beginning, as empty as it can be, and becomes
what it is by the first name that is looked up in it.

Invariants: the first thread to ask loads it, and others wait until that is done. What a deferred
module imports imports no deferred one, so that no two threads wait for each other.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

RARE = ("dis", "inspect", "ipaddress", "textwrap")  # imported by `dataclasses`, `urllib`, `msgspec`
OWN = frozenset(("__class__", "__file__", "__loader__", "__name__", "__package__", "__spec__"))

_lock = RLock()
_answers: dict[str, dict[str, object]] = {}  # by module
_loading: set[str] = set()  # by the thread that holds the lock


class Deferred(ModuleType):
    """A module that nobody has asked for anything."""

    def __getattribute__(self, name: str) -> Any:
        if name not in OWN:
            known = _answers[ModuleType.__getattribute__(self, "__name__")]
            if name in known:
                return known[name]
            _load(self)
        return ModuleType.__getattribute__(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name not in OWN:
            _load(self)  # or that would undo it later
        ModuleType.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        _load(self)
        ModuleType.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        _load(self)
        return sorted(vars(self))


def defer(names: tuple[str, ...] = RARE, **answers: object) -> None:
    """Defer modules; those that are loaded, or not there, stay so.

    `answers` are names of theirs whose values are known without loading them.
    """
    for name in names:
        spec = None if name in sys.modules else _spec(name)
        if spec is not None and spec.loader is not None:
            sys.modules[name] = _empty(spec, answers)


def without(name: str, load: Callable[[], object], instead: object = None) -> None:
    """Load what takes a module if it is there and does as well without; or with another instead."""
    if name in sys.modules:
        load()
        return
    sys.modules[name] = instead  # type: ignore[assignment]
    try:
        load()
    finally:
        del sys.modules[name]


def _spec(name: str) -> ModuleSpec | None:
    package = name.rpartition(".")[0]
    if not package:
        return PathFinder.find_spec(name)
    around = PathFinder.find_spec(package)
    return around and PathFinder.find_spec(name, around.submodule_search_locations)


def _empty(spec: ModuleSpec, answers: dict[str, object]) -> Deferred:
    module = Deferred(spec.name)
    _answers[spec.name] = answers
    module.__spec__, module.__loader__ = spec, spec.loader
    module.__file__, module.__package__ = spec.origin, spec.parent
    return module


def _load(module: Deferred) -> None:
    with _lock:
        name, spec = module.__name__, module.__spec__
        if (
            module.__class__ is not Deferred
            or name in _loading
            or spec is None
            or spec.loader is None
        ):
            return
        _loading.add(name)
        try:
            spec.loader.exec_module(module)
            module.__class__ = ModuleType  # type: ignore[assignment]
        finally:
            _loading.remove(name)
