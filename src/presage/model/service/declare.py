"""The marks a user puts into a service class: kinds of fields, and what makes a method run.

A mark only remembers what was said. `shape` reads the marks of a finished class and checks them,
so that the order of decorators and of attributes does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from types import FunctionType
from typing import Any, Literal, TypeVar, overload

from msgspec import Struct

from presage.errors import BadSystem
from presage.model.functions import MARKS
from presage.model.service.clocks import ticks
from presage.model.service.disk import Disk
from presage.model.service.moment import Counter
from presage.model.source import caller, decorates
from presage.model.weights import checked_weight

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

FieldKind = Literal["volatile", "durable", "ghost", "disk"]


class Missing(Enum):
    """The absence of a default, which None cannot stand for."""

    MISSING = "missing"


MISSING = Missing.MISSING


class FieldMark(Struct, frozen=True):
    """The value side of a field declaration."""

    kind: FieldKind
    default: Any = MISSING
    factory: Callable[[], Any] | None = None
    checkpoint: bool = True  # whether checkpoints of a live node hold it
    hidden: bool = False  # part of the state, but never shown


def _mark(
    kind: FieldKind, default: Any, factory: Callable[[], Any] | None, checkpoint: bool = True
) -> Any:
    if default is not MISSING and factory is not None:
        raise BadSystem(
            f"{caller()}: a field has both a default and a factory",
            "two ways to say one thing",
            "give one of them",
        )
    # A class or function as a default is a factory that lost its keyword: `durable(dict)`.
    if isinstance(default, type | FunctionType):
        return FieldMark(kind, MISSING, default, checkpoint)
    return FieldMark(kind, default, factory, checkpoint)


@overload
def state(factory: Callable[[], T], *, checkpoint: bool = True) -> T: ...
@overload
def state(*, default: T, checkpoint: bool = True) -> T: ...
def state(factory: Any = None, *, default: Any = MISSING, checkpoint: bool = True) -> Any:
    """A field that is lost in a crash; `factory` makes its value, once per node.

    With `checkpoint=False` the checkpoints of a live node leave it out: what is predicted from one
    begins with the field's first value.
    """
    if factory is not None and not callable(factory):
        return _mark("volatile", factory, None, bool(checkpoint))
    if factory is None and default is MISSING and not checkpoint:
        raise BadSystem(
            f"{caller()}: `state(checkpoint=False)` has neither a factory nor a default",
            "the field is left out of checkpoints, so something must say what it is then",
            "`state(dict, checkpoint=False)`",
        )
    return _mark("volatile", default, factory, bool(checkpoint))


@overload
def durable(default: T) -> T: ...
@overload
def durable(*, factory: Callable[[], T]) -> T: ...
@overload
def durable() -> Any: ...
def durable(
    default: Any = MISSING,
    *,
    factory: Callable[[], Any] | None = None,
    checkpoint: bool = True,
) -> Any:
    """A field that survives a crash: what the node keeps on disk."""
    if not checkpoint:
        raise BadSystem(
            f"{caller()}: a durable field with `checkpoint=False`",
            "a prediction would begin with an empty disk, and every restart in it lose data",
            "leave `checkpoint` out; or, if a restart may lose it, `state(..., checkpoint=False)`",
        )
    return _mark("durable", default, factory)


@overload
def ghost(default: T) -> T: ...
@overload
def ghost(*, factory: Callable[[], T]) -> T: ...
def ghost(default: Any = MISSING, *, factory: Callable[[], Any] | None = None) -> Any:
    """A field for people only: worlds that differ in nothing else are one state.

    A search starts every handler with the ghost's default, so nothing may depend on its value.
    """
    return _mark("ghost", default, factory)


def disk(*, prefix: bool = False) -> Any:
    """A field that holds a `Disk`: what is written to it is stored later, one write an event.

    A crash loses the writes that are not stored yet; with `prefix` any number of the oldest of
    them may have been stored all the same.
    """
    return FieldMark("disk", MISSING, lambda: Disk(prefix=prefix))


def counter() -> Any:
    """A field that holds a `Counter`, which survives a crash."""
    return FieldMark("durable", MISSING, Counter)


class OnMark(Struct, frozen=True):
    """This method handles messages of one class."""

    message: Any
    when: Callable[..., Any] | None


class TimerMark(Struct, frozen=True):
    """This method runs when the timer of its name fires."""

    periodic: bool
    weight: float | None
    after: float | None


class ActionMark(Struct, frozen=True):
    """This method may run by itself, once per value of `over`, while `when` holds."""

    when: Callable[..., Any] | None
    over: Iterable[Any] | Callable[..., Iterable[Any]] | None
    weight: float | None


class BrokenMark(Struct, frozen=True):
    """This method runs when a connection is gone."""


class WrittenMark(Struct, frozen=True):
    """This method runs when a write has reached the disk."""


class PredictionMark(Struct, frozen=True):
    """This method runs when a violation is predicted."""


Mark = OnMark | TimerMark | ActionMark | BrokenMark | WrittenMark | PredictionMark


def marks_of(value: object) -> tuple[Mark, ...]:
    """The marks on an attribute of a class; none on what is no method of ours."""
    return getattr(value, MARKS, ())


MARKED: list[FunctionType] = []  # since the last class was read; a mark may be lost on the way


def _add(function: F, mark: Mark) -> F:
    if isinstance(function, FunctionType):
        MARKED.append(function)
    try:
        setattr(function, MARKS, (*marks_of(function), mark))
    except AttributeError:
        raise BadSystem(
            f"{caller()}: a `{type(function).__name__}` cannot be a handler",
            "`@property` or another decorator under the mark",
            "mark a plain method",
        ) from None
    return function


def on(
    message: Any = MISSING, *others: Any, when: Callable[..., Any] | None = None
) -> Callable[[F], F]:
    """Handle messages of class `message`; while `when` is false they are not deliverable."""
    if isinstance(message, FunctionType) and not others:
        raise _misused(f"`@on` above `{message.__name__}` names no message", "`@on(Vote)`")
    if message is MISSING:
        raise _misused("`@on()` names no message", "`@on(Vote)`")
    if others:
        each = " ".join(f"`@on({getattr(kind, '__name__', kind)})`" for kind in (message, *others))
        raise _misused("`@on` was given several messages", f"one line each: {each}")
    return lambda function: _add(function, OnMark(message, when))


@overload
def broken(function: F) -> F: ...
@overload
def broken() -> Callable[[F], F]: ...
def broken(function: Any = None) -> Any:
    """Run when the stream to a node is gone: `handler(self, peer)`, with that node's name."""
    return _marking("broken", function, BrokenMark())


