"""`Service`: the class a user derives from to say what a node remembers and how it reacts.

Annotated attributes are the node's state; everything else about it (timers, sends, choices) goes
through the methods here. An instance is either a prototype, whose field values a `System` takes
as the node's initial ones, or lives for one run of one handler.

Invariant: the instance `__dict__` holds the declared fields and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from presage.errors import BadPrototype, explain
from presage.model.choice import BranchingRandom
from presage.model.fields import Definition, Field
from presage.model.moment import Moment
from presage.model.run import OUTSIDE
from presage.model.shape import Shape
from presage.model.source import caller, class_statement
from presage.model.stream import Stream

T = TypeVar("T")


class Service:
    """The code and state of a node. Derive from it; declare fields; mark handlers."""

    __slots__ = ("__dict__", "_run")

    _run: Any
    _presage_base: ClassVar[bool] = True  # tells this class's empty `start` from a user's
    _presage_shape: ClassVar[Shape]
    _presage_fields: ClassVar[tuple[Field, ...]] = ()

    def __init_subclass__(cls, *, view: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if view:  # a read-only face of a class that was read already
            return
        cls._presage_shape = Shape(Definition(cls, *class_statement()))
        cls._presage_fields = cls._presage_shape.fields

    def __init__(self, **values: Any) -> None:
        self._run = OUTSIDE
        cls = type(self)
        for field in cls._presage_fields:
            if field.name in values:
                self.__dict__[field.name] = values.pop(field.name)
            elif field.required:
                raise BadPrototype(
                    explain(
                        f"{caller()}: `{cls.__name__}` was made without its field `{field.name}`",
                        "the field has no default",
                        f"`{cls.__name__}({field.name}=...)`, or give it a default in the class",
                    )
                )
            else:
                self.__dict__[field.name] = field.make()
        if values:
            known = ", ".join(f"`{field.name}`" for field in cls._presage_fields) or "none"
            raise BadPrototype(
                explain(
                    f"{caller()}: `{cls.__name__}` has no field `{next(iter(values))}`;"
                    f" its fields are {known}",
                    "a misspelt name, or an attribute without annotation",
                    "declare it in the class body with a type",
                )
            )

    def start(self) -> None:
        """Runs when the node comes up: at the beginning and after every restart."""

    @property
    def name(self) -> str:
        """The node's name, a key of `System(nodes=...)`."""
        return self._run.name  # type: ignore[no-any-return]

    @property
    def up(self) -> bool:
        """Whether the node runs; inside a handler it always does."""
        return self._run.up  # type: ignore[no-any-return]

    @property
    def timers(self) -> frozenset[tuple[Any, ...]]:
        """The armed timers, each as (name, *args)."""
        return self._run.timers  # type: ignore[no-any-return]

    @property
    def random(self) -> BranchingRandom:
        """A `random.Random` whose every integer draw is tried with every result."""
        return self._run.random  # type: ignore[no-any-return]

    @property
    def stream(self) -> Stream:
        """The node's streams: `send`, `connect` and `close`; for systems with `streams=...`."""
        return self._run.stream  # type: ignore[no-any-return]

    def send(self, to: str, message: Any) -> None:
        """Put `message` into flight to the node named `to`."""
        self._run.send(to, message)

    def choose(self, options: Sequence[T], *, weights: Sequence[float] | None = None) -> T:
        """One of `options`; a search tries each. A calm walk draws by `weights`."""
        return self._run.choose(options, weights)  # type: ignore[no-any-return]

    def now(self) -> Moment:
        """The wall clock: what it says is not known, so a search tries both answers."""
        return self._run.now()  # type: ignore[no-any-return]

    def arm(self, timer: str, *args: Any, after: float | None = None) -> None:
        """Let the timer named like a `@timer` method fire; armed twice is armed once.

        `after` is the time until then, in a system with `clock=Timed(...)`; else it may fire at
        any time.
        """
        self._run.arm(timer, args, after)

    def disarm(self, timer: str, *args: Any) -> None:
        """Take back `arm` with the same arguments; nothing happens if it is not armed."""
        self._run.disarm(timer, args)

    def armed(self, timer: str, *args: Any) -> bool:
        """Whether `arm` with the same arguments is in force."""
        return self._run.armed(timer, args)  # type: ignore[no-any-return]

    def record(self, value: Any) -> None:
        """Tell the observers; `value` is part of what the step does."""
        self._run.record(value)

    def log(self, text: str) -> None:
        """Say something to the reader of a trace; never part of a state."""
        self._run.log(str(text))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({fields})"
