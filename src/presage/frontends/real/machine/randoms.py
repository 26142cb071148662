"""Generators of random numbers that shared modules keep: each process has its own stream.

A package with a compiled part is loaded once, outside of every process. What it keeps as a global,
or as the default of a parameter, is seeded by the real machine there, and what one process draws
another one lacks. So such a generator asks who runs: a process draws from one of its own, which is
seeded by the chance of the process.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from presage.frontends.real.machine.process import current

KEPT = "randoms"  # a note of a process: by the identity of the generator that is shared


class SharedRandom(random.Random):
    """As `random.Random`, per process; outside of processes it is what it was."""

    def __getattribute__(self, name: str) -> Any:
        process = current()
        if process is None or name.startswith("__"):
            return super().__getattribute__(name)
        kept = process.notes.setdefault(KEPT, {})
        own = kept.get(id(self))
        if own is None:
            own = kept[id(self)] = random.Random()
        return getattr(own, name)


def share(module: ModuleType) -> None:
    """Let the generators that a module keeps be those of processes."""
    for value in list(vars(module).values()):
        for each in _kept(value, module.__name__):
            if type(each) is random.Random:
                each.__class__ = SharedRandom


def _kept(value: Any, module: str) -> Iterator[Any]:
    """A value of a module, the defaults of a function, what a class keeps."""
    yield value
    if isinstance(value, FunctionType):
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
    elif isinstance(value, type) and value.__module__ == module:
        for each in list(vars(value).values()):
            if not isinstance(each, type):
                yield from _kept(getattr(each, "__func__", each), module)
