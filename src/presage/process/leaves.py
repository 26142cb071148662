"""The one table of functions by which code learns of the world outside, or changes it.

Each of them is replaced once. Who answers is decided when it is called, innermost first: a process
answers for its own clock and chance (`fence`), a simulated machine for a whole operating system; a
handler, guard, property or observer is refused, with the line of the user's code and the way out;
everybody else gets the original. Functions that cannot be replaced, because C code or an earlier
`from os import listdir` has them, are met by an audit hook.

Simulated machines bring leaves of their own (`extend`). Names that modules took before, such as
`from time import monotonic`, are then replaced there, too.

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
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import get_ident
from types import FrameType, MethodType, ModuleType
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from presage.errors import Escaped, Impure
from presage.model.source import frame_place, is_standard
from presage.process.blame import user_of
from presage.process.context import MACHINE, PROCESS, current, running
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
DESCRIPTORS = (
    "close closerange dup dup2 eventfd memfd_create pidfd_open timerfd_create openpty"
    " posix_openpt copy_file_range splice"
)
INTERPRETER = "setrecursionlimit setswitchinterval"
# Of the real process or the machine: as root they would succeed.
PRIVILEGES = (
    "setuid setgid seteuid setegid setreuid setregid setresuid setresgid setgroups initgroups"
    " chroot nice setpriority setpgid setpgrp setsid sched_setaffinity sched_setscheduler"
    " sched_setparam"
)
SIGNALS = "signal alarm setitimer pthread_sigmask set_wakeup_fd siginterrupt"
WAYS_OUT = "ways out"  # where a library notes what its processes can do instead of an escape
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


def machine_leaf(owner: Any, name: str) -> Leaf:
    """A function that only simulated machines answer; everybody else gets the original."""
    return Leaf(owner, name, "machine", name, lambda *_: True)


def _named(owner: Any, names: str, kind: str) -> Iterator[Leaf]:
    for name in names.split():
        if hasattr(owner, name):
            yield Leaf(owner, name, kind, f"{owner.__name__}.{name}")


def _converting(least: int) -> Callable[[tuple[Any, ...], dict[str, Any]], bool]:
    return lambda args, _: len(args) >= least  # given a time, it only converts it


def _is_seeded(args: tuple[Any, ...], named: dict[str, Any]) -> bool:
    return (args[1:2] or tuple(named.values())[:1] or (None,))[0] is not None


LEAVES: list[Leaf] = [
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
    *_named(os, PRIVILEGES, "own"),
    *_named(time, "clock_settime clock_settime_ns", "own"),
    *_named(signal, SIGNALS, "own"),
    *_named(sys, INTERPRETER, "own"),
    *(
        Leaf(owner, name, "thread", STARTS)
        for owner, name in (
            (threading, "_start_new_thread"),
            (threading, "_start_joinable_thread"),  # since Python 3.13
            (_thread, "start_new_thread"),
            (_thread, "start_joinable_thread"),
        )
        if hasattr(owner, name)
    ),
    *_named(os, "_exit abort execv execve", "end"),
]

PERMITTED: set[str] = set()  # titles of leaves that a plain run may call as they are
Key: TypeAlias = tuple[Any, str]  # owner and name of a leaf

# What a process is answered; filled by `fence`.
ANSWERS: dict[Key, Callable[..., Any]] = {}
ORIGINALS: dict[Key, Any] = {
    (leaf.owner, leaf.name): getattr(leaf.owner, leaf.name) for leaf in LEAVES
}
# Leaf -> the answers of those who may run: see `answerer` in `context`.
_ANSWERERS: dict[Key, list[Callable[..., Any] | None]] = {}


def _dispatcher(leaf: Leaf, original: Callable[..., Any]) -> Callable[..., Any]:
    harmless, answers = leaf.harmless, _ANSWERERS[leaf.owner, leaf.name]
    # A built-in function that a class keeps as an attribute is not bound, nor is a method.
    is_bound = hasattr(original, "__get__") and not isinstance(original, MethodType)
    depth = 2 if is_bound else 1

    def dispatch(_: Leaf, *args: Any, **named: Any) -> Any:
        stack = running.stack
        if stack:
            answer = answers[stack[-1].answerer]
            if answer is not None:
                return answer(*args, **named)
            if leaf.kind in ESCAPES and leaf.title not in PERMITTED:
                escape(ESCAPES[leaf.kind].format(leaf.title), sys._getframe(depth))
        elif get_ident() in HANDLERS and not (harmless and harmless(args, named)):
            refuse(leaf.kind, leaf.title, sys._getframe(depth))
        return original(*args, **named)

    def function(*args: Any, **named: Any) -> Any:
        return dispatch(leaf, *args, **named)

    dispatch.__name__ = function.__name__ = leaf.name
    dispatch.__module__ = function.__module__ = getattr(original, "__module__", None) or __name__
    return function if is_bound else MethodType(dispatch, leaf)


def refuse(kind: str, title: str, frame: FrameType | None) -> None:
    """Raise if a handler, guard, property or observer of the user's led to `frame`."""
    user = user_of(frame)
    if user is not None:
        watcher = HANDLERS[get_ident()]
        error = Impure(title, user.place, kind, user.role)
        watcher.error = watcher.error or error
        raise error


def escape(what: str, frame: FrameType | None) -> None:
    """Raise if the running process of the user's led to `frame`.

    All that a simulated machine runs is the user's, were it a thread of the standard library.
    """
    process = current()
    if process.answerer == MACHINE or user_of(frame) is not None:
        way_out = process.notes.get(WAYS_OUT, {}).get(what)
        process.error = Escaped(process.name, what, frame_place(frame), way_out)
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


