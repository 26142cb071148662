"""Whether a callable that a target names makes a system, and may be called to see.

It is called only if it is said to return one. That is an annotation, or, for a target that the user
typed, that it is a function of the very file that was named.
"""

from __future__ import annotations

import functools
import types
import typing
from pathlib import Path
from typing import Any

from presage.model.world.system import System
from presage.process.program import Program
from presage.ui.origin import file_of

CHECKABLE = (System, Program)
NAMES = ("System", "Program")


def returns_system(thing: Any) -> bool:
    """Whether a call of `thing` is said to give a `System` or a `Program`."""
    while isinstance(thing, functools.partial):
        thing = thing.func
    if isinstance(thing, type):
        return issubclass(thing, CHECKABLE)
    if not hasattr(thing, "__annotations__"):
        thing = type(thing).__call__
    written = getattr(thing, "__annotations__", {}).get("return")
    try:
        written = typing.get_type_hints(thing).get("return", written)
    except Exception:  # an annotation may name what exists only for a type checker
        pass
    if isinstance(written, str):  # it could not be looked up: believe its name
        return all(part.strip().split(".")[-1] in NAMES for part in written.split("|"))
    is_union = typing.get_origin(written) in (typing.Union, types.UnionType)
    parts = typing.get_args(written) if is_union else (written,)
    return all(isinstance(part, type) and issubclass(part, CHECKABLE) for part in parts)


def is_function_of(target: str, thing: Any) -> bool:
    """Whether `thing` is written in the file that `target` names."""
    file = file_of(target)
    if file is None or not isinstance(thing, types.FunctionType):
        return False
    return Path(thing.__code__.co_filename).resolve() == Path(file).resolve()
