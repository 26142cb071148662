"""Every exception a user of presage can meet.

Each one is a fact about the checked system or about how presage was called, never about presage
itself: what is not a `PresageError` is our own fault. A text states the fact, its usual cause and
the way out, in that order. `exit_status` is what the command line ends with.

Lowest layer: imports nothing from presage, so that the Rust module may raise from here too.
"""

from __future__ import annotations

EXIT_USAGE = 2  # called wrongly, or a system that cannot be checked
EXIT_NONDETERMINISM = 3  # the checked code is not a function of its state


def explain(fact: str, cause: str, remedy: str) -> str:
    """The three lines of every error text."""
    return f"{fact}\n  usual cause: {cause}\n  way out: {remedy}"


class PresageError(Exception):
    """Cause: presage cannot go on, because of what it was given.

    Remedy: the text says; catch this class to catch them all.
    """

    exit_status = EXIT_USAGE