class _Lock:
    """A lock that tells the thread which holds it so."""

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._holder = 0

    @property
    def is_held(self) -> bool:
        return self._holder == get_ident()

    def __enter__(self) -> None:
        self._lock.acquire()
        self._holder = get_ident()

    def __exit__(self, *_: object) -> None:
        self._holder = 0
        self._lock.release()


class _Table:
    """Stands while anybody needs it; several may, in any order of coming and going."""

    def __init__(self) -> None:
        self.depth = 0
        self.finders: list[Any] = []  # of modules to take as soon as they are loaded
        self.leaving: list[Callable[[], None]] = []  # called when nobody needs the table any more
        self.everywhere = False  # whether names that modules took before are replaced, too
        self._elsewhere: list[tuple[ModuleType, str, Key]] = []  # those names
        self._lock = _Lock()
        self._hooked = False

    def up(self) -> None:
        assert DISPATCHERS, "nothing would be refused: `complete` comes first"
        with self._lock:
            self.depth += 1
            if self.depth == 1:
                for (owner, name), dispatcher in DISPATCHERS.items():
                    setattr(owner, name, dispatcher)
                builtins.hash = checked_hash
                sys.meta_path[:0] = self.finders
            if not self._hooked:  # such a hook stays for ever
                self._hooked = True
                sys.addaudithook(_audit)

    def spread(self) -> None:
        """Let the leaves stand also for code that has them by other names, until all is down."""
        if self.everywhere or self._lock.is_held:
            return  # held by this thread: garbage is collected while leaves come and go
        with self._lock:
            self.everywhere = True
            self._capture()

    def down(self) -> None:
        if self.depth == 1:
            for each in reversed(self.leaving):
                each()
        with self._lock:
            self.depth -= 1
            if self.depth == 0:
                for (owner, name), original in ORIGINALS.items():
                    setattr(owner, name, original)
                for module, name, key in self._elsewhere:
                    if getattr(module, name, None) is DISPATCHERS[key]:
                        setattr(module, name, ORIGINALS[key])
                self._elsewhere.clear()
                self.everywhere = False
                builtins.hash = _hash
                sys.meta_path[:] = [each for each in sys.meta_path if each not in self.finders]

    def add(self, dispatchers: Mapping[Key, Any]) -> None:
        """Take leaves that came later; they stand at once if the others do."""
        with self._lock:
            DISPATCHERS.update(dispatchers)
            if not self.depth:
                return
            for (owner, name), dispatcher in dispatchers.items():
                setattr(owner, name, dispatcher)
            if self.everywhere:
                self._capture()

    def _capture(self) -> None:
        """Replace leaves also where modules took them by `from time import monotonic`."""
        originals = {id(value): key for key, value in ORIGINALS.items() if callable(value)}
        for title, module in list(sys.modules.items()):
            if title.startswith("presage") or not isinstance(module, ModuleType):
                continue
            inside = vars(module)
            if originals.keys().isdisjoint(map(id, inside.values())):
                continue
            for name, value in list(inside.items()):
                key = originals.get(id(value))
                if key is not None:
                    setattr(module, name, DISPATCHERS[key])
                    self._elsewhere.append((module, name, key))


def _audit(event: str, args: tuple[Any, ...]) -> None:
    about = EVENTS.get(event)
    if about is None or not TABLE.depth:
        return
    stack = running.stack
    if stack and stack[-1].answerer == MACHINE and event in WATCHES:
        WATCHES[event](event, args)
    elif stack:
        if about.escapes:
            escape(about.escapes, sys._getframe(1))
    elif get_ident() in HANDLERS:
        refuse(about.kind, about.title or event, sys._getframe(1))


# Audit event -> what looks at it while code of a simulated machine runs, and raises if it must.
WATCHES: dict[str, Callable[[str, tuple[Any, ...]], None]] = {}
TABLE = _Table()
DISPATCHERS: dict[tuple[Any, str], Callable[..., Any]] = {}


def complete() -> None:
    """Make the functions that stand in for the leaves; called once, when all answers are known."""
    for leaf in LEAVES:
        key = leaf.owner, leaf.name
        _ANSWERERS.setdefault(key, [None, None])[PROCESS] = ANSWERS.get(key)
        if key not in DISPATCHERS:
            DISPATCHERS[key] = _dispatcher(leaf, ORIGINALS[key])


def extend(
    leaves: Iterable[Leaf] = (),
    answers: Mapping[Key, Callable[..., Any]] | None = None,
    stand_ins: Mapping[Key, Any] | None = None,
) -> None:
    """Add leaves, and what a simulated machine is answered by them and by those there are.

    A stand-in takes the place of a class or another object, and itself asks who runs.
    """
    made = {}
    for leaf in leaves:
        key = leaf.owner, leaf.name
        if key not in _ANSWERERS:
            LEAVES.append(leaf)
            ORIGINALS[key] = getattr(leaf.owner, leaf.name)
            _ANSWERERS[key] = [None, None]
            made[key] = _dispatcher(leaf, ORIGINALS[key])
    for key, stand_in in (stand_ins or {}).items():
        ORIGINALS[key] = getattr(*key)
        made[key] = stand_in
    for key, answer in (answers or {}).items():
        _ANSWERERS[key][MACHINE] = answer
    TABLE.add(made)
