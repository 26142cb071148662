"""Threads of a simulated process: greenlets, resumed one at a time by a hub.

What Python keeps per thread of the operating system, a simulated thread must keep for itself: the
running loop of asyncio, the hooks of asynchronous generators, the context. Greenlets come from the
pool that processes share, since making one takes longer than most steps.
"""

from __future__ import annotations

import asyncio.events
import sys
from asyncio.events import _get_running_loop, _set_running_loop
from collections.abc import Callable
from contextvars import Context
from threading import get_ident
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

from greenlet import getcurrent

from presage.frontends.real.machine.asyncgens import NONE, place
from presage.model.source import is_user_file
from presage.process.live import ENDED, lend_greenlet, return_greenlet

EVENTS: dict[str, Any] = vars(asyncio.events)
ABANDONED: list[Any] = []  # greenlets that cannot be unwound: their code would not bear it
WAITS = object()  # a greenlet gives it: the thread waits
SPIN_SECONDS = 1e-3  # how long a spinning thread sleeps; doubled each time it spins on
SPIN_SECONDS_MAX = 1.0


class SimulatedThread:
    """One thread: what it runs, and what it waits for."""

    __slots__ = (
        "daemon",
        "deadline",
        "greenlet",
        "hooks",
        "ident",
        "interrupts",
        "is_paused",
        "is_ready",
        "is_stopped",
        "locals",
        "loop",
        "name",
        "on_end",
        "owner",
        "process",
        "ready",
        "run",
        "slept",
        "taken",
        "what",
    )

    def __init__(self, ident: int, name: str, run: Callable[[], Any], process: Any) -> None:
        self.ident = ident
        self.process = process
        self.name = name
        self.run: Callable[[], Any] | None = run  # None once it has begun
        self.greenlet: Any = None
        self.owner = get_ident()  # the thread of the operating system, which alone can resume it
        self.daemon = False  # the process does not wait for it at its end
        self.ready: Callable[[], bool] | None = None  # None: it can run
        self.deadline: float | None = None
        self.what = "start"
        self.interrupts: list[Callable[[], Any]] = []  # calls of handlers of signals
        self.is_ready = True  # what `ready` said when it was last asked
        self.is_paused = False  # at a poll, in the granularity of iterations
        self.is_stopped = False  # preempted; it does not go on by itself
        # Locks, and the instructions that took them; some are thrown away locked.
        self.taken: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self.slept = SPIN_SECONDS  # how long it sleeps next if it spins
        self.loop: Any = None  # asyncio's running loop
        self.hooks = NONE  # of asynchronous generators
        self.locals: dict[int, dict[str, Any]] = {}  # of `threading.local`, by identity
        self.on_end: list[Callable[[], None]] = []


def resume(thread: SimulatedThread, body: Callable[[Callable[[], Any]], object]) -> bool:
    """Run a thread until it waits; True if it has ended. `body` runs what it is to run."""
    if thread.run is None:
        given: Any = thread.is_ready
        thread.ready = thread.deadline = None
    else:
        run, thread.run = thread.run, None
        thread.greenlet = lend_greenlet()
        thread.greenlet.gr_context = Context()
        given = lambda: body(run)  # noqa: E731
    answer = _switch(thread, given)
    if answer is ENDED:
        return_greenlet(thread.greenlet)
        thread.greenlet = None
        return True
    return False


def _switch(thread: SimulatedThread, given: Any) -> object:
    hub, work = getcurrent(), thread.greenlet
    if work.parent is not hub:
        work.parent = hub
    events, process = EVENTS, thread.process
    loop, policy = _get_running_loop(), events["_event_loop_policy"]
    _set_running_loop(thread.loop)
    events["_event_loop_policy"] = process.policy
    place(thread.hooks)
    try:
        return work.switch(given)
    finally:
        thread.loop = _get_running_loop()
        process.policy = events["_event_loop_policy"]
        events["_event_loop_policy"] = policy
        _set_running_loop(loop)


def wait(thread: SimulatedThread) -> Any:
    """Called by the thread itself: give the processor back; gives what it is resumed with."""
    return thread.greenlet.parent.switch(WAITS)


def unwind(thread: SimulatedThread) -> None:
    """Let a thread of a dead process run to its end: each call into the kernel raises."""
    work, thread.greenlet = thread.greenlet, None
    if work is None:
        thread.run = None
    elif thread.process.is_brittle:
        ABANDONED.append(work)
    elif thread.owner == get_ident():
        thread.greenlet = work
        if _switch(thread, None) is ENDED:
            return_greenlet(work)
        else:
            ABANDONED.append(work)
        thread.greenlet = None


LIBRARY = ("threading", "queue", "concurrent", "_weakrefset", "weakref", "presage")


def program_instruction() -> tuple[FrameType, int] | None:
    """The instruction that runs, of code that is no library of threads.

    A thread may run such a library alone, as the workers of a pool do that call a built-in
    function. Then it is that of the thread's own functions, or of the pool's: what locks do inside
    of one of their instructions nobody can tell apart.

    The frame itself and not its address: a frame that is kept shares its address with no other.
    """
    frame: Any = sys._getframe(2)
    own = None
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        package = module.partition(".")[0]
        if package not in LIBRARY:
            return frame, frame.f_lasti
        if module == __name__:
            break  # the end of the thread: what is behind it runs threads
        is_own = package == "concurrent" or frame.f_code.co_qualname.startswith("Thread.")
        if own is None and is_own:
            own = frame, frame.f_lasti
        frame = frame.f_back
    return own


def forget_returned(taken: WeakKeyDictionary[Any, Any]) -> None:
    """Drop the instructions of calls that have returned: a kept frame keeps its variables."""
    if not taken:
        return
    running, frame = set(), sys._getframe(1)
    while frame is not None:
        running.add(id(frame))
        frame = frame.f_back  # type: ignore[assignment]
    for lock, instruction in list(taken.items()):
        if instruction is not None and id(instruction[0]) not in running:
            del taken[lock]


def describe_wait(thread: SimulatedThread) -> str:
    """What a thread waits for, for people: no lines of files, since it is part of a state."""
    scheduled = getattr(thread.loop, "_scheduled", None)
    if scheduled and thread.what == "select":
        return _describe_callback(scheduled[0])
    frame = thread.greenlet.gr_frame if thread.greenlet is not None else None
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        frame = frame.f_back
    return thread.what if frame is None else f"{thread.what} in {frame.f_code.co_qualname}"


def _describe_callback(handle: Any) -> str:
    """The coroutine that a timer of asyncio wakes, or the function that it calls."""
    callback = handle._callback
    owner = getattr(callback, "__self__", None)
    for each in (*(handle._args or ()), getattr(owner, "_task", None)):
        task = each if hasattr(each, "get_coro") else _waiter(each)
        if task is not None:
            return str(getattr(task.get_coro(), "__qualname__", task.get_name()))
    return str(getattr(callback, "__qualname__", type(callback).__name__))


def _waiter(future: Any) -> Any:
    """The task that awaits a future."""
    for callback, _ in getattr(future, "_callbacks", None) or ():
        task = getattr(callback, "__self__", None)
        if hasattr(task, "get_coro"):
            return task
    return None
