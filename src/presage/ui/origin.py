"""The file that a target names, and how it is named from another folder."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

SCRIPT = " --mpi "  # in the targets of mpi4py scripts, as their traces name them


def file_of(target: str) -> str | None:
    """The path in `target`; None if it names a module, or nothing."""
    if SCRIPT in target:
        try:
            return shlex.split(target)[0]
        except (ValueError, IndexError):
            return None
    match = re.fullmatch(r"(?s)(.+\.py)(?::.*)?", target)
    return match[1] if match else None


def seen_from(target: str | None, folder: Path) -> tuple[str, str]:
    """`target` as a path relative to `folder`, empty if it has none, and what follows the path."""
    file = None if target is None or SCRIPT in target else file_of(target)
    if target is None or file is None:
        return "", target or ""
    return os.path.relpath(Path(file).resolve(), folder.resolve()), target.removeprefix(file)
