"""CPython's own `threading` on simulated threads: four leaves carry it.

Allocating a lock, starting a thread, telling who one is, and waiting are answered by the process;
`RLock` and `SimpleQueue`, which are written in C, give way to their versions in Python. Everything
else of `threading`, `queue` and `concurrent.futures` runs as it is.

What those modules keep once for the interpreter (threads alive, names, executors) is kept per
process. When the main thread has ended, the process waits for the others, as the interpreter does.
"""

from __future__ import annotations

import _thread
import concurrent.futures
import concurrent.futures.thread as executors
import queue
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from presage.frontends.real.machine import private
from presage.frontends.real.machine.clock import here
from presage.frontends.real.machine.locals import SimulatedLocal
from presage.frontends.real.machine.locks import LockByProcess, SimulatedLock, new_lock
from presage.frontends.real.machine.process import Part, Process, current
from presage.frontends.real.machine.shared import (
    ClassStandIn,
    FlagByProcess,
    MappingByProcess,
    SetByProcess,
)
from presage.process.leaves import ORIGINALS, extend, machine_leaf

NUMBER = "number given by presage"  # of an object whose hash a process gave it
EXECUTOR: Any = executors.ThreadPoolExecutor


class Threads:
    """What `threading` keeps for one process."""

    def __init__(self, process: Process) -> None:
        self.at_end: list[Callable[[], Any]] = []  # before the other threads are waited for
        self._process = process
        self._main: Any = None

    @property
    def main(self) -> Any:
        """The main thread, as `threading` shows it; a copy, since making one takes time."""
        if self._main is None:
            process = self._process
            runs, process.thread = process.thread, process.main
            try:
                self._main = _main_thread()
            finally:
                process.thread = runs
        return self._main

    def end(self) -> None:
        """The main thread has ended: executors let their threads end."""
        for call in reversed(self.at_end):
            call()
        for _, work in list(executors._threads_queues.items()):
            work.put(None)


_PROTOTYPE: list[Any] = []  # the main thread of some process, of which all others are copies


def _main_thread() -> Any:
    if not _PROTOTYPE:
        _PROTOTYPE.append(threading._MainThread())  # type: ignore[attr-defined]
    copy = object.__new__(type(_PROTOTYPE[0]))
    values = copy.__dict__
    values.update(_PROTOTYPE[0].__dict__)
    if "_tstate_lock" in values:
        values["_tstate_lock"] = lock = _set_sentinel()
        lock.is_locked = True
    if "_handle" in values:
        values["_handle"] = handle = SimulatedHandle(values["_ident"])
        here().thread.on_end.append(handle._set_done)  # type: ignore[union-attr]
    threading._active[values["_ident"]] = copy  # type: ignore[attr-defined]
    return copy


class SimulatedHandle:
    """As `_thread._ThreadHandle` of Python 3.13: a thread that can be joined."""

    def __init__(self, ident: int = 0) -> None:
        self.ident = ident
        self._done = new_lock()
        self._done.is_locked = True

    def is_done(self) -> bool:
        return not self._done.is_locked

    def _set_done(self) -> None:
        self._done.is_locked = False

    def join(self, timeout: float | None = None) -> None:
        process = here()
        deadline = None if timeout is None or timeout < 0 else process.now + timeout
        if self.ident == _ident() and not self.is_done():
            raise RuntimeError("Cannot join current thread")
        process.block(self.is_done, deadline, "lock")


def _start(function: Any, args: tuple[Any, ...] = (), named: Any = None) -> int:
    """`_thread.start_new_thread`."""
    if not callable(function):
        raise TypeError("first arg must be callable")
    if not isinstance(args, tuple):
        raise TypeError("2nd arg must be a tuple")
    process = here()
    owner = getattr(function, "__self__", None)
    is_thread = isinstance(owner, threading.Thread)
    name = owner.name if is_thread else ""  # type: ignore[union-attr]
    thread = process.start(lambda: _run(function, args, named or {}), name)
    thread.daemon = owner.daemon if is_thread else True  # type: ignore[union-attr]
    process.preempt()
    return thread.ident


