"""What `self` can do besides its fields: the effects of one run of one handler, gathered.

A service instance lives for one run. It holds its fields in `__dict__` and one of the objects here
in its slot `_run`: a `Run` inside a handler, a `Quiet` inside a guard, `OUTSIDE` otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from presage._core import Codec
from presage.errors import BadCall, NotState, UnknownNode, did_you_mean
from presage.model.choice import BranchingRandom, Chooser
from presage.model.service.clocks import delay
from presage.model.service.down import Down
from presage.model.service.local_state import Flow, Limit, Timers, is_armed, timer_name
from presage.model.service.moment import Moment
from presage.model.service.shape import Shape
from presage.model.service.stream import Stream, Streams
from presage.model.source import caller

NOW = Moment()


class Run:
    """The effects of one run. Sends and records keep their order, which is part of the result."""

    __slots__ = (
        "_codec",
        "_indices",
        "_random",
        "_shape",
        "_stream",
        "_streams",
        "chooser",
        "delays",
        "logs",
        "name",
        "records",
        "sends",
        "timers",
    )

    up = True

    def __init__(
        self,
        name: str,
        shape: Shape,
        indices: Mapping[str, int],
        timers: Timers,
        chooser: Chooser,
        codec: Codec,
        streams: Streams | None = None,
    ) -> None:
        self.name = name
        self.timers = timers
        self.chooser = chooser
        self.sends: list[tuple[int, Any]] = []
        self.records: list[Any] = []
        self.logs: list[str] = []
        self.delays: dict[tuple[Any, ...], int | None] = {}  # of the timers armed in this run
        self._codec = codec
        self._shape = shape
        self._indices = indices  # node name -> index
        self._random: BranchingRandom | None = None
        self._streams = streams
        self._stream: Stream | None = None

    @property
    def random(self) -> BranchingRandom:
        """Made on first use: most handlers draw nothing."""
        if self._random is None:
            self._random = BranchingRandom(self.chooser)
        return self._random

    @property
    def stream(self) -> Stream:
        """Made on first use, like `random`."""
        if self._stream is None:
            if self._streams is None:
                self._refuse_streams()
            size = self._streams.queue_size
            self._stream = Stream(size, self.chooser, self._peer, self._as_it_is_now)
        return self._stream

    def end(self) -> tuple[Sequence[Flow], Sequence[Limit]]:
        """The handler has returned: what it did to streams, and what that rests on.

        The stream and the run refer to each other. They part here, so that both are freed at once
        and not by the garbage collector.
        """
        stream, self._stream = self._stream, None
        return ((), ()) if stream is None else stream.end()

    def send(self, to: str, message: Any) -> None:
        self.sends.append((self._peer(to, "send"), self._as_it_is_now(message, "message")))

    def _peer(self, to: str, what: str) -> int:
        try:
            return self._indices[to]
        except (KeyError, TypeError):
            self.chooser.refuse(UnknownNode(to, tuple(self._indices), f"{caller()}: `{what}`"))

    def choose(self, options: Sequence[Any], weights: Sequence[float] | None = None) -> Any:
        return self.chooser.choose(options, weights)

    def now(self) -> Moment:
        number = self.chooser.now()
        return NOW if number is None else Moment(number)

    def arm(self, timer: Any, args: tuple[Any, ...], after: float | None = None) -> None:
        key = self._timer(timer, args)
        try:
            self.timers |= {key}
            self.delays[key] = delay(key[0], after)
        except BadCall as error:
            self.chooser.refuse(error)

    def disarm(self, timer: Any, args: tuple[Any, ...]) -> None:
        name = self._timer(timer, args)[0] if args else self._timer_name(timer)
        gone = {(name, *args)} if args else {each for each in self.timers if each[0] == name}
        self.timers -= gone
        for key in gone:
            self.delays.pop(key, None)

    def armed(self, timer: Any, args: tuple[Any, ...]) -> bool:
        if args:
            return self._timer(timer, args) in self.timers
        return is_armed(self.timers, self._timer_name(timer), ())

    def _timer_name(self, timer: Any) -> str:
        name = timer_name(timer)
        if not isinstance(name, str) or name not in self._shape.timers:
            self._refuse_timer(name)
        return name

    def _timer(self, timer: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The timer as it stands among the armed ones; refuses arguments that it cannot have."""
        name = self._timer_name(timer)
        declared = self._shape.timers[name]
        if not declared.least <= len(args) <= declared.most:
            least, most = declared.least, declared.most
            takes = f"{least}" if least == most else f"{least} to {most}"
            self._refuse(
                f"timer `{name}` cannot be armed with {len(args)} arguments; it takes {takes}",
                "arguments left out or added",
                f"give what `def {name}(self, ...)` takes",
            )
        key = (name, *args)
        try:
            met = key in self.timers
        except TypeError:
            self._refuse(
                f"timer `{name}` cannot be armed with a mutable argument",
                "a list, dict or set among the arguments",
                "use immutable values, such as a tuple or a frozenset",
            )
        if met:
            self._check_spelling(key)
        return key

    def _check_spelling(self, key: tuple[Any, ...]) -> None:
        """`1`, `True` and `1.0` are equal, so they would be one timer with three spellings."""
        other = next(each for each in self.timers if each == key)
        if other is not key and self._codec.encode(other) != self._codec.encode(key):
            self._refuse(
                f"timer `{key[0]}` is used with {list(key[1:])!r} while it is armed with"
                f" {list(other[1:])!r}, which is equal and not the same",
                "`1`, `True` and `1.0` are equal in Python, but not the same value of a state",
                "use one type for it everywhere: `int(x)` or `bool(x)`",
            )

    def record(self, value: Any) -> None:
        self.records.append(self._as_it_is_now(value, "record"))

    def log(self, text: str) -> None:
        self.logs.append(text)

    def _as_it_is_now(self, value: Any, what: str) -> Any:
        """`value`, out of reach of what the handler does next to any mutable part of it."""
        if isinstance(value, Down) and what == "message":
            self._refuse_notice()
        try:
            return self._codec.keep(value)
        except NotState as error:
            self.chooser.refuse(error.at(f"{caller()}: {what} {type(value).__name__}"))

    def _refuse(self, fact: str, cause: str, remedy: str) -> NoReturn:
        self.chooser.refuse(BadCall(f"{caller()}: {fact}", cause, remedy))

    def _refuse_streams(self) -> NoReturn:
        self._refuse(
            "`self.stream` is used in a system without streams",
            "streams are part of a state, so they are only there where they are asked for",
            "`System(..., streams=Streams())`",
        )

    def _refuse_notice(self) -> NoReturn:
        self._refuse(
            "a handler sends `Down`",
            "only a crash sends it: a notice is exact, so who gets one may rely on it",
            "send a message of your own that says so",
        )

    def _refuse_timer(self, timer: object) -> NoReturn:
        known = ", ".join(f"`{name}`" for name in self._shape.timers) or "none"
        self._refuse(
            f"`{self._shape.service.__name__}` has no timer {timer!r}; it has {known}"
            f"{did_you_mean(timer, self._shape.timers)}",
            "a misspelt name, or a method without `@timer`",
            "name a method of the class that is marked `@timer`",
        )


class Quiet:
    """What a guard sees: everything may be read, nothing may be done."""

    __slots__ = ("name", "timers")

    up = True

    def __init__(self, name: str, timers: Timers) -> None:
        self.name = name
        self.timers = timers

    def armed(self, timer: Any, args: tuple[Any, ...]) -> bool:
        return is_armed(self.timers, timer, args)

    def __getattr__(self, operation: str) -> Any:
        raise BadCall(
            f"{caller()}: a guard uses `self.{operation}`",
            "work done in `when` or `over` that belongs into the handler",
            "let the guard only read the node's fields and the message",
        )


class Outside:
    """What a service has when no run is under way: a prototype, or an object in a unit test."""

    __slots__ = ()

    def __getattr__(self, operation: str) -> Any:
        raise BadCall(
            f"{caller()}: `self.{operation}` was used outside a run",
            "a handler called directly, or a prototype asked for its name",
            "put the service into a `System`; `World.initial(system)` runs it step by step",
        )


OUTSIDE = Outside()
