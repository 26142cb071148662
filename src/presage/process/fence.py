"""Time, chance and output of processes under control; what escapes control is refused by name.

A process may call `random`, `time`, `uuid` and `os.urandom`: it gets its own clock, which moves
when it sleeps, and its own seeded stream of numbers, the same each time it is run again. Threads,
sockets and other programs cannot be taken under control from here, so using them is an error that
names the process. What a process prints is kept for its trace.
"""

from __future__ import annotations

import io
import os
import random
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from presage.process.context import Context, blocking, current, is_running, sleep
from presage.process.leaves import (
    ANSWERS,
    CONVERTS,
    DRAWS,
    ORIGINALS,
    PERMITTED,
    TABLE,
    complete,
)
from presage.process.loops import swap_loop, take_asyncio
from presage.process.numpy_chance import take_numpy

EPOCH = 1_000_000_000.0  # what the wall clock says when a process starts

SECONDS = {"time": EPOCH, "monotonic": 0.0, "perf_counter": 0.0, "process_time": 0.0}


def _seed(given: Any) -> Any:
    return current().random.getrandbits(64) if given is None else given


def _make_random(made: random.Random, x: Any = None) -> None:
    """`random.Random`: without a seed, seeded by the process that makes it."""
    ORIGINALS[random.Random, "__init__"](made, _seed(x))


def _seed_random(made: random.Random, a: Any = None, version: int = 2) -> None:
    ORIGINALS[random.Random, "seed"](made, _seed(a), version)


def _now() -> float:
    return current().read_clock()


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


def _conversion(name: str, least: int) -> Callable[..., Any]:
    """Given a time these functions only convert it; without one they read the clock."""
    original, split = ORIGINALS[time, name], ORIGINALS[time, "gmtime"]

    def converted(*args: Any) -> Any:
        if len(args) >= least:
            return original(*args)
        moment: Any = EPOCH + _now()
        return original(*args, split(moment) if name in ("strftime", "asctime") else moment)

    return converted


def _answers() -> dict[tuple[Any, str], Callable[..., Any]]:
    answers: dict[tuple[Any, str], Callable[..., Any]] = {}
    for name, start in SECONDS.items():
        answers[time, name] = _seconds(start)
        answers[time, f"{name}_ns"] = _nanoseconds(start)
    for name in DRAWS.split():
        answers[random, name] = _draw(name)
    for name, least in CONVERTS.items():
        answers[time, name] = _conversion(name, least)
    return answers | {
        (time, "sleep"): _sleep,
        (os, "urandom"): _entropy,
        (random, "_urandom"): _entropy,
        (random.Random, "__init__"): _make_random,
        (random.Random, "seed"): _seed_random,
        (uuid, "uuid1"): _uuid,
        (os, "getpid"): lambda: 1,
    }


ANSWERS.update(_answers())
complete()


class Fence:
    """A context manager; while it stands, running processes get controlled answers."""

    def __init__(self, *, quiet: bool = True, plain: bool = False) -> None:
        """`plain`: one run, after which the program ends; it may close files that it opened."""
        self._quiet = quiet
        self._plain = plain
        self._stdout: Any = None
        self._loop: Any = None

    def __enter__(self) -> Fence:
        TABLE.up()
        if self._plain:
            PERMITTED.add("os.close")
        take_numpy()
        take_asyncio()
        self._loop = swap_loop(None)
        if self._quiet:
            self._stdout = sys.stdout
            sys.stdout = Output(sys.stdout)
        return self

    def __exit__(self, *_: object) -> None:
        if self._quiet:
            sys.stdout = self._stdout
        if self._loop is not None:
            swap_loop(self._loop)
        if self._plain:
            PERMITTED.discard("os.close")
        TABLE.down()


def take_leaves() -> None:
    """Replace the leaves for good, before checked code takes them by their names."""
    TABLE.up()
    take_numpy()


@contextmanager
def leaves_taken() -> Iterator[None]:
    """The same for as long as checked code is loaded and run here."""
    take_leaves()
    try:
        yield
    finally:
        TABLE.down()


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
        if not getattr(self._out, "closed", False):  # who collects this closes it, and so flushes
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
