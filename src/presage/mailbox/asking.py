"""What a process asks besides communication: other processes, chance, time, and to be seen."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from presage._core import Codec
from presage.errors import BadCall, NotState
from presage.mailbox.comm import misuse, open_slots, reap
from presage.model.source import caller
from presage.process import live
from presage.process.context import Asking, Context, current, sleep
from presage.process.ops import Choose, Create, Join, Kill, Publish
from presage.process.program import Process

T = TypeVar("T")

_codec = Codec()
_HERE = str(Path(__file__).parent)  # frames of this library are the same for the same caller


class Handle:
    """A process, by its name; before it is started, with what is planned for it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._plan: tuple[str | None, bool] | None = None  # its host, whether it is a daemon

    def _take_plan(self) -> tuple[str | None, bool]:
        if self._plan is None:
            raise misuse(
                f"plans how to start `{self.name}`, which was started",
                "`daemonize` after `create`, or `start` called twice",
                "plan it first: `Actor.init(name).daemonize().start(body)`",
            )
        plan, self._plan = self._plan, None
        return plan

    @classmethod
    def init(cls: type[H], name: str, host: str | None = None) -> H:
        """A process to be started, for instance after `daemonize`."""
        actor = cls(name)
        actor._plan = (host, False)
        return actor

    def daemonize(self: H) -> H:
        """What is started by this will not be waited for at the end."""
        host, _ = self._take_plan()
        self._plan = (host, True)
        return self

    @classmethod
    def by_name(cls: type[H], name: str) -> H:
        """The process of that name."""
        return cls(name)

    @classmethod
    def self(cls: type[H]) -> H:
        """The process that asks."""
        return cls(current().name)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name,)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Actor({self.name!r})"


H = TypeVar("H", bound=Handle)


def start(actor: H, body: Callable[..., Any], *args: Any) -> Asking[H]:
    """Start what `init` gave: a plain function or an `async def`, and its arguments."""
    host, daemon = actor._take_plan()
    current().children += 1
    yield Create(actor.name, body, Process(body, *args).own_args(), daemon, host)
    return actor


def join(actor: Handle) -> Asking[None]:
    """Wait until it has ended."""
    yield Join(actor.name)


def kill(actor: Handle) -> Asking[None]:
    """End it, wherever it is."""
    yield Kill(actor.name)


def sleep_for(seconds: float) -> Asking[None]:
    """Let time pass."""
    yield from sleep(seconds)


def execute(flops: float) -> Asking[None]:
    """Compute; how long that takes depends on the host of a simulation."""
    yield from sleep(0.0, flops)


def yield_() -> Asking[None]:
    """Let others go on."""
    yield from sleep(0.0)


def sleep_until(moment: float) -> Asking[None]:
    """Let time pass until the process's own clock says `moment`."""
    context = current()
    context.clock_read = True
    if moment > context.clock:
        yield from sleep(moment - context.clock)


def choose(options: int | Sequence[T]) -> Asking[int | T]:
    """A number below `options`, or one of them: a search tries each."""
    count = options if isinstance(options, int) else len(options)
    if count < 1:
        raise BadCall(
            f"{caller()}: `choose` has nothing to choose from",
            "an empty list, or the number 0",
            "ask whether there is something before choosing",
        )
    response = yield Choose(count)
    return response.choice if isinstance(options, int) else options[response.choice]


def publish(**fields: Any) -> Asking[None]:
    """Let properties see values of this process."""
    for field, value in fields.items():
        yield Publish(field, value)


def say(level: str, text: object) -> None:
    """Keep a line for the trace."""
    current().log.append(f"{level}: {text}" if level else str(text))


def mark(state: Any) -> Asking[None]:
    """Say that from here on the future depends on `state` and what is under way, only.

    Histories that reach the same place with an equal `state` are then searched as one.
    """
    frames = places(sys._getframe(1))
    yield from reap()
    context = current()
    context.mark = _encode(context, [state, frames, *_kept(context)])
    context.reseed(context.mark)


def _kept(context: Context) -> list[Any]:
    """What libraries and the process's own clock remember beside the variables."""
    if not context.clock_read:
        context.clock = 0.0  # which nobody can have noticed
    notes = {key: value for key, value in context.notes.items() if key not in ("open", "made")}
    return [
        sorted(open_slots().items()),
        list(context.open_slots),
        context.clock,
        context.children,
        context.notes.get("made", 0),
        notes,
    ]


def _encode(context: Context, parts: list[Any]) -> bytes:
    try:
        return _codec.encode(parts)
    except NotState as refused:
        raise BadCall(
            f"{caller()}: process `{context.name}` marks a state that holds a"
            f" `{refused.type_name}`",
            "a communication, socket or function among what was given to `mark`",
            "give plain values that say the same; open communications count by themselves",
        ) from refused


def places(frame: FrameType | None) -> list[tuple[str, int]]:
    """Where each function that is running stands, innermost first, up to the process's body."""
    found = []
    while frame is not None and frame.f_code.co_filename != live.__file__:
        if not frame.f_code.co_filename.startswith(_HERE):
            code = frame.f_code
            found.append((f"{code.co_qualname}:{code.co_firstlineno}", frame.f_lasti))
        frame = frame.f_back
    return found
