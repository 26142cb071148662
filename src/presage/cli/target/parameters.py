"""The keyword arguments of a system's factory, as a command line gives them: as text.

A parameter's annotation says how to read its text; without one its default does. What the factory
would not accept is refused before it runs, with the values it does accept.
"""

from __future__ import annotations

import math
import re
import types
import typing
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from presage.model.functions import ABSENT, keywords_of

MISSING = ABSENT
BOOLS = {"true": True, "yes": True, "on": True, "1": True}
BOOLS |= {"false": False, "no": False, "off": False, "0": False}
NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}

Reader = Callable[[str], Any]


class Parameter(Struct, frozen=True):
    """One keyword argument of a factory."""

    name: str
    annotation: Any = MISSING
    default: Any = MISSING
    about: str = ""  # what the factory's docstring says of it

    @property
    def required(self) -> bool:
        return self.default is MISSING

    @property
    def default_text(self) -> str:
        """The default as `--set` would give it; `...` where a value must be given."""
        return "..." if self.required else write(self.default)

    @property
    def values(self) -> list[str]:
        """The texts it accepts, if they can be listed."""
        listed: list[str] = []
        for kind in self._kinds():
            if typing.get_origin(kind) is typing.Literal:
                listed += [write(value) for value in typing.get_args(kind)]
            elif _is_enum(kind):
                listed += [member.name for member in kind]
            elif kind is bool:
                listed += ["true", "false"]
            elif kind is type(None):
                listed.insert(0, "none")
            else:
                return []
        return listed

    @property
    def expects(self) -> str:
        """What it accepts, in words."""
        if values := self.values:
            return f"one of {', '.join(values)}"
        words = [
            NAMES.get(kind, write(None) if kind is type(None) else "one of its values")
            for kind in self._kinds()
        ]
        return " or ".join(dict.fromkeys(words)) or "another type than text can give"

    def read(self, text: str) -> Any:
        """The value that `text` means; raises ValueError if it means none."""
        for kind in sorted(self._kinds(), key=_reading_order):
            try:
                return _read(kind, text)
            except ValueError:
                continue
        raise ValueError(f"{self.name} is {self.expects}, not {text!r}")

    def _kinds(self) -> list[Any]:
        annotated = list(_alternatives(self.annotation))
        if any(_readable(kind) for kind in annotated):
            return [kind for kind in annotated if _readable(kind)]
        if self.annotation is MISSING and (self.required or self.default is None):
            return [type(None), bool, int, float, str]  # nothing is known: take it as it looks
        kind = type(self.default)
        return [kind] if kind is not type(None) and _readable(kind) else []


def parameters_of(factory: Callable[..., Any]) -> dict[str, Parameter]:
    """Every parameter of `factory` that can be given by name."""
    import inspect

    found, about = taken_by(factory), _described(inspect.getdoc(factory) or "")
    return {name: replace(each, about=about.get(name, "")) for name, each in found.items()}


def taken_by(factory: Callable[..., Any]) -> dict[str, Parameter]:
    """The same without what the docstring says."""
    try:
        hints = typing.get_type_hints(factory)
    except Exception:  # an annotation may name what exists only for a type checker
        hints = {}
    named = keywords_of(factory)[0].items()
    return {name: Parameter(name, hints.get(name, MISSING), default) for name, default in named}


def takes_any(factory: Callable[..., Any]) -> bool:
    """Whether `factory` has a `**` parameter."""
    return keywords_of(factory)[1]


def write(value: Any) -> str:
    """The text that `--set` reads back as `value`."""
    if isinstance(value, Enum):
        return value.name
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _alternatives(annotation: Any) -> Iterable[Any]:
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        yield from _alternatives(typing.get_args(annotation)[0])
    elif origin is typing.Union or origin is types.UnionType:
        for part in typing.get_args(annotation):
            yield from _alternatives(part)
    elif annotation is None:
        yield type(None)
    elif annotation is not MISSING:
        yield annotation


def _readable(kind: Any) -> bool:
    literal = typing.get_origin(kind) is typing.Literal
    return literal or kind in (bool, int, float, str, type(None)) or _is_enum(kind)


def _is_enum(kind: Any) -> typing.TypeGuard[type[Enum]]:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _reading_order(kind: Any) -> int:
    # The narrowest first: every text is a `str`, every whole number a `float`, and 0 and 1 are
    # numbers wherever a number may be meant.
    return {int: 1, float: 2, bool: 3, str: 4}.get(kind, 0)


def _read(kind: Any, text: str) -> Any:
    if kind is str:
        return text
    if kind is int:
        return int(text, 0) if re.match(r"[+-]?0[xob]", text) else int(text)
    if kind is float:
        return _read_float(text)
    if kind is type(None):
        return _pick({"none": None, "null": None}, text)
    if kind is bool:
        return _pick(BOOLS, text)
    if _is_enum(kind):
        members = {str(member.value): member for member in kind}
        return _pick(members | {member.name: member for member in kind}, text)
    return _pick({write(value): value for value in typing.get_args(kind)}, text)


def _read_float(text: str) -> float:
    value = float(text)
    if math.isnan(value):
        raise ValueError("nan")
    return value


def _pick(values: dict[str, Any], text: str) -> Any:
    if text in values:
        return values[text]
    folded = {name.lower(): value for name, value in values.items()}
    if text.lower() not in folded:
        raise ValueError(text)
    return folded[text.lower()]


def _described(docstring: str) -> dict[str, str]:
    """`name: text` paragraphs of a docstring, continuation lines indented."""
    found: dict[str, str] = {}
    name = ""
    for line in docstring.splitlines():
        if match := re.match(r"`?(\w+)`?: +(\S.*)", line):
            name = match[1]
            found[name] = match[2]
        elif name and line.startswith(" ") and line.strip():
            found[name] += " " + line.strip()
        else:
            name = ""
    return found
