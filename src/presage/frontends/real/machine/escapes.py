"""What a simulated process does past its simulated kernel, named with the line and the way out.

Leaves answer calls by name. C code and names taken long ago get past them; an audit hook does not
let them. A real file may be read where Python itself reads (`readable`); any other file that is
opened for real is an error, and so is a database on the real disk or a function of the C library.
"""

from __future__ import annotations

import ctypes.util
import os
import sys
from functools import cache
from threading import get_ident
from types import FrameType
from typing import Any

from presage.frontends.real.machine.clock import here
from presage.frontends.real.machine.effects import Bypassed
from presage.model.source import frame_place
from presage.process.context import running
from presage.process.leaves import HANDLERS, ORIGINALS, WATCHES, extend, machine_leaf

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
MACHINERY = "<frozen importlib"
PEOPLE = (
    "linecache.py",
    "tokenize.py",
    "traceback.py",
    "tracemalloc.py",
)  # they show source, to people
# Functions of the C library that tell time, draw, wait, or talk to the world outside.
NATIVE = frozenset(
    "clock_gettime clock gettimeofday time ftime nanosleep usleep sleep getrandom rand random"
    " arc4random open open64 fopen read write send recv sendto recvfrom socket connect bind listen"
    " accept select poll epoll_wait fork vfork clone execve system popen kill getpid gethostname"
    " getaddrinfo gethostbyname getifaddrs pthread_create mmap syscall mach_absolute_time"
    " QueryPerformanceCounter".split()
)
OF_THREADS = "pthread_"  # functions of C that would take the number of a thread for an address


def _refuse(what: str, remedy: str, frame: FrameType | None) -> None:
    process = here()
    error = Bypassed(process.name, what, frame_place(frame), remedy)
    process.error = process.error or error
    raise error


def _by_machinery(frame: FrameType | None) -> bool:
    """Whether imports, or those who show source to people, led here."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(MACHINERY) or file.endswith(PEOPLE):
            return True
        if not file.startswith("<"):
            return False
        frame = frame.f_back
    return False


def _watch_open(event: str, args: tuple[Any, ...]) -> None:
    path, _, flags = args
    frame = sys._getframe(2)
    if isinstance(path, int) or frame.f_globals.get("__name__", "").startswith(READER):
        return
    if _by_machinery(frame):
        return
    name = os.fsdecode(path) if isinstance(path, str | bytes) else str(path)
    reads = not (flags or 0) & WRITES
    if reads and name.startswith("<") and name.endswith(">"):
        return  # the compiler looks for the line that it does not understand
    if reads and here().files.real.holds(name):
        return
    doing = "reads" if reads else "writes"
    _refuse(
        f"{doing} the real file `{name}`",
        "give its contents by `Node(files={...})`, and let Python's own `open` read them",
        frame,
    )


READER = "presage.frontends.real.machine."


def _watch_database(event: str, args: tuple[Any, ...]) -> None:
    name = args[0]
    text = os.fsdecode(name) if isinstance(name, str | bytes) else str(name)
    if text in (":memory:", "") or text.startswith("file::memory:") or "mode=memory" in text:
        return
    _refuse(
        f"opens the database `{text}` on the real disk",
        "connect to `:memory:`, and keep what must survive a crash in files",
        sys._getframe(2),
    )


def _watch_symbol(event: str, args: tuple[Any, ...]) -> None:
    name = args[-1]
    if name in NATIVE:
        _refuse(
            f"takes `{name}` from a C library by `ctypes`",
            "use the function of Python's `time`, `os`, `random` or `socket` instead",
            sys._getframe(2),
        )
    if isinstance(name, str) and name.startswith(OF_THREADS):
        raise AttributeError(f"function {name} is not there: simulated threads are none of C")


@cache
def _find_library(name: str) -> str | None:
    """Where a library is: a fact of the host, which other programs are asked for, outside."""
    stack, running.stack = running.stack, []
    watcher = HANDLERS.pop(get_ident(), None)
    try:
        found: str | None = ORIGINALS[ctypes.util, "find_library"](name)
        return found
    finally:
        running.stack = stack
        if watcher is not None:
            HANDLERS[get_ident()] = watcher


extend([machine_leaf(ctypes.util, "find_library")], {(ctypes.util, "find_library"): _find_library})
WATCHES.update(
    {
        "open": _watch_open,
        "sqlite3.connect": _watch_database,
        "ctypes.dlsym": _watch_symbol,
        "ctypes.dlsym/handle": _watch_symbol,
    }
)
