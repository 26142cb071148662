"""Read a service class once: its fields, and which of its methods runs when.

Everything that can be known to be wrong from the class alone is refused here, while the `class`
statement executes, with the file and line of the attribute. What comes out, a `Shape`, is the
dispatch table that every step of every node of that class uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from types import FunctionType
from typing import Any

from msgspec import Struct

from presage.errors import BadHandler, DuplicateHandler, MutableMessage
from presage.model.functions import static_attribute
from presage.model.service.declare import (
    MARKED,
    ActionMark,
    BrokenMark,
    Mark,
    OnMark,
    PredictionMark,
    TimerMark,
    WrittenMark,
    marks_of,
)
from presage.model.service.fields import MUTABLE, Definition, Field, read_fields
from presage.model.service.live import neighbours_of
from presage.model.service.signature import arity, check_plain, single
from presage.model.source import place_of


class Handler(Struct, frozen=True):
    """Runs when a message of its class is delivered."""

    name: str
    function: Callable[..., Any]
    with_source: bool
    guard: Callable[..., Any] | None
    guard_takes: int  # how many of (self, message, source) the guard is given


class Timer(Struct, frozen=True):
    """Runs when the timer of its name fires."""

    function: Callable[..., Any]
    periodic: bool
    least: int  # how many arguments it must be armed with
    most: int
    weight: float | None  # in walks; None: that of all timers
    after: float | None = None  # its delay where it is armed without one


class Action(Struct, frozen=True):
    """Runs by itself while its guard holds."""

    name: str
    function: Callable[..., Any]
    guard: Callable[..., Any] | None
    guard_takes: int  # how many of (self, value) the guard is given
    over: tuple[Any, ...] | Callable[..., Any] | None  # None: the action takes no value
    weight: float | None  # in walks; None: that of all actions


class Written(Struct, frozen=True):
    """Runs when a write has reached the disk."""

    function: Callable[..., Any]
    takes: int  # how many of (key, value) it is given


class Shape:
    def __init__(self, definition: Definition) -> None:
        cls = definition.cls
        self.service: type = cls
        self.fields: tuple[Field, ...] = read_fields(definition)
        self.handlers: dict[type, Handler] = {}
        self.timers: dict[str, Timer] = {}
        self.actions: dict[str, Action] = {}
        self.broken: tuple[str, Callable[..., Any]] | None = None
        self.written: Written | None = None
        self.prediction: tuple[str, Callable[..., Any]] | None = None
        self.neighbours: Callable[..., Any] | None = neighbours_of(definition)
        self.starts: bool = _starts(definition)
        for name, function, marks in _marked(definition):
            for mark in marks:
                self._add(definition, name, function, mark)
        _check_lost(definition)
        self._found: dict[type, Handler | None] = {}

    def _add(self, definition: Definition, name: str, function: Any, mark: Mark) -> None:
        if isinstance(mark, OnMark):
            other = self.handlers.get(mark.message) if isinstance(mark.message, type) else None
            if other is not None:
                raise definition.wrong(
                    DuplicateHandler,
                    name,
                    f"handles `{mark.message.__name__}`, and so does `{other.name}`",
                    "a handler copied and renamed, or one of the base class under another name",
                    "keep one of them and branch inside it; to replace a base's, use its name",
                )
            self.handlers[mark.message] = _handler(definition, name, function, mark)
        elif isinstance(mark, TimerMark):
            least, most = arity(definition, name, function)
            self.timers[name] = Timer(function, mark.periodic, least, most, mark.weight, mark.after)
        elif isinstance(mark, BrokenMark):
            self._add_broken(definition, name, function)
        elif isinstance(mark, PredictionMark):
            self._add_prediction(definition, name, function)
        elif isinstance(mark, WrittenMark):
            self.written = _written(definition, name, function, self.written)
        else:
            self.actions[name] = _action(definition, name, function, mark)

    def _add_broken(self, definition: Definition, name: str, function: Any) -> None:
        given = "the name of the node that the stream led to"
        single(definition, name, function, "broken", given, "peer")
        if self.broken is not None and self.broken[0] != name:
            raise definition.wrong(
                DuplicateHandler,
                name,
                f"is marked `@broken`, and so is `{self.broken[0]}`",
                "one method per peer, or one of the base class under another name",
                "keep one of them and branch on `peer` inside it",
            )
        self.broken = (name, function)

    def _add_prediction(self, definition: Definition, name: str, function: Any) -> None:
        given = "what was predicted, a `PredictedViolation`"
        single(definition, name, function, "on_prediction", given, "prediction")
        if self.prediction is not None and self.prediction[0] != name:
            raise definition.wrong(
                DuplicateHandler,
                name,
                f"is marked `@on_prediction`, and so is `{self.prediction[0]}`",
                "one method per property, or one of the base class under another name",
                "keep one of them and branch on `prediction.property` inside it",
            )
        self.prediction = (name, function)

    def handler(self, message: type) -> Handler | None:
        """The handler of the class itself, or else of its nearest base that has one."""
        try:
            return self._found[message]
        except KeyError:
            found = (self.handlers[base] for base in message.__mro__ if base in self.handlers)
            self._found[message] = next(found, None)
            return self._found[message]


def _marked(definition: Definition) -> Iterator[tuple[str, Any, tuple[Mark, ...]]]:
    """Methods with marks; one that overrides a marked method keeps its marks."""
    cls = definition.cls
    names: dict[str, tuple[Mark, ...]] = {}
    for base in reversed(cls.__mro__):
        for name, value in base.__dict__.items():
            marks = marks_of(value)
            if marks:
                names[name] = marks
    for name, marks in names.items():
        function = getattr(cls, name, None)
        if function is None:  # `vote = None` in a subclass: it does not handle this any more
            continue
        raw = static_attribute(cls, name)
        if not isinstance(raw, FunctionType) or name == "start":
            raise definition.wrong(
                BadHandler,
                name,
                f"cannot be a handler: it is a `{type(raw).__name__}`"
                if not isinstance(raw, FunctionType)
                else "cannot be a handler: the name is reserved, `start` runs by itself",
                "`@staticmethod`, `@classmethod` or `@property` on it, or a name in use",
                "make it a plain method with a name of its own",
            )
        check_plain(definition, name, raw)
        yield name, raw, marks


def _check_lost(definition: Definition) -> None:
    """A marked method that another attribute of its name has replaced would never run."""
    marked, MARKED[:] = list(MARKED), []
    cls = definition.cls
    for function in marked:
        if function.__qualname__ != f"{cls.__qualname__}.{function.__name__}":
            continue
        there = cls.__dict__.get(function.__name__)
        if not set(map(id, marks_of(function))) <= set(map(id, marks_of(there))):
            raise definition.wrong(
                DuplicateHandler,
                function.__name__,
                f"is defined again, so that its handler at {place_of(function)} would never run",
                "two methods with one name, or `@staticmethod`, `@classmethod` or another decorator"
                " above the mark",
                "give each method a name of its own, and put the mark above other decorators",
            )


def _starts(definition: Definition) -> bool:
    """Whether the class has a `start` of its own."""
    cls = definition.cls
    start = static_attribute(cls, "start", None)
    for base in cls.__mro__:
        if "start" in base.__dict__ and "_presage_base" in base.__dict__:
            return False  # the empty one that every service has
        if "start" in base.__dict__:
            break
    if not isinstance(start, FunctionType) or arity(definition, "start", start)[0] > 0:
        raise definition.wrong(
            BadHandler,
            "start",
            "cannot be called without arguments",
            "parameters that belong into fields",
            "write `def start(self) -> None` and give the rest to the constructor",
        )
    check_plain(definition, "start", start)
    return True


def _handler(definition: Definition, name: str, function: Any, mark: OnMark) -> Handler:
    _check_message(definition, name, mark.message)
    least, most = arity(definition, name, function)
    if least > 2 or most < 1:
        raise definition.wrong(
            BadHandler,
            name,
            f"has the wrong parameters for a handler of `{mark.message.__name__}`",
            "a handler is given the message, and the sender's name if it asks for it",
            f"write `def {name}(self, message)` or `def {name}(self, message, source)`",
        )
    takes = _guard_takes(definition, name, mark.when, ("self", "message", "source"))
    return Handler(name, function, most >= 2, mark.when, takes)


def _action(definition: Definition, name: str, function: Any, mark: ActionMark) -> Action:
    least, most = arity(definition, name, function)
    given = 0 if mark.over is None else 1
    if not least <= given <= most:
        raise definition.wrong(
            BadHandler,
            name,
            "has the wrong parameters for an action",
            "an action is given one value if it has `over`, else none",
            f"write `def {name}(self)`, or with `over=...` `def {name}(self, value)`",
        )
    takes = _guard_takes(definition, name, mark.when, ("self", "value")[: 1 + given])
    over: Any = mark.over
    if over is not None:
        try:
            over = tuple(over)
        except TypeError:
            if not callable(over):
                raise definition.wrong(
                    BadHandler,
                    name,
                    f"has `over={over!r}`, which is neither a collection nor a function",
                    "a single value where its collection is meant",
                    "`over=range(3)` or `over=lambda self: self.peers`",
                ) from None
    return Action(name, function, mark.when, takes, over, mark.weight)


def _written(definition: Definition, name: str, function: Any, other: Written | None) -> Written:
    least, most = arity(definition, name, function)
    if other is not None and other.function is not function:
        raise definition.wrong(
            DuplicateHandler,
            name,
            f"is told of writes, and so is `{other.function.__name__}`",
            "two methods marked `@written`",
            "keep one of them and branch on the key inside it",
        )
    if least > 2:
        raise definition.wrong(
            BadHandler,
            name,
            "has the wrong parameters for a method told of writes",
            "it is given the key of the write, and its value if it asks for it",
            f"write `def {name}(self, key)` or `def {name}(self, key, value)`",
        )
    return Written(function, min(most, 2))


def _guard_takes(definition: Definition, name: str, guard: Any, given: tuple[str, ...]) -> int:
    """How many of `given` the guard wants; its parameters with defaults are its own."""
    if guard is None:
        return 0
    takes = -1
    if callable(guard):
        try:
            takes = 1 + arity(definition, name, guard)[0]
        except ValueError:  # written in C, without a signature: `attrgetter("ready")`
            takes = 1
        except BadHandler:
            takes = 0
    if not 1 <= takes <= len(given):
        raise definition.wrong(
            BadHandler,
            name,
            "has a guard (`when`) with the wrong parameters",
            "a guard is called like its handler, or with `self` alone",
            f"`when=lambda {', '.join(given)}: ...`, or fewer from the right",
        )
    return takes


def _check_message(definition: Definition, name: str, message: Any) -> None:
    if not isinstance(message, type):
        raise definition.wrong(
            BadHandler,
            name,
            f"handles {message!r}, which is not a class",
            "a text or a message instance in the place of its class",
            "name the message's class: `@on(Vote)`",
        )
    dataclass_params = getattr(message, "__dataclass_params__", None)
    struct_config = getattr(message, "__struct_config__", None)
    loose = (
        (is_dataclass(message) and dataclass_params is not None and not dataclass_params.frozen)
        or (struct_config is not None and not struct_config.frozen)
        or issubclass(message, MUTABLE)
    )
    if loose:
        raise definition.wrong(
            MutableMessage,
            name,
            f"handles `{message.__name__}`, whose instances can change after they are sent",
            "a dataclass or Struct that is not frozen, or a container",
            "send a tuple or a frozen dataclass instead"
            if issubclass(message, MUTABLE)
            else f"`@dataclass(frozen=True) class {message.__name__}`, a NamedTuple, or a tuple",
        )
    if is_dataclass(message) and not message.__dataclass_fields__:
        _check_annotated(definition, name, message)


def _check_annotated(definition: Definition, name: str, message: type) -> None:
    """A dataclass without fields whose attributes look as if they were meant as such."""
    for attribute, value in vars(message).items():
        plain = attribute.islower() and not attribute.startswith("_") and not callable(value)
        if plain and not isinstance(value, property | classmethod | staticmethod):
            raise definition.wrong(
                BadHandler,
                name,
                f"handles `{message.__name__}`, a dataclass without fields: `{attribute}` has no"
                " annotation",
                "a dataclass takes only annotated attributes as fields",
                f"`{attribute}: {type(value).__name__} = ...` in `{message.__name__}`",
            )
