"""Where code stands, in words for people: `file.py:12`, relative to the current directory.

Such texts appear in errors and reports only. They are never part of a state, because the same
trace must replay from another directory and after an edit further up in the file.
"""

from __future__ import annotations

import functools
import linecache
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

# What calls the user's code or is called by it; shipped systems count as the user's.
OURS = tuple(
    str(Path(__file__).parents[1] / folder)
    for folder in ("model", "process", "mailbox", "frontends", "sockets")
)
UNKNOWN = "unknown place"
PRESAGE = str(Path(__file__).parents[1])
SHIPPED = str(Path(PRESAGE) / "systems")  # counts as a user's
STANDARD = str(Path(linecache.__file__).parent)


def place(file: str, line: int) -> str:
    """`file:line`, the file relative to the current directory if it lies below it."""
    try:
        return f"{_below(file, str(Path.cwd()))}:{line}"
    except OSError:
        return f"{file}:{line}"


@functools.lru_cache(maxsize=1024)
def _below(file: str, folder: str) -> str:
    """The file relative to the folder if it lies below it: asked at each step of a process."""
    try:
        return str(Path(file).relative_to(folder))
    except ValueError:
        return file


def place_of(function: Callable[..., Any]) -> str:
    """Where a function is written; its name if it was not written in Python."""
    code = getattr(function, "__code__", None)
    if code is None:
        return repr(function)
    return place(code.co_filename, code.co_firstlineno)


def place_of_attribute(file: str, line: int, attribute: str) -> str:
    """Where `attribute` is declared in the class whose statement begins at `line`."""
    pattern = re.compile(rf"\s+(?:def\s+)?{re.escape(attribute)}\s*[:=(]")
    for number in range(line, line + 500):
        text = linecache.getline(file, number)
        if not text:
            break
        if pattern.match(text):
            return place(file, number)
    return place(file, line)


def is_user_file(file: str) -> bool:
    """Whether a file is written by a user."""
    return not file.startswith(OURS) and not is_standard(file)


def is_standard(file: str) -> bool:
    """Whether a file belongs to Python's standard library."""
    return file.startswith(STANDARD) and "site-packages" not in file


def caller() -> str:
    """The innermost place in the user's code that led here."""
    return frame_place(sys._getframe(1))


def decorates() -> bool:
    """Whether the innermost line of the user's code that led here is that of a decorator."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return False
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip().startswith("@")


def raised(traceback: TracebackType | None) -> tuple[str, str] | None:
    """Where an exception came from: the innermost frame of user code, and its function's name."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_user_file(code.co_filename):
            found = (place(code.co_filename, traceback.tb_lineno), code.co_name)
        traceback = traceback.tb_next
    return found


def class_statement() -> tuple[str, int]:
    """File and line of the `class` statement being executed, called while it is."""
    frame = sys._getframe(1)
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    return ("<unknown>", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def frame_place(frame: FrameType | None) -> str:
    """The innermost place in the user's code that a frame is, or was called from."""
    while frame is not None:
        if is_user_file(frame.f_code.co_filename):
            return place(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return UNKNOWN
