"""What can be called: how many arguments a method takes, and that calling it runs it.

Everything a service class marks or presage calls by name is looked at here, when the class is read.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from presage.errors import BadHandler
from presage.model.functions import ANY, is_plain, takes_of
from presage.model.service.fields import Definition


def check_plain(definition: Definition, name: str, function: FunctionType) -> None:
    """Refuse a coroutine or generator where a handler is wanted."""
    if not is_plain(function):
        raise definition.wrong(
            BadHandler,
            name,
            "is a coroutine or generator, which would not run when it is called",
            "`async def` or `yield` in a handler; a step of a node does not wait",
            "let it return, and go on in another handler (a message or a timer)",
        )


def arity(definition: Definition, name: str, function: Callable[..., Any]) -> tuple[int, int]:
    """How many arguments after `self`: at least and at most."""
    takes = takes_of(function)
    least, most = takes if takes is not None else _inspected(definition, name, function)
    if most == 0:
        raise definition.wrong(
            BadHandler, name, "takes no `self`", "`self` was left out", f"`def {name}(self, ...)`"
        )
    return max(least - 1, 0), most - 1


def _inspected(definition: Definition, name: str, function: Callable[..., Any]) -> tuple[int, int]:
    import inspect

    least = most = 0
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            most = ANY
        elif parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            raise definition.wrong(
                BadHandler,
                name,
                f"requires the keyword `{parameter.name}`, which nothing gives it",
                "a `*` in the parameter list",
                "give the parameter a default, or make it positional",
            )
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            most += 1
            least += parameter.default is parameter.empty
    return least, most


def single(
    definition: Definition, name: str, function: Any, mark: str, given: str, parameter: str
) -> None:
    """Refuse a method that cannot be called with one argument, as `mark` says."""
    least, most = arity(definition, name, function)
    if not least <= 1 <= most:
        raise definition.wrong(
            BadHandler,
            name,
            f"has the wrong parameters for `@{mark}`",
            f"it is given {given}",
            f"write `def {name}(self, {parameter})`",
        )
