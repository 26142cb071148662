"""Methods that differ in their names alone, from one definition.

MPI has the same call in several modes, blocking and not, and for equal and different parts. What
differs follows from the name.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Signature, signature
from types import FunctionType
from typing import Any, Self


class calls:
    """Makes a function in the body of a class the methods of these names.

    Each gets its own name as the keyword `_name`; an alias that of the method it stands for. They
    are copies, not wrappers: so `help`, and what Python says of wrong arguments, name the method
    that a script called.
    """

    def __init__(self, *names: str, **aliases: str) -> None:
        self._names = {name: name for name in names} | aliases

    def __call__(self, body: Callable[..., Any]) -> Self:
        self._body = body
        return self

    def __set_name__(self, owner: type, name: str) -> None:
        delattr(owner, name)
        assert isinstance(self._body, FunctionType)
        whole = signature(self._body)
        known = [each for each in whole.parameters.values() if each.name != "_name"]
        shown = whole.replace(parameters=known)
        copies = {each: _copy(self._body, each, shown) for each in {*self._names.values()}}
        for each, called in self._names.items():
            setattr(owner, each, copies[called])


def _copy(body: FunctionType, name: str, shown: Signature) -> Callable[..., Any]:
    made = FunctionType(body.__code__, body.__globals__, name, body.__defaults__, body.__closure__)
    made.__kwdefaults__ = {"_name": name}
    made.__qualname__ = f"{body.__qualname__.rpartition('.')[0]}.{name}"
    made.__doc__, made.__module__ = body.__doc__, body.__module__
    made.__annotations__ = body.__annotations__
    vars(made)["__signature__"] = shown
    return made
