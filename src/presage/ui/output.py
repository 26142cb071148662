"""The streams of a command: what it prints, what it complains of, and readers that went away."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any

TRACEBACK = "PRESAGE_TRACEBACK"


def write_json(value: dict[str, Any]) -> None:
    """Write one object to standard output."""
    import msgspec

    write(msgspec.json.encode(value).decode())


def write(text: str) -> None:
    """Write `text` to standard output; a reader that has gone away does not change the status."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Python flushes standard output once more at exit, and must find it harmless.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(message: str) -> None:
    """Tell on standard error why there is no result; call it while the exception is handled."""
    if os.environ.get(TRACEBACK):
        import traceback

        traceback.print_exc()
    with contextlib.suppress(BrokenPipeError):
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
