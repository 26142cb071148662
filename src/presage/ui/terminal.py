"""How wide the terminal is; `shutil` knows too, but takes long to load."""

from __future__ import annotations

import os
import sys

COLUMNS = "COLUMNS"


def columns(unknown: int) -> int:
    """The width that the environment or the terminal has; `unknown` if neither says."""
    try:
        given = int(os.environ[COLUMNS])
    except (KeyError, ValueError):
        given = 0
    if given > 0:
        return given
    if sys.__stdout__ is None:  # closed
        return unknown
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or unknown
    except (ValueError, OSError):
        return unknown
