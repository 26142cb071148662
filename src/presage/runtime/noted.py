"""What a data folder is of: the target and its parameters, noted by the command that runs it.

Commands that read logs need the system. The note is believed only if the folder is the user's own:
a folder from elsewhere could name any code.

`presage up` claims its folder before it notes anything: of two in one folder, the second is refused
and changes nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from presage.errors import CannotListen, StoreError, Untrusted

FILE, LOCK = "target.json", "up.lock"
PATIENCE = 1.0  # seconds in which the nodes of one that was killed end


class Noted(Struct, frozen=True):
    """Enough to load the system again."""

    target: str
    parameters: dict[str, Any]
    folder: str  # where the target was found from


@contextlib.contextmanager
def claimed(data: Path) -> Iterator[None]:
    """Keep every other `presage up` out of `data`, as long as this process and its nodes live."""
    with _usable(data):
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(data / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        end = time.monotonic() + PATIENCE
        while not _is_free(lock):
            if time.monotonic() > end:
                raise CannotListen(
                    f"`{data}` is in use",
                    "another `presage up` runs in this data folder",
                    "end it first, or take another folder: `--data`, or `data = ...` in [live]",
                )
            time.sleep(0.02)
        yield
    finally:
        os.close(lock)


def _is_free(lock: int) -> bool:
    """Whether a claim is ours now."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def note(data: Path, target: str, parameters: dict[str, Any]) -> None:
    """Write down what runs in `data`."""
    with _usable(data):
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        noted = Noted(target, parameters, os.getcwd())
        unfinished = data / f"{FILE}.{os.getpid()}"
        unfinished.write_bytes(msgspec.json.encode(noted))
        unfinished.replace(data / FILE)


@contextlib.contextmanager
def _usable(data: Path) -> Iterator[None]:
    """Say what is wrong with a folder that cannot be written to."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"the data folder `{data}` cannot be used: {error.strerror or error}",
            "a full disk, a file of that name, or a folder that may not be written to",
            "name another folder: `--data`, or `data = ...` in [live]",
        ) from error


def read(data: Path) -> Noted | None:
    """What ran in `data`; None if nobody noted it."""
    path = data / FILE
    try:
        owner = path.stat().st_uid
        noted = msgspec.json.decode(path.read_bytes(), type=Noted)
    except (OSError, msgspec.DecodeError):
        return None
    if owner != os.getuid():
        raise Untrusted(
            f"`{path}` names code, and belongs to somebody else",
            "a data folder from another machine or user",
            "look at what it names; then name the system yourself: `presage logs TARGET`",
        )
    return noted
