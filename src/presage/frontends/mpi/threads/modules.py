"""`threading`, `queue` and `concurrent.futures` as one rank has them: copies of CPython's own code.

They are made of `_thread`, so a rank gets copies that are made of another `_thread`: its locks and
threads are those of `threads.py`. The real modules are not touched. Copies are given to code that
came with the program; the standard library and what was there before keep the real ones.
"""

from __future__ import annotations

import builtins
import functools
import importlib.util
import sys
import traceback
from collections.abc import Callable
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

from presage.errors import PresageError
from presage.frontends.mpi.threads.locks import TIMEOUT_MAX, Handle, Sentinel, SimulatedLock
from presage.frontends.mpi.threads.operations import guard
from presage.frontends.mpi.threads.thread import RankThread
from presage.frontends.mpi.threads.threads import Threads
from presage.process.live import ENDED
from presage.records import NamedTuple

PACKAGES = ("concurrent", "concurrent.futures")
COPIED = (
    *("threading", "queue", "_threading_local", *PACKAGES),
    *("concurrent.futures._base", "concurrent.futures.thread"),
)
SIMULATED = "_thread"
HIDDEN = ("_queue",)  # written in C; there is the same in Python


def is_copied(name: str) -> bool:
    return name in COPIED or name == SIMULATED


@functools.cache
def _code(name: str) -> tuple[CodeType, str]:
    spec = importlib.util.find_spec(name)
    loader: Any = None if spec is None else spec.loader
    return loader.get_code(name), str(getattr(spec, "origin", ""))


class ExceptHookArgs(NamedTuple):
    """What `threading.excepthook` is called with."""

    exc_type: type[BaseException]
    exc_value: BaseException
    exc_traceback: Any
    thread: Any


