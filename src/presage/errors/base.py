"""Every exception a user of presage can meet.

Each one is a fact about the checked system or about how presage was called, never about presage
itself: what is not a `PresageError` is our own fault. A text states the fact, its usual cause and
the way out, in that order. `exit_status` is what the command line ends with.

Lowest layer: imports nothing from presage, so that the Rust module may raise from here too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

EXIT_USAGE = 2  # called wrongly, or a system that cannot be checked
EXIT_NONDETERMINISM = 3  # the checked code is not a function of its state


def explain(fact: str, cause: str, remedy: str) -> str:
    """The three lines of every error text."""
    return f"{fact}\n  usual cause: {cause}\n  way out: {remedy}"


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """A closing question naming the likeliest of `names`; empty if none is close."""
    from difflib import get_close_matches  # which a command that is right does not need

    close = get_close_matches(str(name), list(names), n=1, cutoff=0.5)
    return f"; did you mean `{close[0]}`?" if close else ""


class PresageError(Exception):
    """Cause: presage cannot go on, because of what it was given.

    Remedy: the text says; catch this class to catch them all.
    """

    exit_status = EXIT_USAGE

    def __init__(self, fact: object = "", cause: str = "", remedy: str = "") -> None:
        super().__init__(explain(str(fact), cause, remedy) if cause else fact)

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors of workers travel: as their text, not by what their class is made with."""
        return _again, (type(self), self.args, self.__dict__)


def _again(cls: type[PresageError], args: tuple[Any, ...], held: dict[str, Any]) -> PresageError:
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(held)
    return error
