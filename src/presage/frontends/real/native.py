"""Compiled packages that open sockets or start threads by themselves, named with the line.

No leaf and no audit event sees what C code asks of the operating system. But it shows: a socket, a
pipe or an epoll takes the lowest free descriptor, a thread is counted. When a node is started for
the first time, that is looked at after every line of its code, so the line can be named before a
call in C waits for ever. Later a look after each event is enough, for descriptors only: threads of
the search come and go.

Nothing is looked at until a compiled package is there. What loading one does is nobody's: it is
loaded outside of every process.
"""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import EXTENSION_SUFFIXES
from types import FrameType, TracebackType
from typing import Any

from presage.frontends.real.finder import FINDER
from presage.frontends.real.machine.effects import Bypassed
from presage.frontends.real.machine.process import current
from presage.frontends.real.machine.strange import strange
from presage.model.source import OURS, frame_place, is_standard, is_user_file
from presage.process.leaves import ORIGINALS

DUP, CLOSE = ORIGINALS[os, "dup"], ORIGINALS[os, "close"]
STAT, FSTAT = ORIGINALS[os, "stat"], os.fstat
TASKS = "/proc/self/task"
LINES_MAX = 200_000  # after so many, a program that is long in starting is looked at when it waits
OWN = frozenset(("greenlet", "msgspec", "presage"))
ENDINGS = tuple(EXTENSION_SUFFIXES)
REMEDY = "use a version of it in Python, or let a node in Python stand for what it talks to"


def _lowest_free() -> int:
    """The descriptor that whatever is opened next gets."""
    free: int = DUP(2)
    CLOSE(free)
    return free


def _threads() -> int:
    """How many threads the operating system counts; 0 where it does not say."""
    try:
        return int(STAT(TASKS).st_nlink)
    except OSError:
        return 0


def _is_channel(descriptor: int) -> bool:
    """Whether a descriptor is a socket, a pipe, or one of those that have no type, as epoll."""
    try:
        mode = FSTAT(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode) or stat.S_IFMT(mode) == 0


def _is_theirs(frame: FrameType) -> bool:
    """Whether it is neither of the standard library nor of presage."""
    file = frame.f_code.co_filename
    return is_user_file(file) and not file.startswith("<")


def _is_below(frame: FrameType) -> bool:
    """Whether code that is theirs called it, at whatever distance."""
    caller = frame.f_back
    while caller is not None and not _is_theirs(caller):
        caller = caller.f_back
    return caller is not None


class Native:
    """Looks whether compiled code of one node reached past its kernel."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._packages: set[str] = set()  # compiled ones, of which nobody knows what they do
        self._known: set[str] = set()  # modules that were looked at
        self._loads = -1  # how many packages were loaded for everybody at the last look
        self._free = self._tasks = 0
        self._counts_threads = False
        self._lines = 0  # looked at, of those that start the node
        self._place = ""  # where the code is, or was at the last look

    def is_armed(self) -> bool:
        """Whether there is a compiled package."""
        if FINDER.loads != self._loads:
            self._loads = FINDER.loads
            for name in sys.modules.keys() - self._known:
                file = getattr(sys.modules[name], "__file__", None)
                if isinstance(file, str) and file.endswith(ENDINGS) and not is_standard(file):
                    self._packages.add(name.partition(".")[0])
            self._packages -= OWN
            self._known.update(sys.modules)
            self.begin()
        return bool(self._packages)

    def begin(self) -> None:
        """What is there now is not this node's doing."""
        self._free = _lowest_free()
        self._tasks = _threads() if self._counts_threads else 0

    def look(self) -> None:
        """Raise if something was opened since the last look."""
        free, tasks = self._free, self._tasks
        self.begin()
        if not self._packages:
            return
        if self._free > free and _is_channel(free):
            self._refuse("opens a real socket, pipe or poll")
        if self._tasks > tasks:
            self._refuse("starts a real thread")

    @contextmanager
    def watching(self, place: str, event: str) -> Iterator[None]:
        """While an event happens to a process of the node, whose program is at `place`."""
        if not self.is_armed():
            yield
            return
        self._place, FINDER.watch = f"{place}, at `{event}`", self
        self.begin()
        try:
            yield
        finally:
            FINDER.watch = None
        self.look()

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """While the node is started for the first time: looks after each line of its code."""
        if sys.gettrace() is not None:  # a debugger, or one who counts lines
            yield
            return
        self._counts_threads, FINDER.watch = True, self
        threading.settrace(self._trace)
        try:
            yield
        finally:
            self._counts_threads, FINDER.watch = False, None
            threading.settrace(None)
            sys.settrace(None)

    def trace(self) -> None:
        """Called by the main thread of a process that is traced."""
        if self._counts_threads:
            sys.settrace(self._trace)

    def _trace(self, frame: FrameType, event: str, value: Any) -> Any:
        """Lines of the standard library are no news: what they call in C is known.

        Compiled code that calls it may not bear to be refused in the middle, so that has to wait.
        But a thread of the library may run a function in C and nothing else.
        """
        if frame.f_code.co_filename.startswith(OURS):
            return None  # of presage, which is called all the time
        if self._lines > LINES_MAX or FINDER.copy is None:
            return None
        if FINDER.copy.is_loading() or current() is None:
            return None  # what imports do is seen after them
        is_theirs = _is_theirs(frame)
        if self.is_armed() and (is_theirs or not _is_below(frame)):
            self.look()
        return self._line if is_theirs else None

    def _line(self, frame: FrameType, event: str, value: Any) -> Any:
        if FINDER.copy is not None and self.is_armed():  # none: loading what is everybody's
            self.look()
            self._lines += 1
            if self._lines > LINES_MAX:
                sys.settrace(None)
                return None
            if event == "exception":
                self._check(*value[1:])
            self._place = frame_place(frame.f_back if event == "return" else frame)
        return self._line

    def _check(self, error: Any, traceback: TracebackType | None) -> None:
        """Raise if an exception is an answer of the real kernel, even if the program handles it."""
        process = current()
        is_one = isinstance(error, OSError)
        found = strange(self.name, error.with_traceback(traceback)) if is_one else None
        if found is not None and process is not None:
            process.error = process.error or found
            raise found

    def _refuse(self, what: str) -> None:
        names = " or ".join(f"`{each}`" for each in sorted(self._packages))
        what = f"{what} in compiled code, of {names}"
        error, process = Bypassed(self.name, what, self._place, REMEDY), current()
        if process is not None:
            process.error = process.error or error  # an `except` may eat it
            process.is_brittle = True
        raise error
