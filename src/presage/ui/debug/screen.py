"""What a command of the debugger works with: the session, and the lines that it writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

from presage.debug.query import Filter
from presage.debug.session import Session
from presage.trace.trace import Trace
from presage.ui.debug.pages import Pager
from presage.ui.steps import Table
from presage.ui.story import violation_of
from presage.ui.theme import Span, Theme


class Screen:
    """One session, how it is shown, and where output goes."""

    stdin: IO[str]
    stdout: IO[str]

    def __init__(
        self,
        session: Session,
        theme: Theme,
        *,
        path: Path | None = None,
        pager: Pager | None = None,
        report: Callable[[], str] | None = None,
    ) -> None:
        self.session: Session = session
        self.theme = theme
        self.path = path  # of the trace; notes are kept there
        self.live: Trace | None = None  # the nearest live path, once it is known
        self.pager = pager
        self.report = report  # writes the page of the trace, and tells where
        self.filter = Filter()
        self.highlight: re.Pattern[str] | None = None
        self.strip = True  # show what the properties say after every move
        self.repeat = "next"  # what a bare Enter does
        self.violation = violation_of(session.trace)

    def say(self, lines: Iterable[str]) -> None:
        """Write `lines`, with what was looked for made visible."""
        shown = [self._highlighted(line) for line in lines]
        if self.pager is not None:
            shown = self.pager.turn(shown, self.stdout, self.stdin)
        for line in shown:
            self.stdout.write(line + "\n")
        self.stdout.flush()

    def _highlighted(self, line: str) -> str:
        if self.highlight is None or not self.highlight.search(line):
            return line
        plain = re.sub(r"\x1b\[[0-9;]*m", "", line)
        left, right = ("\x1b[7m", "\x1b[27m") if self.theme.colour else (">>", "<<")
        return self.highlight.sub(lambda found: f"{left}{found[0]}{right}", plain)

    def table(self) -> Table:
        """The columns that all steps of this branch share."""
        return Table.of(self.session.here.steps, self.theme)

    def dim(self, text: str) -> str:
        return self.theme.line(Span(text, "dim"))
