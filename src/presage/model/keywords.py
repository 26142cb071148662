"""Arguments given under a name that is none: refused with the name that was probably meant."""

from __future__ import annotations

import functools
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from presage.errors import BadSystem, did_you_mean
from presage.model.source import caller

C = TypeVar("C", bound=type)


def named_arguments(cls: C) -> C:
    """Let the constructor of `cls` say which names it knows; else Python says only which not."""
    constructor: Any = cls.__dict__["__init__"]
    if is_dataclass(cls):
        known = [field.name for field in fields(cls) if field.init]
    else:
        code = constructor.__code__
        known = list(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount])

    @functools.wraps(constructor)
    def checked(self: Any, *args: Any, **named: Any) -> None:
        for name in named:
            if name not in known:
                raise unknown_argument(cls.__name__, name, known)
        constructor(self, *args, **named)

    setattr(cls, "__init__", checked)  # noqa: B010 - mypy does not let a method be assigned
    return cls


def unknown_argument(what: str, name: str, known: list[str]) -> BadSystem:
    """Why `what(name=...)` is refused."""
    listed = ", ".join(f"`{each}`" for each in known)
    return BadSystem(
        f"{caller()}: `{what}` has no argument `{name}`{did_you_mean(name, known)}",
        "a misspelt name",
        f"it has {listed}",
    )
