"""The one table of functions by which code learns of the world outside, or changes it.

Each of them is replaced once. Who answers is decided when it is called: a simulated process answers
for its own clock and chance (`fence`); a handler, guard, property or observer is refused, with the
line of the user's code and the way out; everybody else gets the original. Functions that cannot be
replaced, because C code or an earlier `from os import listdir` has them, are met by an audit hook.

Left alone: what modules do while they are imported, what `logging` and its like do with the texts
they are given, and what presage itself does between two lines of a user's.
"""

from __future__ import annotations

import _thread
import builtins
import os
import random
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from threading import get_ident
from types import FrameType
from typing import Any, Protocol

from msgspec import Struct

from presage.errors import Escaped, Impure
from presage.model.source import frame_place, is_standard
from presage.process.blame import user_of
from presage.process.context import current, running
from presage.process.events import EVENTS

CONVERTS = {"localtime": 1, "gmtime": 1, "ctime": 1, "asctime": 1, "strftime": 2}
CLOCKS = (
    "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns"
    " thread_time thread_time_ns clock_gettime clock_gettime_ns sleep"
)
DRAWS = (
    "random uniform triangular randint choice randrange sample shuffle choices normalvariate"
    " lognormvariate expovariate vonmisesvariate gammavariate gauss betavariate paretovariate"
    " weibullvariate getrandbits randbytes seed getstate setstate"
)
FILES = "stat lstat access readlink statvfs read pread pipe"
ABOUT = "getpid getppid getcwd getcwdb uname cpu_count getloadavg times getuid getlogin umask"
DESCRIPTORS = "close closerange dup dup2"
INTERPRETER = "setrecursionlimit setswitchinterval"
SIGNALS = "signal alarm setitimer pthread_sigmask set_wakeup_fd siginterrupt"
STARTS = "threading.Thread.start"
# What a simulated process may not do either, by kind: it changes what all processes share.
ESCAPES = {"end": "calls `{}`", "own": "calls `{}`", "thread": "starts a thread"}


class Watcher(Protocol):
    """Runs user code; keeps the error, because an `except` of that code may eat it."""

    error: Any


# Thread -> who runs a handler, guard, property or observer there.
HANDLERS: dict[int, Watcher] = {}


class Leaf(Struct, frozen=True):
    """One function: where it is, what it is about, and when calling it is harmless after all."""

    owner: Any
    name: str
    kind: str
    title: str
    harmless: Callable[[tuple[Any, ...], dict[str, Any]], bool] | None = None


def _named(owner: Any, names: str, kind: str) -> Iterator[Leaf]:
    for name in names.split():
        if hasattr(owner, name):
            yield Leaf(owner, name, kind, f"{owner.__name__}.{name}")


def _converting(least: int) -> Callable[[tuple[Any, ...], dict[str, Any]], bool]:
    return lambda args, _: len(args) >= least  # given a time, it only converts it


def _is_seeded(args: tuple[Any, ...], named: dict[str, Any]) -> bool:
    return (args[1:2] or tuple(named.values())[:1] or (None,))[0] is not None


LEAVES: tuple[Leaf, ...] = (
    *_named(time, CLOCKS, "clock"),
    *(Leaf(time, n, "clock", f"time.{n}", _converting(least)) for n, least in CONVERTS.items()),
    *_named(random, DRAWS, "chance"),
    Leaf(random, "_urandom", "chance", "random.urandom"),
    *_named(os, "urandom getrandom", "chance"),
    Leaf(random.Random, "__init__", "chance", "random.Random", _is_seeded),
    Leaf(random.Random, "seed", "chance", "random.Random.seed", _is_seeded),
    Leaf(uuid, "uuid1", "clock", "uuid.uuid1"),
    *_named(os, ABOUT, "environment"),
    *(
        Leaf(type(os.environ), name, "environment", "os.environ")
        for name in ("__getitem__", "__iter__", "__len__")
    ),
    *_named(os, FILES, "file"),
    *_named(os, DESCRIPTORS, "own"),
    *_named(signal, SIGNALS, "own"),
    *_named(sys, INTERPRETER, "own"),
    Leaf(threading, "_start_new_thread", "thread", STARTS),
    Leaf(_thread, "start_new_thread", "thread", STARTS),
    *_named(os, "_exit abort execv execve", "end"),
)