def _run(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    try:
        function(*args, **named)
    except SystemExit:
        pass


def _start_joinable(function: Any, handle: Any = None, daemon: bool = True) -> Any:
    """`_thread.start_joinable_thread` of Python 3.13."""
    handle = SimulatedHandle() if handle is None else handle
    process = here()
    owner = getattr(function, "__self__", None)
    name = owner.name if isinstance(owner, threading.Thread) else ""
    thread = process.start(lambda: _run(function, (), {}), name)
    thread.daemon = daemon
    thread.on_end.append(handle._set_done)
    handle.ident = thread.ident
    process.preempt()
    return handle


def _set_sentinel() -> SimulatedLock:
    """A lock that is released when the thread that asks has ended; Python 3.11 and 3.12."""
    lock, thread = new_lock(), here().thread
    if thread is not None:
        thread.on_end.append(lambda: setattr(lock, "is_locked", False))
    return lock


def _ident() -> int:
    thread = here().thread
    return int(ORIGINALS[_thread, "get_ident"]()) if thread is None else thread.ident


def _main_ident() -> int:
    main = here().main
    return 1 if main is None else main.ident


def _missing(ident: int) -> Any:
    """The main thread is made when first asked for."""
    if ident == _main_ident():
        return here().threads_kept.main
    raise KeyError(ident)


def _excepthook(args: Any) -> None:
    """An exception left a thread."""
    if args.exc_type is SystemExit:
        return
    name = args.thread.name if args.thread is not None else str(_ident())
    here().fail(name, args.exc_value)
    sys.stderr.write(f"Exception in thread {name}:\n")
    traceback.print_exception(args.exc_type, args.exc_value, args.exc_traceback)


def _interrupt_main(number: int = signal.SIGINT) -> None:
    if not 0 < number < signal.NSIG:
        raise ValueError("signal number out of range")
    if here().signals.handlers.get(number, signal.SIG_DFL) not in (signal.SIG_DFL, signal.SIG_IGN):
        here().signals.deliver(number)


def _count(what: str) -> Callable[[], int]:
    return lambda: here().count(what)


def _numbered(cls: type) -> Callable[[Any], int]:
    """A hash of its objects by which sets of them have the order in which they were made.

    An executor joins its threads in the order of a set. An object is hashed when it is made, or
    at least where it was made first, and keeps that number.
    """
    plain: Any = cls.__hash__

    def hash_of(self: Any) -> int:
        kept: dict[str, Any] = self.__dict__
        known = kept.get(NUMBER)
        if known is None:
            process = current()
            known = plain(self) if process is None else process.count(f"{cls.__name__} object")
            kept[NUMBER] = known
        return int(known)

    return hash_of


class SimulatedRLock(threading._PyRLock):  # type: ignore[name-defined,misc]
    """As what `threading.RLock()` gives, which says that it is written in C."""

    def __init__(self, *args: Any, **named: Any) -> None:
        if (args or named) and sys.version_info >= (3, 13):
            text = "Passing arguments to RLock is deprecated and will be removed in 3.15"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
        super().__init__()


SimulatedRLock.__module__, SimulatedRLock.__name__ = "_thread", "RLock"
SimulatedRLock.__qualname__ = "RLock"


def _by_process() -> dict[tuple[Any, str], Any]:
    private_names: Any = threading
    queues: Any = queue
    active = MappingByProcess("active", private_names._active, dict)
    active.missing = _missing
    made: dict[tuple[Any, str], Any] = {
        (threading, "_active"): active,
        (threading, "_limbo"): MappingByProcess("limbo", private_names._limbo, dict),
        (executors, "_threads_queues"): MappingByProcess(
            "executors", executors._threads_queues, WeakKeyDictionary
        ),
        (executors, "_shutdown"): FlagByProcess(executors._shutdown),
        (queue, "SimpleQueue"): ClassStandIn(queue.SimpleQueue, queues._PySimpleQueue),
        (_thread, "RLock"): ClassStandIn(_thread.RLock, SimulatedRLock),
        (threading, "local"): ClassStandIn(threading.local, SimulatedLocal, SimulatedLocal),
    }
    for cls in (threading.Thread, concurrent.futures.Future):
        made[cls, "__hash__"] = _numbered(cls)
    for owner, name in private.LOCKS:
        made[owner, name] = LockByProcess(name, getattr(owner, name))
    for owner, name in private.SETS:
        made[owner, name] = SetByProcess(name, getattr(owner, name), set)
    for owner, name in private.LOCALS:
        made[owner, name] = SimulatedLocal()
    for owner, name in private.LOCK_CLASSES:
        made[owner, name] = ClassStandIn(getattr(owner, name), SimulatedLock)
    return made


def _answers() -> dict[tuple[Any, str], Callable[..., Any]]:
    answers: dict[tuple[Any, str], Callable[..., Any]] = {
        (_thread, "allocate_lock"): new_lock,
        (_thread, "allocate"): new_lock,
        (_thread, "get_ident"): _ident,
        (_thread, "get_native_id"): _ident,
        (_thread, "start_new_thread"): _start,
        (_thread, "start_new"): _start,
        (_thread, "interrupt_main"): _interrupt_main,
        (threading, "RLock"): SimulatedRLock,
        (sys, "setswitchinterval"): lambda seconds: None,
        (threading, "main_thread"): lambda: here().threads_kept.main,
        (threading, "excepthook"): _excepthook,
        (threading, "_counter"): _count("Thread"),
        (threading, "_register_atexit"): lambda call, *args, **named: (
            here().threads_kept.at_end.append(lambda: call(*args, **named))
        ),
        (EXECUTOR, "_counter"): lambda: here().count("ThreadPoolExecutor") - 1,
    }
    own: dict[str, Callable[..., Any]] = {
        "_set_sentinel": _set_sentinel,
        "_start_new_thread": _start,
        "_start_joinable_thread": _start_joinable,
        "_ThreadHandle": SimulatedHandle,
        "_make_thread_handle": SimulatedHandle,
        "_get_main_thread_ident": _main_ident,
    }
    answers |= {(threading, name): each for name, each in own.items() if hasattr(threading, name)}
    return answers


ANSWERS = _answers()
extend((machine_leaf(*key) for key in ANSWERS), ANSWERS, _by_process())
Part("threads_kept", Threads)
