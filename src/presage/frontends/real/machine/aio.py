"""What CPython's own asyncio needs beyond a simulated kernel: order, names, ends.

Sets of tasks and futures iterate by address, and tasks are numbered for the whole interpreter. So
the loops of a process make tasks and futures whose hash is a number of the process: such sets
iterate in the order of creation. Names come from counters of the process, and `all_tasks` sees the
tasks of the process alone.

Everything else is asyncio's own: its ready queue, its timers, its cancellation.
"""

from __future__ import annotations

import asyncio
import asyncio.base_events
import asyncio.events
import asyncio.futures
import asyncio.runners
import asyncio.tasks
import inspect
import sys
import warnings
from collections.abc import Callable, Coroutine
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any
from weakref import WeakSet

from presage.errors import Escaped
from presage.frontends.real.machine.clock import here
from presage.frontends.real.machine.effects import Killed
from presage.frontends.real.machine.locals import SimulatedLocal
from presage.frontends.real.machine.private import ALL_TASKS
from presage.frontends.real.machine.process import Part, Process, current
from presage.frontends.real.machine.shared import ClassStandIn
from presage.model.source import caller
from presage.process.leaves import ORIGINALS, extend, machine_leaf

futures: Any = asyncio.futures
LOOP: Any = asyncio.base_events.BaseEventLoop
RUNNER: Any = asyncio.runners.Runner
POLICY: Any = asyncio.events.BaseDefaultEventLoopPolicy


class PolicyLocal(SimulatedLocal):
    """The loop that a policy keeps for each thread."""

    _loop = None
    _set_called = False


class SimulatedTask(asyncio.Task):  # type: ignore[type-arg]
    """A task whose hash is a number of its process."""

    number: int

    def set_name(self, value: object) -> None:
        """Python 3.13.0 sets no name where none was given, and a factory made the task."""
        if value is not None:
            super().set_name(value)

    def __hash__(self) -> int:
        return self.number


class SimulatedFuture(asyncio.Future):  # type: ignore[type-arg]
    """A future whose hash is a number of its process; tasks and futures are counted together."""

    number: int

    def __hash__(self) -> int:
        return self.number


for each, known in ((SimulatedTask, asyncio.Task), (SimulatedFuture, asyncio.Future)):
    each.__name__, each.__qualname__ = known.__name__, known.__qualname__


class Aio:
    """The loops and tasks of one process."""

    def __init__(self, process: Process) -> None:
        self.loops: list[Any] = []
        self.tasks: WeakSet[Any] = WeakSet()
        self._reported: WeakSet[Any] = WeakSet()
        self.calls: list[Any] = []  # tasks of the workload; asyncio itself holds tasks weakly
        self._process = process

    def make_task(
        self, loop: Any, coro: Coroutine[Any, Any, Any], *, name: str | None = None, **named: Any
    ) -> Any:
        """The factory of tasks of its loops."""
        task = SimulatedTask.__new__(SimulatedTask)
        task.number = self._process.count("future")
        name = name or f"Task-{self._process.count('task')}"
        task.__init__(coro, loop=loop, name=name, **named)  # type: ignore[misc]
        return task

    def make_future(self, loop: Any) -> Any:
        """What `create_future` of its loops gives."""
        future = SimulatedFuture.__new__(SimulatedFuture)
        future.number = self._process.count("future")
        future.__init__(loop=loop)  # type: ignore[misc]
        return future

    def adopt(self, loop: Any) -> None:
        """Take a new loop."""
        self.loops.append(loop)
        loop._task_factory = self.make_task
        loop.create_future = lambda: self.make_future(loop)

    def call(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        record: Callable[[str, Any], None] | None,
    ) -> None:
        """Call a function of the workload: as a task of the main thread's loop, or in a thread."""
        process, name = self._process, getattr(function, "__name__", "call")
        loop = process.main.loop if process.main is not None else None
        if not inspect.iscoroutinefunction(function):
            process.start(lambda: _called(function, args, record), name)
        elif loop is None:
            process.start(lambda: asyncio.run(_awaited(function, args, record)), name)
        else:
            loop.call_soon_threadsafe(self._begin, loop, _awaited(function, args, record))

    def report_unawaited(self) -> None:
        """Failures of tasks that have ended while nobody has asked them for their result."""
        for task in sorted(self.tasks, key=hash):
            if task.done() and task._log_traceback and task not in self._reported:
                self._reported.add(task)
                error = task._exception
                self._process.fail(f"{task.get_name()}, which nobody awaits", error)

    def _begin(self, loop: Any, coroutine: Coroutine[Any, Any, Any]) -> None:
        self.calls.append(loop.create_task(coroutine))

    def dispose(self) -> None:
        """Take the loops of a dead process apart: most of its garbage hangs together by them."""
        for loop in self.loops:
            for handle in (*loop._ready, *loop._scheduled):
                handle._callback = handle._args = None
            try:
                loop.__class__ = DeadLoop
            except TypeError:  # a loop of another layout
                loop._closed, loop.call_exception_handler = True, _ignore
            else:
                loop.__dict__.clear()
        self.loops.clear()
        self.calls.clear()


