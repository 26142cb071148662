"""What a compiled package holds of other packages: those are shared together with it.

A package with a compiled part that may import is loaded once, outside of every process. It brings
others along, and keeps their modules, classes and functions. If a process had a copy of these for
itself, there would be two of each: `isinstance` would fail between them, and what one of them
imports late would come from the other. So a package that such a one holds is whose that one is.

Invariant: a package that some process had for itself stays so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any


def _home(value: Any) -> Any:
    """The module that a value comes from."""
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, type | FunctionType | BuiltinFunctionType):
        return value.__module__
    return type(value).__module__


class Holdings:
    """Which packages the modules of a package hold."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[ModuleType, int, set[str]]] = {}  # by module

    def of(self, modules: Mapping[str, ModuleType], tops: set[str]) -> Iterator[str]:
        """The packages that those of `tops` hold, as far as they are loaded."""
        for name, module in modules.items():
            if name.partition(".")[0] in tops and isinstance(module, ModuleType):
                yield from self._held(name, module)

    def _held(self, name: str, module: ModuleType) -> set[str]:
        values = vars(module)
        seen = self._seen.get(name)
        if seen is None or seen[0] is not module or seen[1] != len(values):
            homes = {_home(value) for value in list(values.values())}
            held = {home.partition(".")[0] for home in homes if isinstance(home, str)}
            seen = self._seen[name] = module, len(values), held
        return seen[2]
