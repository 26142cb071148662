"""What a data folder is of: the target and its parameters, noted by the command that runs it.

Commands that read logs need the system. The note is believed only if the folder is the user's own:
a folder from elsewhere could name any code.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from presage.errors import StoreError, Untrusted

FILE = "target.json"


class Noted(Struct, frozen=True):
    """Enough to load the system again."""

    target: str
    parameters: dict[str, Any]
    folder: str  # where the target was found from


def note(data: Path, target: str, parameters: dict[str, Any]) -> None:
    """Write down what runs in `data`."""
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        noted = Noted(target, parameters, os.getcwd())
        unfinished = data / f"{FILE}.{os.getpid()}"
        unfinished.write_bytes(msgspec.json.encode(noted))
        unfinished.replace(data / FILE)
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