class DeadLoop(asyncio.SelectorEventLoop):
    """What becomes of the loop of a process that is dead."""

    def __getattribute__(self, name: str) -> Any:
        if name == "call_exception_handler":
            return _ignore
        if name.startswith("__"):
            return object.__getattribute__(self, name)
        raise Killed

    def __del__(self) -> None:
        """It has nothing that could be left open."""


def _make_loop(loop: Any, *args: Any, **named: Any) -> None:
    """`BaseEventLoop.__init__`: take the loop for the process that makes it."""
    ORIGINALS[LOOP, "__init__"](loop, *args, **named)
    here().aio.adopt(loop)


def _get_task_factory(loop: Any) -> Any:
    factory = loop._task_factory
    return None if getattr(factory, "__func__", None) is Aio.make_task else factory


def _set_task_factory(loop: Any, factory: Any) -> None:
    ORIGINALS[LOOP, "set_task_factory"](loop, factory)
    if factory is None:
        loop._task_factory = here().aio.make_task


class TasksByProcess(WeakSet[Any]):
    """asyncio's own set of all tasks; those of a process are kept with the process."""

    def add(self, task: Any) -> None:
        """Called for each new task, also from C."""
        process = current()
        if process is None:
            super().add(task)
        else:
            process.aio.tasks.add(task)


ALL_TASKS.__class__ = TasksByProcess


def _all_tasks(loop: Any = None) -> set[Any]:
    loop = loop or asyncio.get_running_loop()
    tasks = list(here().aio.tasks)
    return {task for task in tasks if futures._get_loop(task) is loop and not task.done()}


def _handle(loop: Any, context: dict[str, Any]) -> None:
    """`default_exception_handler`: nobody handles it, so it is a failure of the process."""
    process = here()
    if process.dead:
        return
    if context.get("exception") is not None:
        process.fail(str(context.get("message")), context["exception"])
    ORIGINALS[LOOP, "default_exception_handler"](loop, context)


def _close_runner(runner: Any) -> None:
    if not here().dead:
        ORIGINALS[RUNNER, "close"](runner)


@cache
def _is_native(kind: Any) -> bool:
    """Whether a class comes from an extension module, whose calls nothing can answer."""
    files = (getattr(sys.modules.get(each.__module__), "__file__", "") for each in kind.__mro__)
    return any((file or "").endswith(tuple(EXTENSION_SUFFIXES)) for file in files)


def _checked(loop: Any) -> Any:
    """A loop that runs on what a process is answered; one that calls the system is refused."""
    kind: Any = type(loop)
    if _is_native(kind):
        process = here()
        process.error = Escaped(
            process.name, f"runs on `{kind.__module__}`, a loop of its own", caller()
        )
        raise process.error
    return loop


def _begin_runner(runner: Any) -> None:
    ORIGINALS[RUNNER, "_lazy_init"](runner)
    _checked(runner._loop)


def _new_loop() -> Any:
    return _checked(ORIGINALS[asyncio.events, "new_event_loop"]())


def _run_loop(loop: Any) -> None:
    ORIGINALS[asyncio.events, "_set_running_loop"](_checked(loop))


def _ignore(*_: Any, **__: Any) -> None:
    """Of what a dead process complains about."""


def _warn_unawaited(coroutine: Any) -> None:
    if not here().dead:
        ORIGINALS[warnings, "_warn_unawaited_coroutine"](coroutine)


def _unraisable(unraisable: Any) -> None:
    """An exception of a finalizer: nobody hears of what a dead process raised."""
    process = current()
    if isinstance(unraisable.exc_value, Killed) or (process is not None and process.dead):
        return
    if process is None:
        ORIGINALS[sys, "unraisablehook"](unraisable)
    else:
        process.log.append(f"{unraisable.err_msg or 'ignored'}: {unraisable.exc_value!r}")


def _called(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    record: Callable[[str, Any], None] | None,
) -> None:
    try:
        value = function(*args)
    except Exception as error:
        if record is None:
            raise
        record("raise", error)
    else:
        if record is not None:
            record("return", value)


async def _awaited(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    record: Callable[[str, Any], None] | None,
) -> None:
    try:
        value = await function(*args)
    except Exception as error:
        if record is None:
            raise
        record("raise", error)
    else:
        if record is not None:
            record("return", value)


ANSWERS: dict[tuple[Any, str], Callable[..., Any]] = {
    (LOOP, "__init__"): _make_loop,
    (LOOP, "get_task_factory"): _get_task_factory,
    (LOOP, "set_task_factory"): _set_task_factory,
    (LOOP, "default_exception_handler"): _handle,
    (RUNNER, "close"): _close_runner,
    (RUNNER, "_lazy_init"): _begin_runner,
    (asyncio.events, "new_event_loop"): _new_loop,
    (asyncio.events, "_set_running_loop"): _run_loop,
    (asyncio.tasks, "all_tasks"): _all_tasks,
    (warnings, "_warn_unawaited_coroutine"): _warn_unawaited,
}
STAND_INS = {
    (POLICY, "_Local"): ClassStandIn(POLICY._Local, PolicyLocal),
    (sys, "unraisablehook"): _unraisable,
}
extend((machine_leaf(*key) for key in ANSWERS), ANSWERS, STAND_INS)
Part("aio", Aio)
