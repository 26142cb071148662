"""Which lines of the checked code ran: noted only where `--coverage` asks for it.

The tracing hook of the interpreter belongs to a thread, and handlers run on threads of the search;
so it is set for each run and put back after it. Code in other files costs one call per function.
"""

from __future__ import annotations

import dis
import linecache
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FrameType
from typing import Any

# Instructions that stand at the line of a `def` and do nothing of the user's.
from msgspec import Struct

PROLOGUE = frozenset({"RESUME", "MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR", "POP_TOP"})
RAN, NEVER, OTHER = ">", "!", "-"


class Source(Struct, frozen=True):
    """Some lines of a file, each with its mark: ran, never ran, or no code that could."""

    file: str
    first: int
    marks: tuple[str, ...]

    def lines(self, mark: str) -> list[int]:
        return [self.first + at for at, each in enumerate(self.marks) if each == mark]

    def text(self) -> list[str]:
        """The lines, each behind its mark and number."""
        width = len(str(self.first + len(self.marks)))
        told = []
        for at, mark in enumerate(self.marks):
            number = self.first + at
            line = linecache.getline(self.file, number).rstrip()
            told.append(f"{mark} {number:>{width}}  {line}".rstrip())
        return told


class Lines:
    """Notes which lines of some files run."""

    def __init__(self, files: Iterable[str]) -> None:
        self.files = frozenset(files)
        self.ran: set[tuple[str, int]] = set()
        self._entered: set[tuple[str, int, str]] = set()

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            return function(*args)
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        if code.co_filename not in self.files:
            return None
        self._entered.add(_key(code))
        return self._line

    def _line(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
        if event == "line":
            self.ran.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    def source(self, file: str, first: int, count: int, codes: Iterable[CodeType]) -> Source:
        """The marks of `count` lines from `first` on; `codes` are what could have run there."""
        marks = [OTHER] * count

        def put(line: int, ran: bool) -> None:
            at = line - first
            if 0 <= at < count and marks[at] != RAN:
                marks[at] = RAN if ran else NEVER

        for code in codes:
            head = _head(file, code)
            entered = head if _key(code) in self._entered else []
            for line in [*executable(code), *head]:
                put(line, (file, line) in self.ran or line in entered)
        for where, line in sorted(self.ran):
            if where == file:
                put(line, True)
        return Source(file, first, tuple(marks))


def _key(code: CodeType) -> tuple[str, int, str]:
    return code.co_filename, code.co_firstlineno, code.co_name


def executable(code: CodeType) -> list[int]:
    """The lines at which a function does something."""
    lines = {
        each.positions.lineno
        for each in dis.get_instructions(code)
        if each.positions is not None and each.opname not in PROLOGUE
    }
    return sorted(line for line in lines if line is not None)


def nested(code: CodeType) -> Iterator[CodeType]:
    """A function and those written inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested(constant)


def _head(file: str, code: CodeType) -> list[int]:
    """The lines of a `def` statement, its decorators included."""
    if code.co_name.startswith("<"):
        return []
    first = code.co_firstlineno
    for line in range(first, first + 20):
        if linecache.getline(file, line).lstrip().startswith(("def ", "async def ")):
            return list(range(first, line + 1))
    return [first]
