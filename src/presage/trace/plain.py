"""A value as nested plain data: what a structural diff compares and what a page can hold.

Numbers, booleans, None and texts stay what they are; so do lists and tuples, of plain data.
Whatever has named parts becomes a dict from text to plain value, and under the key `TYPE`, which no
part of a value can have, the dict says what it stands for: the name of a class, or `set`. A dict
with that key alone is an atom: its text is all there is to see of it.
"""

from __future__ import annotations

from collections import deque
from enum import Enum
from math import isfinite
from typing import Any, TypeAlias

from presage._core import sha256
from presage.trace.show import NESTING_MAX, declared_fields, fields_of, show, written_by_hand

Plain: TypeAlias = (
    "None | bool | int | float | str | list[Plain] | tuple[Plain, ...] | dict[str, Plain]"
)

TYPE = ""
SET = "set"
DEQUE = "deque"
TEXT_MAX = 4_000  # characters of one text; of what is longer, a digest tells whether it differs
EXACT_MAX = 2**53  # up to here every reader of JSON has whole numbers


def plain(value: Any) -> Plain:
    """`value` as plain data; equal values give equal data, whatever the hash seed."""
    return _plain(value, NESTING_MAX)


def _plain(value: Any, room: int) -> Plain:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return atom(value)
    if type(value) is int and -EXACT_MAX <= value <= EXACT_MAX:
        return value
    if type(value) is float and isfinite(value):
        return value
    if type(value) is str:
        return shortened(value)
    if room == 0:
        return atom(value)
    if isinstance(value, dict):
        return _mapping(value, room)
    if isinstance(value, set | frozenset):
        items = sorted(value, key=show)
        return {TYPE: SET, **{shortened(show(item)): _plain(item, room - 1) for item in items}}
    if isinstance(value, deque):
        return {TYPE: DEQUE, "items": [_plain(item, room - 1) for item in value]}
    if isinstance(value, list):
        return [_plain(item, room - 1) for item in value]
    if isinstance(value, tuple) and not hasattr(type(value), "_fields"):
        return tuple(_plain(item, room - 1) for item in value)
    return _record(value, room)


def _mapping(value: dict[Any, Any], room: int) -> Plain:
    kind = type(value)
    head: dict[str, Plain] = {} if kind is dict else {TYPE: kind.__name__}
    return head | {shortened(show(key)): _plain(item, room - 1) for key, item in value.items()}


def _record(value: Any, room: int) -> Plain:
    kind = type(value)
    by_fields = declared_fields(kind) is not None or not written_by_hand(kind)
    names = fields_of(value) if by_fields else []
    if kind.__module__ == "builtins" or not names:
        return atom(value)
    parts = {name: _plain(getattr(value, name), room - 1) for name in names}
    return {TYPE: kind.__name__} | parts


def atom(value: Any) -> Plain:
    """A value that is only shown."""
    return {TYPE: shortened(show(value))}


def shortened(text: str, most: int = TEXT_MAX) -> str:
    """`text`, without lone surrogates; of a long one the beginning, its length and a digest."""
    clean = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(clean) <= most:
        return clean
    digest = sha256(clean.encode()).hex()[:8]
    return f"{clean[:most]}... ({len(clean):,} characters, digest {digest})"


def text_of(value: Plain) -> str:
    """Plain data as one line for people."""
    if isinstance(value, dict):
        kind = value.get(TYPE)
        parts = {name: each for name, each in value.items() if name != TYPE}
        if kind == SET:
            return "{" + ", ".join(parts) + "}" if parts else "set()"
        if kind is None:
            return "{" + ", ".join(f"{n}: {text_of(v)}" for n, v in parts.items()) + "}"
        if kind == DEQUE:
            return f"{DEQUE}({text_of(parts['items'])})"
        if not parts:
            return str(kind)
        return f"{kind}(" + ", ".join(f"{n}={text_of(v)}" for n, v in parts.items()) + ")"
    if isinstance(value, list):
        return "[" + ", ".join(map(text_of, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(text_of, value)) + (",)" if len(value) == 1 else ")")
    return repr(value)