class Modules:
    """Those of one rank, made when they are first asked for."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._made: dict[str, ModuleType] = {}
        self._import = builtins.__import__
        threads.modules = self

    def imported(self, name: str, fromlist: Any) -> ModuleType:
        """What `__import__` gives."""
        found = self.get(name)
        for each in fromlist or ():
            part = f"{name}.{each}"
            if part in COPIED:
                self.get(part)
        return found if fromlist else self.get(name.partition(".")[0])

    def get(self, name: str) -> ModuleType:
        """A copy of a module."""
        made = self._made.get(name)
        if made is not None:
            return made
        made = self._made[name] = ModuleType(name)
        if name == SIMULATED:
            made.__dict__.update(self._names())
            return made
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(self.get(parent), last, made)
        if name in PACKAGES:
            made.__path__ = []
        if name != "concurrent":
            code, file = _code(name)
            package = name if name in PACKAGES else parent
            builtin = {**vars(builtins), "__import__": self._importer(name)}
            made.__dict__.update(__file__=file, __package__=package, __builtins__=builtin)
            exec(code, made.__dict__)
            guard(name, made)
            if hasattr(made, "LOGGER"):
                vars(made)["LOGGER"] = _Logger(vars(made)["LOGGER"], self._threads)
        return made

    def _importer(self, user: str) -> Callable[..., Any]:
        def imported(
            name: str, variables: Any = None, local: Any = None, fromlist: Any = (), level: int = 0
        ) -> Any:
            if level:
                base = user if user in PACKAGES else user.rpartition(".")[0]
                name = f"{base}.{name}" if name else base
            if name in HIDDEN:
                raise ImportError(name)
            if name == "os":
                return _OS
            if user == "_threading_local" and name == "threading":
                return self._for_locals
            if is_copied(name):
                return self.imported(name, fromlist)
            return self._import(name, variables, local, fromlist, 0)

        return imported

    @property
    def _for_locals(self) -> Any:
        threading: Any = self.get("threading")

        def current_thread() -> Any:
            known = getattr(threading, "current_thread", None)
            return threading if known is None else known()  # which is being made: Python 3.13

        return SimpleNamespace(current_thread=current_thread, RLock=_NoLock)

    def at_end(self) -> None:
        """The main thread has ended: executors let their threads end."""
        for call in reversed(getattr(self._made.get("threading"), "_threading_atexits", [])):
            call()

    # The names of `_thread`.

    def _names(self) -> dict[str, Any]:
        threads = self._threads
        main = threads.main.number
        return {
            "LockType": SimulatedLock,
            "TIMEOUT_MAX": TIMEOUT_MAX,
            "_ExceptHookArgs": lambda given: ExceptHookArgs(*given),
            "_ThreadHandle": Handle,
            "_count": lambda: len(threads.alive) - 1,
            "_excepthook": self._excepthook,
            "_get_main_thread_ident": lambda: main,
            "_is_main_interpreter": lambda: True,
            "_make_thread_handle": Handle,
            "_set_sentinel": Sentinel,
            "_shutdown": lambda: None,
            "allocate": SimulatedLock,
            "allocate_lock": SimulatedLock,
            "daemon_threads_allowed": lambda: True,
            "error": RuntimeError,
            "exit": _exit,
            "get_ident": lambda: threads.current.number,
            "get_native_id": lambda: threads.current.number,
            "interrupt_main": _refuse,
            "lock": SimulatedLock,
            "stack_size": lambda size=0: 0,
            "start_joinable_thread": self._start_joinable,
            "start_new": self._start,
            "start_new_thread": self._start,
        }

    def _start(self, function: Any, args: tuple[Any, ...] = (), named: Any = None) -> int:
        if not callable(function):
            raise TypeError("first arg must be callable")
        if not isinstance(args, tuple):
            raise TypeError("2nd arg must be a tuple")
        call = functools.partial(function, *args, **(named or {}))
        return self._begin(function, call, daemon=True).number

    def _start_joinable(self, function: Any, handle: Any = None, daemon: bool = True) -> Handle:
        known: Handle = Handle() if handle is None else handle
        thread = self._begin(function, function, daemon=daemon)
        known.ident = thread.number
        thread.on_end.append(known._set_done)
        return known

    def _begin(self, function: Any, call: Callable[[], Any], *, daemon: bool) -> RankThread:
        """A thread; one of `threading` runs at once until it is about to do what it is for."""
        threads = self._threads
        owner: Any = getattr(function, "__self__", None)
        is_thread = isinstance(owner, self.get("threading").Thread)
        name = owner.name if is_thread else f"thread {threads.started + 2}"

        def run() -> object:
            try:
                call()
            except SystemExit:
                pass
            except BaseException as error:
                self._left(error, None)
            return ENDED

        made = threads.start(run, name, daemon=owner.daemon if is_thread else daemon)
        if is_thread:
            made.depth = 1
            threads.forced = made
            vars(owner)["run"] = lambda: self._run(owner, made)
        else:
            threads.give_way()
        return made

    def _run(self, owner: Any, made: Any) -> Any:
        del vars(owner)["run"]
        made.depth = 0
        self._threads.give_way()  # its starter, too, can go on
        return owner.run()

    def _excepthook(self, args: Any) -> None:
        """`threading.excepthook`, where the script has set no other."""
        if args.exc_type is not SystemExit:
            self._left(args.exc_value, args.thread)

    def _left(self, error: BaseException, thread: Any) -> None:
        """An exception has left a thread. A plain run tells of it and goes on, as Python does."""
        if self._threads.is_over:
            return
        is_ordinary = isinstance(error, Exception) and not isinstance(error, PresageError)
        if not (self._threads.tells and is_ordinary):
            self._threads.failed(error)
            return
        name = self._threads.current.name if thread is None else thread.name
        sys.stderr.write(f"Exception in thread {name}:\n")
        traceback.print_exception(error)


def _exit() -> None:
    raise SystemExit


def _refuse(*_: Any) -> None:
    raise RuntimeError("a rank gets no signals")


class _Logger:
    """That of a copy: what threads complain of that are unwound, nobody wants to know."""

    def __init__(self, logger: Any, threads: Threads) -> None:
        self._logger, self._threads = logger, threads

    def __getattr__(self, name: str) -> Any:
        return _ignore if self._threads.is_over else getattr(self._logger, name)


def _ignore(*_: Any, **__: Any) -> None:
    """Say nothing."""


class _NoLock:
    """For what is done at once anyway."""

    def __enter__(self) -> None:
        """Nobody else runs."""

    def __exit__(self, *_: object) -> None:
        """Nobody waits."""


class _Os(ModuleType):
    """`os` without `register_at_fork`: ranks do not fork, and what is registered stays for ever."""

    def __getattr__(self, name: str) -> Any:
        if name == "register_at_fork":
            raise AttributeError(name)
        return getattr(sys.modules["os"], name)


_OS = _Os("os")
