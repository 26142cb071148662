"""The line of a script at which a thread is."""

from __future__ import annotations

import sys
from functools import lru_cache
from types import FrameType

from presage.frontends.mpi.core.rank import place_of_line
from presage.model.source import is_user_file


def user_line() -> str:
    """The line of the user's code that runs."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not _is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return "the end" if frame is None else place_of_line(frame.f_code.co_filename, frame.f_lineno)


@lru_cache(maxsize=4096)
def _is_users(file: str) -> bool:
    return is_user_file(file)
