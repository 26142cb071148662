"""What a process asks besides communication: other processes, chance, time, and to be seen."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from presage._core import Codec
from presage.errors import BadCall, NotState, explain
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

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name,)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Actor({self.name!r})"


def create(
    name: str, host: str | None, body: Callable[..., Any], args: tuple[Any, ...], daemon: bool
) -> Asking[None]:
    current().children += 1
    yield Create(name, body, Process(body, *args).own_args(), daemon, host)


def join(name: str) -> Asking[None]:
    yield Join(name)


def kill(name: str) -> Asking[None]:
    yield Kill(name)


def sleep_until(moment: float) -> Asking[None]:
    context = current()
    context.clock_read = True
    if moment > context.clock:
        yield from sleep(moment - context.clock)


def choose(options: int | Sequence[T]) -> Asking[int | T]:
    """A number below `options`, or one of them: a search tries each."""
    count = options if isinstance(options, int) else len(options)
    if count < 1:
        raise BadCall(
            explain(
                f"{caller()}: `choose` has nothing to choose from",
                "an empty list, or the number 0",
                "ask whether there is something before choosing",
            )
        )
    response = yield Choose(count)
    return response.choice if isinstance(options, int) else options[response.choice]


def publish(fields: dict[str, Any]) -> Asking[None]:
    for field, value in fields.items():
        yield Publish(field, value)


def say(level: str, text: object) -> None:
    """Keep a line for the trace."""
    current().log.append(f"{level}: {text}" if level else str(text))


def mark(state: Any) -> Asking[None]:
    """From here on the future depends on `state`, the place in the code, and what is open."""
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
            explain(
                f"{caller()}: process `{context.name}` marks a state that holds a"
                f" `{refused.type_name}`",
                "a communication, socket or function among what was given to `mark`",
                "give plain values that say the same; open communications count by themselves",
            )
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
