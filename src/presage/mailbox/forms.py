"""One generator, two forms: a function that waits, and a coroutine to await.

What a call does is written once, as a generator of operations. `presage.mailbox` has it as a plain
function, `presage.mailbox.aio` as a coroutine; names, parameters and docstrings are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from presage.process.context import Asking, awaiting, blocking

P = ParamSpec("P")
T = TypeVar("T")


def plain(steps: Callable[P, Asking[T]]) -> Callable[P, T]:
    """For plain functions: it waits where it says so."""

    @wraps(steps)
    def call(*args: P.args, **named: P.kwargs) -> T:
        return blocking(steps(*args, **named))

    _describe(call, steps)
    return call


def awaited(steps: Callable[P, Asking[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """For coroutines: it is to be awaited."""

    @wraps(steps)
    async def call(*args: P.args, **named: P.kwargs) -> T:
        return await awaiting(steps(*args, **named))

    _describe(call, steps)
    return call


def _describe(call: Callable[..., Any], steps: Callable[..., Any]) -> None:
    """What `help` shows: the result, not the generator that comes to it."""
    assert isinstance(steps, FunctionType)
    name = call.__name__ = call.__qualname__ = steps.__name__.removeprefix("_")
    shown = FunctionType(steps.__code__, steps.__globals__, name, steps.__defaults__)
    shown.__kwdefaults__ = steps.__kwdefaults__
    result = steps.__annotations__["return"].removeprefix("Asking[").removesuffix("]")
    shown.__annotations__ = steps.__annotations__ | {"return": result}
    vars(call)["__wrapped__"] = shown  # where signatures are looked up, when somebody asks
