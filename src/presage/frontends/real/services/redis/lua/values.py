"""Lua's values: None, bool, float, bytes, `Table` and functions.

A function takes a list of values and returns one. Numbers are floats, as in Lua 5.1; a key that
is a whole number is one key, however it was computed.
"""

from collections.abc import Callable
from typing import Any

Value = Any
Function = Callable[[list[Value]], list[Value]]


class LuaError(Exception):
    """An error that a script may catch; `value` is what it catches."""

    def __init__(self, value: Value, line: int = 0) -> None:
        super().__init__(value)
        self.value = value
        self.line = line


class Table:
    """Keys and values; a key without a value is not there."""

    def __init__(self, items: list[Value] | None = None) -> None:
        self.items: dict[Value, Value] = {}
        for place, value in enumerate(items or [], 1):
            self.set(float(place), value)

    def get(self, key: Value) -> Value:
        return self.items.get(_hashed(key))

    def set(self, key: Value, value: Value) -> None:
        if key is None or key != key:
            raise LuaError(b"table index is nil" if key is None else b"table index is NaN")
        if value is None:
            self.items.pop(_hashed(key), None)
        else:
            self.items[_hashed(key)] = value

    def length(self) -> int:
        size = 0
        while _hashed(float(size + 1)) in self.items:
            size += 1
        return size

    def array(self) -> list[Value]:
        return [self.get(float(place)) for place in range(1, self.length() + 1)]

    def pairs(self) -> list[tuple[Value, Value]]:
        return [(key[1], value) for key, value in self.items.items()]


def _hashed(key: Value) -> tuple[str, Value]:
    """Tells `true` from 1."""
    return type(key).__name__, key


def truth(value: Value) -> bool:
    return value is not None and value is not False


def type_name(value: Value) -> str:
    if value is None:
        return "nil"
    if isinstance(value, Table):
        return "table"
    names: dict[type, str] = {bool: "boolean", float: "number", bytes: "string"}
    return names.get(type(value), "function")


def to_number(value: Value) -> float | None:
    if isinstance(value, float):
        return value
    if isinstance(value, bytes):
        text = value.strip()
        try:
            if text[:2].lower() == b"0x":
                return float(int(text, 16))
            return None if b"_" in text or text[-1:].isalpha() else float(text)
        except ValueError:
            return None
    return None


def to_text(value: Value) -> bytes | None:
    """A string or a number as bytes; None for anything else."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, float):
        return b"%.14g" % value
    return None
