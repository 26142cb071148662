"""Fields that never change: settings, such as the number of a node or the list of its peers.

They say which node it is, not what it does. Bytecode shows it: a field whose value cannot be
changed, and that no code of the class assigns.

Invariant: what is said here is checked again on each state. A value that is not the first one of
its node counts, whatever the bytecode says.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from enum import Enum
from types import CodeType, FunctionType
from typing import Any

from presage.model.service.node import Node

REVEALING = frozenset(("setattr", "vars", "__dict__", "__setattr__"))
IMMUTABLE = (bool, int, float, complex, str, bytes, type(None))


def constant_fields(node: Node) -> frozenset[int]:
    """The positions of values that no code of the node's class changes."""
    codes = [code for function in _functions(node.service) for code in _codes(function.__code__)]
    if any(not REVEALING.isdisjoint(code.co_names) for code in codes):
        return frozenset()
    stored = {
        each.argval
        for code in codes
        for each in dis.get_instructions(code)
        if each.opname in ("STORE_ATTR", "DELETE_ATTR")
    }
    first = node.initial()
    return frozenset(
        position
        for field, position in node.positions.items()
        if field not in stored and _is_immutable(first[position])
    )


def _functions(service: type) -> Iterator[FunctionType]:
    for base in service.__mro__:
        if "_presage_base" in vars(base):
            return
        for value in vars(base).values():
            for part in (value, *(getattr(value, name, None) for name in ("fget", "__func__"))):
                if isinstance(part, FunctionType):
                    yield part


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _is_immutable(value: Any) -> bool:
    if type(value) in (tuple, frozenset):
        return all(map(_is_immutable, value))
    return type(value) in IMMUTABLE or isinstance(value, Enum)
