"""Processes and asyncio: there is no event loop, and what asks for one is refused by name.

asyncio makes a loop where there is none, out of sockets and descriptors; a loop that is refused
halfway complains on standard error when it is collected, as do coroutines that nobody awaits. So a
process is refused before a loop is made, and what it had not begun yet is closed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import wraps
from types import CoroutineType, FrameType, TracebackType
from typing import Any

from presage.process.context import PROCESS, running
from presage.process.leaves import escape

NO_LOOP = "no running event loop"  # what asyncio says where there is none
MAKES = ("new_event_loop", "get_event_loop")


def take_asyncio() -> None:
    """Let no process get an event loop, where asyncio is loaded."""
    events: Any = sys.modules.get("asyncio.events")
    policy = getattr(events, "BaseDefaultEventLoopPolicy", None)
    for name in MAKES:
        made = getattr(policy, name, None)
        if made is not None and not hasattr(made, "__wrapped__"):
            setattr(policy, name, _refusing(made))


def swap_loop(loop: Any) -> Any:
    """Make `loop` the one that runs in this thread, None for none; gives the one that did.

    A notebook calls `check` inside of its event loop, which is none of a process's business.
    """
    events: Any = sys.modules.get("asyncio.events")
    if events is None:
        return None
    before = events._get_running_loop()
    events._set_running_loop(loop)
    return before


def _refusing(made: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(made)
    def loop(*args: Any) -> Any:
        if running.stack and running.stack[-1].answerer == PROCESS:
            frame = sys._getframe(1)
            escape(f"calls `{_called(frame)}`", frame)
        return made(*args)

    return loop


def wants_loop(error: BaseException) -> bool:
    """Whether asyncio missed its event loop."""
    if isinstance(error, AttributeError) and error.obj is None:
        last = list(_frames(error.__traceback__))[-1:]
        return bool(last) and _is_asyncio(last[0])
    return isinstance(error, RuntimeError) and str(error) == NO_LOOP


def called_in(error: BaseException) -> str:
    """The function of asyncio that a process called, by the traceback of what came of it."""
    inside = [frame for frame in _frames(error.__traceback__) if _is_asyncio(frame)]
    return f"asyncio.{inside[0].f_code.co_qualname}" if inside else "asyncio"


def _called(frame: FrameType | None) -> str:
    """The function of asyncio that led to `frame`: the outermost one, in a row with it."""
    name = ""
    while frame is not None and _is_asyncio(frame):
        name, frame = frame.f_code.co_qualname, frame.f_back
    return f"asyncio.{name}" if name else "asyncio"


def close_unstarted(error: BaseException) -> None:
    """Close the coroutines that the frames of `error` hold and nobody has begun to await."""
    for frame in _frames(error.__traceback__):
        for value in frame.f_locals.values():
            for each in value if isinstance(value, tuple | list | set) else (value,):
                if isinstance(each, CoroutineType) and _is_unstarted(each):
                    each.close()


def _is_unstarted(coroutine: CoroutineType[Any, Any, Any]) -> bool:
    import inspect

    return inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED


def _frames(traceback: TracebackType | None) -> Iterator[FrameType]:
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def _is_asyncio(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "asyncio"
