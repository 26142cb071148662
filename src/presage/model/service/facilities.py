"""What presage gives every service: its node's name, sends, timers, choices, records.

A service has all of it as attributes of its own, `self.send(...)`, and again behind one object,
`self.presage.send(...)`. A field or method of the user's class wins over an attribute of the same
name, so `log` may be a field; the object behind `presage` is then the way to the other one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, TypeVar

from presage.model.choice import BranchingRandom
from presage.model.service.moment import Moment
from presage.model.service.stream import Stream

T = TypeVar("T")


class Facilities:
    """What a node can do, carried out by the `Run` in the slot `_run`."""

    __slots__ = ()

    _run: Any

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
        """One of `options`, at most 1,000; a search tries each. A calm walk draws by `weights`."""
        return self._run.choose(options, weights)  # type: ignore[no-any-return]

    def now(self) -> Moment:
        """The wall clock: what it says is not known, so a search tries both answers.

        In a node that runs live it is known.
        """
        return self._run.now()  # type: ignore[no-any-return]

    def arm(self, timer: str | Callable[..., Any], *args: Any, after: float | None = None) -> None:
        """Let a `@timer` method, given by name or itself, fire; armed twice is armed once.

        `after` is the time until then, by default that of its `@timer(after=...)`: live, and in a
        system with `clock=Timed(...)`; else it may fire at any time.
        """
        self._run.arm(timer, args, after)

    def disarm(self, timer: str | Callable[..., Any], *args: Any) -> None:
        """Take back `arm` with the same arguments; without any, every `arm` of that timer.

        Nothing happens if it is not armed.
        """
        self._run.disarm(timer, args)

    def armed(self, timer: str | Callable[..., Any], *args: Any) -> bool:
        """Whether `arm` with the same arguments is in force; without any, whether some is."""
        return self._run.armed(timer, args)  # type: ignore[no-any-return]

    def record(self, value: Any) -> None:
        """Tell the observers; `value` is part of what the step does."""
        self._run.record(value)

    def log(self, text: str) -> None:
        """Say something to the reader of a trace; never part of a state."""
        self._run.log(str(text))


class Behind(Facilities):
    """The same, out of reach of a user's fields: `self.presage`."""

    __slots__ = ("_run",)

    def __init__(self, run: Any) -> None:
        self._run = run

    def __repr__(self) -> str:
        return "<what presage gives a service: send, arm, log, ...>"


for _facility in vars(Facilities).values():  # what Python calls them where they are called wrongly
    if isinstance(_facility, FunctionType):
        _facility.__qualname__ = _facility.__qualname__.replace("Facilities", "Service")

PROVIDED = frozenset(name for name in vars(Facilities) if not name.startswith("_"))


class Shadow:
    """Stands in a class for a field called like a facility, so that no attribute shows through.

    An instance's own value is found first; this answers only where there is none.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        raise AttributeError(f"`{owner.__name__}` object has no value for its field `{self.name}`")
