"""Whose doing a call is: the innermost line of a user's code that led to it, or nobody's.

Nobody's is what a module does while it is imported, what the standard library does with texts for
people (`logging`, `warnings`, `traceback`), what a harness of tests does beside them, and what
presage does by itself.
"""

from __future__ import annotations

from types import FrameType

from presage.model.source import PRESAGE, SHIPPED, UNKNOWN, frame_place, is_standard, place
from presage.records import NamedTuple

FOR_PEOPLE = frozenset({"logging", "warnings", "traceback", "linecache", "pdb", "faulthandler"})
# They look at the code that they test: pytest at an assertion that failed, hypothesis at garbage.
HARNESS = frozenset({"_pytest", "pluggy", "hypothesis"})
PROPERTIES = f"{PRESAGE}/props/"
RUN = f"{PRESAGE}/execution/sandbox.py"


class User(NamedTuple):
    """A line of a user's code, and what it belongs to."""

    place: str
    role: str  # handler or property


def user_of(frame: FrameType | None) -> User | None:
    """The user's line that led to `frame`; None if nothing of a user's is to blame."""
    found, role = "", "handler"
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith("<frozen importlib"):
            return None
        if file.startswith(PRESAGE) and not file.startswith(SHIPPED):
            if file == RUN and frame.f_code.co_name == "run":
                return User(found or frame_place(frame), role)
            if not found:
                return None
            if file.startswith(PROPERTIES):
                role = "property"
        elif not found:
            module = str(frame.f_globals.get("__name__")).partition(".")[0]
            if module in FOR_PEOPLE or module in HARNESS:
                return None
            if not is_standard(file) and not file.startswith("<frozen"):
                found = place(file, frame.f_lineno)
        frame = frame.f_back
    return User(found or UNKNOWN, role)
