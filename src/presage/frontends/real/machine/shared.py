"""What modules of the standard library keep once for the interpreter, kept once per process.

Each stands in for a value of such a module. It asks who runs: code of a process sees the value of
that process, everybody else the original.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, MutableSet
from typing import Any

from presage.frontends.real.machine.process import current


class _Shared:
    def __init__(self, name: str, original: Any, make: Callable[[], Any]) -> None:
        self.name = name
        self.original = original
        self._make = make

    def mine(self) -> Any:
        process = current()
        if process is None:
            return self.original
        kept = process.notes.get(self.name)
        if kept is None:
            kept = process.notes[self.name] = self._make()
        return kept


class MappingByProcess(_Shared, MutableMapping[Any, Any]):
    """A mapping; `missing` may make the value of a key that a process lacks."""

    missing: Callable[[Any], Any] | None = None

    def __getitem__(self, key: Any) -> Any:
        mine = self.mine()
        if self.missing is not None and key not in mine and mine is not self.original:
            return self.missing(key)
        return mine[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.mine()[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.mine()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.mine())

    def __len__(self) -> int:
        return len(self.mine())


class SetByProcess(_Shared, MutableSet[Any]):
    """A set."""

    def __contains__(self, value: Any) -> bool:
        return value in self.mine()

    def add(self, value: Any) -> None:
        self.mine().add(value)

    def discard(self, value: Any) -> None:
        self.mine().discard(value)

    def difference_update(self, values: Any) -> None:
        self.mine().difference_update(values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.mine())

    def __len__(self) -> int:
        return len(self.mine())


class FlagByProcess:
    """A truth value: whether the process comes to its end."""

    def __init__(self, original: bool) -> None:
        self._original = original

    def __bool__(self) -> bool:
        process = current()
        return self._original if process is None else process.is_ending


class ClassStandIn:
    """A class that is another one inside of a process: called, derived from, or asked about."""

    def __init__(self, original: Any, simulated: Any, base: Any = None) -> None:
        self.original = original
        self.simulated = simulated
        self._base = base  # what classes derive from; None: by who runs
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(self, name, getattr(original, name))

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._class()(*args, **named)

    def _class(self) -> Any:
        return self.original if current() is None else self.simulated

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self._base or self._class(),)

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, (self.original, self.simulated))

    def __subclasscheck__(self, kind: type) -> bool:
        return issubclass(kind, (self.original, self.simulated))

    def __getitem__(self, item: Any) -> Any:
        return self.original[item]

    def __or__(self, other: Any) -> Any:
        return self.original | other

    def __ror__(self, other: Any) -> Any:
        return other | self.original

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)
