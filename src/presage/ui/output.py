"""The streams of a command: what it prints, what it complains of, and readers that went away."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any

from presage.errors import BadOutput

TRACEBACK = "PRESAGE_TRACEBACK"


def write_json(value: dict[str, Any]) -> None:
    """Write one object to standard output."""
    import msgspec

    try:
        text = msgspec.json.encode(value).decode()
    except UnicodeEncodeError:  # the name of a file that is no text; this one escapes it
        import json

        text = json.dumps(value)
    write(text)


def write(text: str) -> None:
    """Write `text` to standard output; a reader that has gone away does not change the status.

    What cannot be written, because a disk is full, goes to standard error, and that is an error.
    """
    try:
        print(text, flush=True)
    except BrokenPipeError:
        silence()
    except OSError as error:
        silence()
        with contextlib.suppress(OSError):
            print(text, file=sys.stderr, flush=True)
        raise unwritable(error) from error


def silence() -> None:
    """Let nothing come of what Python still has for standard output when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def unwritable(error: OSError) -> BadOutput:
    return BadOutput(
        f"standard output cannot be written: {(error.strerror or str(error)).lower()}",
        "a full disk",
        "make room, or send the output elsewhere; what was to be written is above",
    )


def say(text: str) -> None:
    """Write a line to standard error, whatever it quotes."""
    with contextlib.suppress(OSError):
        print(harmless(text), file=sys.stderr, flush=True)


def complain(message: str) -> None:
    """Tell on standard error why there is no result; call it while the exception is handled."""
    if os.environ.get(TRACEBACK):
        import traceback

        traceback.print_exc()
    with contextlib.suppress(OSError):
        print(f"error: {harmless(message)}", file=sys.stderr, flush=True)


def harmless(text: str) -> str:
    """`text` without what a terminal would obey: it may quote a file that comes from anywhere."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def prepare_streams() -> None:
    """Let every text be written: unencodable characters are escaped, closed streams swallow."""
    sys.stdout = sys.stdout or open(os.devnull, "w")
    sys.stderr = sys.stderr or open(os.devnull, "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
