"""What a command tells the parent that watches over it, in lines: what is kept, how it ended.

The parent reads this when the command has ended, and needs it when that was not of its own will.
Without a parent, as in a test or in another program, nobody listens.
"""

from __future__ import annotations

import contextlib
import os
import signal
from typing import NoReturn

findings: dict[str, str] = {}  # of the command: property, and what became of it
_descriptor: int | None = None
_dumps: int = 0
_endings: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_exit = os._exit  # taken before it is replaced by one that tells who called it


class Terminated(KeyboardInterrupt):
    """Like Ctrl-C, by SIGTERM or SIGHUP: ends also what asks for commands."""


def is_interrupt(error: BaseException) -> bool:
    """Whether Ctrl-C is what `error` comes from: where a class is made, Python wraps it."""
    cause = error.__cause__
    return isinstance(error, KeyboardInterrupt) or (cause is not None and is_interrupt(cause))


def attach(descriptor: int, dumps: int, endings: tuple[int, ...] = _endings) -> None:
    """Tell what follows to the other end of a pipe; the signal `dumps` writes where code is.

    `endings` are the signals that end the command, also those under which the parent passes on.
    """
    global _descriptor, _dumps, _endings
    _descriptor, _dumps, _endings = descriptor, dumps, endings


def detach() -> None:
    """Speak no longer for the command: this is a fork of it, with a life of its own."""
    global _descriptor
    _descriptor = None


def endings() -> tuple[int, ...]:
    """The signals that ask the command to end."""
    return _endings


def attached() -> tuple[int, int] | None:
    """The descriptor that the parent reads, and the signal that makes a thread write its place."""
    return None if _descriptor is None else (_descriptor, _dumps)


def found(prop: str, what: str) -> None:
    """Remember a finding, and let the parent know: whatever comes next, it is not lost.

    What is said last of a property counts.
    """
    if findings.get(prop) != what:
        findings[prop] = what
        tell(f"found `{prop}` {what}")


def tell(line: str) -> None:
    """Let the parent know, should this be the last it hears."""
    if _descriptor is not None:
        with contextlib.suppress(OSError):
            text = " ".join(line.splitlines())
            os.write(_descriptor, text.encode(errors="backslashreplace") + b"\n")


def leave(status: int) -> NoReturn:
    """End a fork of the command at once."""
    _exit(status)


def end(status: int) -> NoReturn:
    """End the process at once, as it was meant to."""
    tell(f"end {status}")
    _exit(status)
