"""What the page of a live system has beyond that of a trace: messages in flight, files to keep."""

from __future__ import annotations

import re
from collections.abc import Iterator

from presage.debug.explore import Explorer
from presage.debug.saved_path import kept
from presage.records import NamedTuple
from presage.trace import codec
from presage.trace.export.standalone import standalone
from presage.trace.plain import TYPE, Plain, shortened

SAVES = {"path.trace": "save the path as a trace", "test_path.py": "save it as a pytest test"}


class File(NamedTuple):
    """A file that a reader keeps."""

    name: str
    content: bytes


def flying(state: dict[str, Plain]) -> Iterator[str]:
    """The messages in flight in a state; of processes, what waits at each mailbox."""
    between = state[next(reversed(state))]
    if not isinstance(between, dict):
        return
    for message, count in _parts(between, "messages"):
        yield shortened(message if count == 1 else f"{message} ({count} copies)")
    for mailbox, waiting in _parts(between, "mailboxes"):
        for each in waiting if isinstance(waiting, list | tuple) else ():
            yield shortened(f"at {mailbox}: {each}")


def file_of(explorer: Explorer, asked: str) -> File | None:
    """The path so far as the file that is asked for; None if there is no such file."""
    if asked not in SAVES:
        return None
    trace = kept(explorer)
    if asked.endswith(".py"):
        name = re.sub(r"[^a-z0-9]+", "_", trace.system.lower()).strip("_") or "path"
        return File(f"test_{name[:60]}.py", standalone(trace).encode())
    return File(codec.file_name(trace), codec.encode(trace))


def _parts(between: dict[str, Plain], name: str) -> list[tuple[str, Plain]]:
    part = between.get(name)
    return [each for each in part.items() if each[0] != TYPE] if isinstance(part, dict) else []
