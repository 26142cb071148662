"""`threading.local` for simulated threads: a namespace per thread, and per real one outside.

After `_threading_local` of the standard library: the dictionary of the object is that of the thread
that looks.
"""

from __future__ import annotations

from itertools import count
from threading import local
from typing import Any

from presage.frontends.real.machine.process import current

_numbers = count(1).__next__
_OUTSIDE = local()


def _namespaces() -> dict[int, dict[str, Any]]:
    process = current()
    if process is None or process.thread is None:
        return _OUTSIDE.__dict__.setdefault("namespaces", {})  # type: ignore[no-any-return]
    return process.thread.locals


class SimulatedLocal:
    """As `threading.local`."""

    __slots__ = ("__dict__", "__weakref__", "_local__made")

    def __new__(cls, /, *args: Any, **named: Any) -> SimulatedLocal:
        if (args or named) and cls.__init__ is object.__init__:
            raise TypeError("Initialization arguments are not supported")
        made = object.__new__(cls)
        number = _numbers()
        object.__setattr__(made, "_local__made", (number, args, named))
        _namespaces()[number] = object.__getattribute__(made, "__dict__")
        return made

    def __getattribute__(self, name: str) -> Any:
        _enter(self)
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "__dict__":
            raise AttributeError(
                f"{type(self).__name__!r} object attribute '__dict__' is read-only"
            )
        _enter(self)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if name == "__dict__":
            raise AttributeError(
                f"{type(self).__name__!r} object attribute '__dict__' is read-only"
            )
        _enter(self)
        object.__delattr__(self, name)


def _enter(made: SimulatedLocal) -> None:
    """Let the object have the namespace of this thread; a new one is initialized."""
    number, args, named = object.__getattribute__(made, "_local__made")
    namespaces = _namespaces()
    namespace = namespaces.get(number)
    is_new = namespace is None
    if namespace is None:
        namespace = namespaces[number] = {}
    object.__setattr__(made, "__dict__", namespace)
    if is_new and type(made).__init__ is not object.__init__:
        type(made).__init__(made, *args, **named)