@overload
def timer(function: F) -> F: ...
@overload
def timer(
    *, periodic: bool = False, weight: float | None = None, after: float | None = None
) -> Callable[[F], F]: ...
def timer(
    function: Any = None,
    *,
    periodic: bool = False,
    weight: float | None = None,
    after: float | None = None,
) -> Any:
    """Run when the timer named like the method fires: at any time while it is armed.

    Firing disarms it first, unless it is `periodic`. `weight` says how likely it is in a walk;
    `after` is its delay in seconds where it is armed without one: live, and in a timed system.
    """
    delay = _delay(after, periodic)
    return _marking("timer", function, TimerMark(periodic, _weight(weight, "timer"), delay))


@overload
def action(function: F) -> F: ...
@overload
def action(
    *,
    when: Callable[..., Any] | None = None,
    over: Iterable[Any] | Callable[..., Iterable[Any]] | None = None,
    weight: float | None = None,
) -> Callable[[F], F]: ...
def action(
    function: Any = None, *, when: Any = None, over: Any = None, weight: float | None = None
) -> Any:
    """Let the node do this by itself, at any time while `when` holds, for each value of `over`.

    `weight` says how likely it is in a walk.
    """
    return _marking("action", function, ActionMark(when, over, _weight(weight, "action")))


@overload
def written(function: F) -> F: ...
@overload
def written() -> Callable[[F], F]: ...
def written(function: Any = None) -> Any:
    """Run when a write has reached the disk, with its key, and its value if asked for."""
    return _marking("written", function, WrittenMark())


@overload
def on_prediction(function: F) -> F: ...
@overload
def on_prediction() -> Callable[[F], F]: ...
def on_prediction(function: Any = None) -> Any:
    """Run when a live node learns that a violation lies ahead: `handler(self, prediction)`.

    An ordinary handler, given a `PredictedViolation`. Nothing is predicted in a search, so there it
    never runs.
    """
    return _marking("on_prediction", function, PredictionMark())


FIXES = {
    "timer": '`@timer` above the method, `self.arm("name")` to let it fire, `after=` for when',
    "action": "`@action(when=lambda self: ..., over=...)`: guard and values by name",
}


def _marking(what: str, function: Any, mark: Mark) -> Any:
    """The marked function, or the decorator that marks: `@timer` and `@timer()` are one."""
    if function is None:
        return lambda each: _add(each, mark)
    guard = getattr(function, "__name__", "") == "<lambda>" and decorates()
    if guard or not (callable(function) or isinstance(function, property)):
        shown = "a lambda" if guard else repr(function)
        fix = FIXES.get(what, f"`@{what}` above the method, without arguments")
        raise _misused(f"`@{what}(...)` was given {shown} in the place of a method", fix)
    return _add(function, mark)


def _misused(fact: str, fix: str) -> BadSystem:
    return BadSystem(f"{caller()}: {fact}", "a decorator used in another way", fix)


def _weight(weight: float | None, what: str) -> float | None:
    return None if weight is None else checked_weight(weight, f"{caller()}: `@{what}(weight=...)`")


def _delay(after: Any, periodic: bool) -> float | None:
    if after is None:
        return None
    if ticks(after) is None:
        raise BadSystem(
            f"{caller()}: `@timer(after={after!r})` is not an amount of time",
            "a negative number, one without end, or a text",
            "give the seconds until it fires: `@timer(after=5)`",
        )
    if periodic and not ticks(after):
        raise BadSystem(
            f"{caller()}: `@timer(periodic=True, after={after!r})` fires without end at one moment",
            "a periodic timer whose period is less than a thousandth of a second",
            "give a longer period, or use an `@action` for what may happen at any time",
        )
    return float(after)
