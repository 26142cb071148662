"""Methods that differ in their names alone, from one definition.

MPI has the same call in several modes, blocking and not, and for equal and different parts. What
differs follows from the name.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Signature, signature
from types import FunctionType
from typing import Any


def named(body: Callable[..., Any], *names: str) -> tuple[Callable[..., Any], ...]:
    """`body` as methods of these names; each gets its own as the keyword `_name`.

    They are copies, not wrappers: so `help`, and what Python says of wrong arguments, name the
    method that a script called.
    """
    assert isinstance(body, FunctionType)
    whole = signature(body)
    shown = [each for each in whole.parameters.values() if each.name != "_name"]
    return tuple(_copy(body, name, whole.replace(parameters=shown)) for name in names)


def _copy(body: FunctionType, name: str, shown: Signature) -> Callable[..., Any]:
    made = FunctionType(body.__code__, body.__globals__, name, body.__defaults__, body.__closure__)
    made.__kwdefaults__ = {"_name": name}
    made.__qualname__ = f"{body.__qualname__.rpartition('.')[0]}.{name}"
    made.__doc__, made.__module__ = body.__doc__, body.__module__
    made.__annotations__ = body.__annotations__
    vars(made)["__signature__"] = shown
    return made
