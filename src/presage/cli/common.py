"""What the commands share: exit statuses, colours, and the end of a process that is stuck."""

from __future__ import annotations

import argparse
import gc
import os
from typing import TYPE_CHECKING, TextIO

from presage import lifeline
from presage.errors import PresageError
from presage.ui.output import complain

if TYPE_CHECKING:
    from presage.ui.progress import Progress
    from presage.ui.theme import Theme

EXIT_HELD = 0
EXIT_VIOLATION = 1
EXIT_USAGE = 2
EXIT_NONDETERMINISM = 3
EXIT_OURS = 4
STATUSES = range(5)
EXIT_INTERRUPTED = 130  # by Ctrl-C before there was anything to report; the shells' convention


def collect_garbage() -> None:
    """Let garbage be collected, if that was put off; never look at what is loaded by now."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def give_up(error: PresageError, progress: Progress | None = None) -> None:
    """End the process at once: a handler waits in native code, where nothing can stop it."""
    if progress is not None:
        progress.done()
    complain(with_findings(error))
    lifeline.end(error.exit_status)


def with_findings(error: PresageError) -> str:
    """The text of an error, and what was found before it."""
    found = [f"  found before: `{prop}` {what}" for prop, what in lifeline.findings.items()]
    return "\n".join([str(error), *found])


def theme_of(args: argparse.Namespace, stream: TextIO, *, whole: bool = False) -> Theme:
    """How to write to `stream`; `whole`: on the whole width of the terminal."""
    from presage.ui.theme import WIDTH_MAX, WIDTH_WHOLE, Theme

    width_max = WIDTH_WHOLE if whole else WIDTH_MAX
    return Theme.of(stream, ascii=args.ascii, colour=not args.no_color, width_max=width_max)


def is_on_github() -> bool:
    """Whether this is a step of a workflow of GitHub's, where lines of code can be annotated."""
    return os.environ.get("GITHUB_ACTIONS") == "true"