# What a simulated process is answered; filled by `fence`.
ANSWERS: dict[tuple[Any, str], Callable[..., Any]] = {}
ORIGINALS = {(leaf.owner, leaf.name): getattr(leaf.owner, leaf.name) for leaf in LEAVES}


def _dispatcher(leaf: Leaf, original: Callable[..., Any]) -> Callable[..., Any]:
    answer, harmless = ANSWERS.get((leaf.owner, leaf.name)), leaf.harmless

    def dispatch(*args: Any, **named: Any) -> Any:
        if running.stack:
            if answer is not None:
                return answer(*args, **named)
            if leaf.kind in ESCAPES:
                escape(ESCAPES[leaf.kind].format(leaf.title), sys._getframe(1))
        elif get_ident() in HANDLERS and not (harmless and harmless(args, named)):
            refuse(leaf.kind, leaf.title, sys._getframe(1))
        return original(*args, **named)

    dispatch.__name__ = leaf.name
    return dispatch


def refuse(kind: str, title: str, frame: FrameType | None) -> None:
    """Raise if a handler, guard, property or observer of the user's led to `frame`."""
    user = user_of(frame)
    if user is not None:
        watcher = HANDLERS[get_ident()]
        error = Impure(title, user.place, kind, user.role)
        watcher.error = watcher.error or error
        raise error


def escape(what: str, frame: FrameType | None) -> None:
    """Raise if the running process of the user's led to `frame`."""
    if user_of(frame) is not None:
        process = current()
        process.error = Escaped(process.name, what, frame_place(frame))
        raise process.error


_hash = builtins.hash


def checked_hash(value: Any, /) -> int:
    """`hash`, which handlers may not ask about texts: another process has another answer."""
    if get_ident() in HANDLERS and not running.stack and _has_text(value):
        frame = sys._getframe(1)
        if frame.f_code.co_name != "__hash__" and not is_standard(frame.f_code.co_filename):
            refuse("hash", "hash", frame)
    return _hash(value)


def _has_text(value: Any) -> bool:
    if isinstance(value, str | bytes):
        return True
    return isinstance(value, tuple | frozenset) and any(_has_text(each) for each in value)


class _Table:
    """Stands while anybody needs it; several may, in any order of coming and going."""

    def __init__(self) -> None:
        self.depth = 0
        self.finders: list[Any] = []  # of modules to take as soon as they are loaded
        self._lock = threading.Lock()
        self._hooked = False

    def up(self) -> None:
        with self._lock:
            self.depth += 1
            if self.depth == 1:
                for leaf in LEAVES:
                    setattr(leaf.owner, leaf.name, DISPATCHERS[leaf.owner, leaf.name])
                builtins.hash = checked_hash
                sys.meta_path[:0] = self.finders
            if not self._hooked:  # such a hook stays for ever
                self._hooked = True
                sys.addaudithook(_audit)

    def down(self) -> None:
        with self._lock:
            self.depth -= 1
            if self.depth == 0:
                for (owner, name), original in ORIGINALS.items():
                    setattr(owner, name, original)
                builtins.hash = _hash
                sys.meta_path[:] = [each for each in sys.meta_path if each not in self.finders]


def _audit(event: str, args: tuple[Any, ...]) -> None:
    about = EVENTS.get(event)
    if about is None or not TABLE.depth:
        return
    if running.stack:
        if about.escapes:
            escape(about.escapes, sys._getframe(1))
    elif get_ident() in HANDLERS:
        refuse(about.kind, about.title or event, sys._getframe(1))


TABLE = _Table()
DISPATCHERS: dict[tuple[Any, str], Callable[..., Any]] = {}


def complete() -> None:
    """Make the functions that stand in for the leaves; called once, when all answers are known."""
    for leaf in LEAVES:
        key = leaf.owner, leaf.name
        DISPATCHERS[key] = _dispatcher(leaf, ORIGINALS[key])
