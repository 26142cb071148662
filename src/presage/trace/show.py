"""Write a value down the same way in every process.

`repr` is not good enough: a set prints in hash order and a plain object prints its address, so
two runs of one system would tell two stories. Equal values give equal text here, whatever the
hash seed; a class that has its own `__repr__` is believed.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from enum import Enum
from types import FunctionType
from typing import Any

NESTING_MAX = 40  # deeper than any state a person reads, shallower than the recursion limit
TEXT_MAX = 4_000  # characters of one written value; a trace is read by people
GENERATED = {"collections", "dataclasses", "reprlib"}  # modules that write a `__repr__` for others


def show(value: Any) -> str:
    """`value` as one line of text, cut after `TEXT_MAX` characters."""
    text = _show(value, NESTING_MAX)
    return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 3] + "..."


def plural(count: int, noun: str) -> str:
    """`1 step`, `2,000 steps`, `2 properties`, `2 processes`."""
    if count != 1 and noun.endswith("ty"):
        noun = f"{noun[:-1]}ies"
    elif count != 1:
        noun += "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}"


def show_call(name: str, args: Iterable[Any]) -> str:
    """`name`, or `name(1, 'a')` when there are arguments."""
    written = ", ".join(show(arg) for arg in args)
    return f"{name}({written})" if written else name


def _show(value: Any, room: int) -> str:
    kind = type(value)
    if room == 0:
        return "..."
    if isinstance(value, Enum):
        return f"{kind.__name__}.{value.name}"
    if written_by_hand(kind):
        return _repr(value)
    if isinstance(value, Counter | defaultdict | OrderedDict):
        return f"{kind.__name__}({_show_dict(value, room)})"
    if isinstance(value, dict):
        return _show_dict(value, room)
    if isinstance(value, set | frozenset):
        return _show_set(value, room)
    if isinstance(value, list):
        return f"[{_items(value, room)}]"
    if isinstance(value, deque):
        return f"deque([{_items(value, room)}])"
    if isinstance(value, tuple) and not hasattr(kind, "_fields"):
        return f"({_items(value, room)}{',' if len(value) == 1 else ''})"
    if kind.__module__ == "builtins":
        return _repr(value)
    fields = (f"{name}={_show(getattr(value, name), room - 1)}" for name in fields_of(value))
    return f"{kind.__name__}({', '.join(fields)})"


def _items(values: Iterable[Any], room: int) -> str:
    return ", ".join(_show(value, room - 1) for value in values)


def _show_set(value: set[Any] | frozenset[Any], room: int) -> str:
    # Sorted as text: elements need not be comparable, and text is what must be stable.
    inner = ", ".join(sorted(_show(item, room - 1) for item in value))
    return f"{{{inner}}}" if inner else "set()"


def _show_dict(value: dict[Any, Any], room: int) -> str:
    pairs = [f"{_show(k, room - 1)}: {_show(v, room - 1)}" for k, v in value.items()]
    if not isinstance(value, OrderedDict):
        pairs.sort()
    return "{" + ", ".join(pairs) + "}"


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception:  # a user's `__repr__` may fail on a half-built value; the story goes on
        return f"<{type(value).__name__}>"


def written_by_hand(kind: type) -> bool:
    """Whether a person wrote the `__repr__` of `kind`; C's and the generated ones do not count."""
    function = kind.__repr__
    return isinstance(function, FunctionType) and function.__globals__["__name__"] not in GENERATED


def declared_fields(kind: type) -> list[str] | None:
    """The fields that a dataclass, a struct or a named tuple declares; None of other classes."""
    for attribute in ("__dataclass_fields__", "__struct_fields__", "_fields"):
        if (names := getattr(kind, attribute, None)) is not None:
            return list(names)
    return None


def fields_of(value: Any) -> list[str]:
    """The names of what an object is made of, in the order of their declaration."""
    kind = type(value)
    if (names := declared_fields(kind)) is not None:
        return [name for name in names if hasattr(value, name)]
    slots: list[str] = []
    for base in reversed(kind.__mro__):
        declared = vars(base).get("__slots__", ())
        slots += [declared] if isinstance(declared, str) else list(declared)
    names = [*slots, *sorted(getattr(value, "__dict__", {}))]
    return [name for name in names if not name.startswith("__") and hasattr(value, name)]
