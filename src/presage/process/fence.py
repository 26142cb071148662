"""Time, chance and output of processes under control; what escapes control is refused by name.

A process may call `random`, `time`, `uuid` and `os.urandom`: it gets its own clock, which moves
when it sleeps, and its own seeded stream of numbers, the same each time it is run again. Threads,
sockets and other programs cannot be taken under control from here, so using them is an error that
names the process. What a process prints is kept for its trace.
"""

from __future__ import annotations

import importlib
import io
import os
import random
import sys
import threading
import time
import uuid
from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn

from presage.errors import Escaped
from presage.model.source import caller
from presage.process.context import Context, blocking, current, is_running, sleep

EPOCH = 1_000_000_000.0  # what the wall clock says when a process starts

SECONDS = {"time": EPOCH, "monotonic": 0.0, "perf_counter": 0.0, "process_time": 0.0}
DRAWS = (
    "random uniform triangular randint choice randrange sample shuffle choices normalvariate"
    " lognormvariate expovariate vonmisesvariate gammavariate gauss betavariate paretovariate"
    " weibullvariate getrandbits randbytes seed getstate setstate"
)
CONVERTS = {"localtime": 1, "gmtime": 1, "ctime": 1, "asctime": 1, "strftime": 2}
# Audit events of what leaves the process, and what to call it.
ESCAPES = {
    "socket.__new__": "opens a socket",
    "subprocess.Popen": "starts another program",
    "os.system": "starts another program",
    "os.posix_spawn": "starts another program",
    "os.fork": "forks",
    "os.exec": "becomes another program",
    "_thread.start_new_thread": "starts a thread",
}

_RealRandom = random.Random


class ProcessRandom(_RealRandom):
    """`random.Random`: without a seed, seeded by the process that makes it."""

    def __init__(self, x: Any = None) -> None:
        super().__init__(_seed(x))

    def seed(self, a: Any = None, version: int = 2) -> None:
        super().seed(_seed(a), version)


def _seed(given: Any) -> Any:
    return current().random.getrandbits(64) if given is None and is_running() else given


def _now() -> float:
    context = current()
    context.clock_read = True
    return context.clock


def _seconds(start: float) -> Callable[..., float]:
    return lambda *_: start + _now()


def _nanoseconds(start: float) -> Callable[..., int]:
    return lambda *_: round((start + _now()) * 1e9)


def _draw(name: str) -> Callable[..., Any]:
    return lambda *args, **named: getattr(current().random, name)(*args, **named)


def _entropy(size: int) -> bytes:
    return current().random.randbytes(size)


def _uuid(*_: Any, **__: Any) -> uuid.UUID:
    return uuid.UUID(bytes=_entropy(16), version=4)


def _sleep(seconds: float) -> None:
    blocking(sleep(seconds))


def _thread(*_: Any, **__: Any) -> None:
    _refuse("starts a thread")


def _refuse(what: str) -> NoReturn:
    context = current()
    context.error = Escaped(context.name, what, caller())
    raise context.error


def _answers() -> dict[tuple[Any, str], Callable[..., Any]]:
    answers: dict[tuple[Any, str], Callable[..., Any]] = {}
    for name, start in SECONDS.items():
        answers[time, name] = _seconds(start)
        answers[time, f"{name}_ns"] = _nanoseconds(start)
    for name in DRAWS.split():
        answers[random, name] = _draw(name)
    answers |= {
        (time, "sleep"): _sleep,
        (os, "urandom"): _entropy,
        (random, "_urandom"): _entropy,
        (uuid, "uuid1"): _uuid,
        (os, "getpid"): lambda: 1,
        (threading.Thread, "start"): _thread,
    }
    return answers


class Fence:
    """A context manager; while it stands, running processes get controlled answers."""

    depth = 0
    saved: list[tuple[Any, str, Any]] = []

    def __init__(self, *, quiet: bool = True) -> None:
        self._quiet = quiet
        self._stdout: Any = None

    def __enter__(self) -> Fence:
        Fence.depth += 1
        if Fence.depth == 1:
            _hook()
            for (owner, name), answer in _answers().items():
                _replace(owner, name, answer)
            for name, least in CONVERTS.items():
                _replace_conversion(name, least)
            Fence.saved.append((random, "Random", random.Random))
            random.Random = ProcessRandom  # type: ignore[misc]
            _replace_numpy()
        if self._quiet:
            self._stdout = sys.stdout
            sys.stdout = Output(sys.stdout)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._quiet:
            sys.stdout = self._stdout
        Fence.depth -= 1
        if Fence.depth == 0:
            for owner, name, original in reversed(Fence.saved):
                setattr(owner, name, original)
            Fence.saved.clear()


def _replace(owner: Any, name: str, answer: Callable[..., Any]) -> None:
    original = getattr(owner, name)

    def controlled(*args: Any, **named: Any) -> Any:
        return answer(*args, **named) if is_running() else original(*args, **named)

    controlled.__name__ = name
    Fence.saved.append((owner, name, original))
    setattr(owner, name, controlled)


def _replace_conversion(name: str, least: int) -> None:
    """Given a time these functions only convert it; without one they read the clock."""
    original = getattr(time, name)

    def controlled(*args: Any) -> Any:
        if len(args) >= least or not is_running():
            return original(*args)
        moment: Any = EPOCH + _now()
        return original(*args, time.gmtime(moment) if name in ("strftime", "asctime") else moment)

    Fence.saved.append((time, name, original))
    setattr(time, name, controlled)


def _replace_numpy() -> None:
    """NumPy's global stream of numbers; its generators take their seeds from `os.urandom`."""
    if "numpy" not in sys.modules:
        return
    numpy: Any = importlib.import_module("numpy.random")  # NumPy itself loads it when it is used
    state_class: Any = numpy.RandomState

    def draw(name: str) -> Callable[..., Any]:
        def drawn(*args: Any, **named: Any) -> Any:
            notes = current().notes
            if "numpy" not in notes:
                notes["numpy"] = state_class(current().random.getrandbits(32))
            return getattr(notes["numpy"], name)(*args, **named)

        return drawn

    others = {"seed": "seed", "sample": "random_sample", "ranf": "random_sample"}
    for name in dir(numpy):
        if isinstance(getattr(getattr(numpy, name), "__self__", None), state_class):
            _replace(numpy, name, draw(name))
        elif name in others:
            _replace(numpy, name, draw(others[name]))


class Output(io.TextIOBase):
    """Standard output: what a running process prints is kept, the rest goes through."""

    def __init__(self, out: Any) -> None:
        self._out = out

    def write(self, text: str) -> int:
        if not is_running():
            return int(self._out.write(text))
        context = current()
        _keep(context, text)
        return len(text)

    def flush(self) -> None:
        self._out.flush()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return str(getattr(self._out, "encoding", "utf-8"))

    def fileno(self) -> int:
        return int(self._out.fileno())

    def isatty(self) -> bool:
        return bool(self._out.isatty())


def _keep(context: Context, text: str) -> None:
    """Add printed text to the lines kept; a line may come in several pieces."""
    pieces = (context.notes.pop("printed", "") + text).split("\n")
    context.log += pieces[:-1]
    if pieces[-1]:
        context.notes["printed"] = pieces[-1]


_hooked: list[bool] = []


def _hook() -> None:
    """Audit hooks stay for ever, so there is one, which looks whether a process is running."""
    if not _hooked:
        _hooked.append(True)
        sys.addaudithook(_audit)


def _audit(event: str, args: tuple[Any, ...]) -> None:
    what = ESCAPES.get(event)
    if what is not None and Fence.depth and is_running():
        _refuse(what)
