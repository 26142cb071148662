"""presage in a notebook: the page of a violation inside of it, and how far a search is.

Neither needs a notebook: a page can be saved, and elsewhere progress goes to standard error.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path
from typing import Any

from presage.errors import BadTrace
from presage.execution.frames import frames
from presage.model.world.system import System
from presage.process.program import Program
from presage.records import record
from presage.search.report import Report, Violation
from presage.trace.trace import Trace
from presage.ui.page.data import page_data
from presage.ui.page.page import render
from presage.ui.progress import Progress
from presage.ui.theme import Theme

HEIGHT = 640


@record(frozen=True, repr=False)
class Page:
    """A page that shows a trace; a notebook shows it in a frame of its own."""

    html: str
    title: str

    def save(self, path: str | Path) -> Path:
        """Write it, to be opened in any browser."""
        path = Path(path)
        path.write_text(self.html, encoding="utf-8", newline="\n")
        return path

    def __repr__(self) -> str:
        return f"<Page {self.title}: {len(self.html):,} characters; `save` writes it>"

    def _repr_html_(self) -> str:
        looks = f'style="width:100%;height:{HEIGHT}px;border:0" sandbox="allow-scripts"'
        title, inside = escape(self.title), escape(self.html)
        return f'<iframe title="{title}" {looks} srcdoc="{inside}"></iframe>'


def page(system: System | Program, found: Report | Violation | Trace) -> Page:
    """The page of a trace of `system`: a violation's, or that of the first one of a report."""
    trace = _trace(found)
    return Page(render(page_data((trace, frames(system, trace)))), trace.prop)


def _trace(found: Report | Violation | Trace) -> Trace:
    if isinstance(found, Report):
        traced = [violation.trace for violation in found.violations if violation.trace]
        found = traced[0] if traced else found
    elif isinstance(found, Violation):
        found = found.trace or found
    if isinstance(found, Trace):
        return found
    raise BadTrace(
        "there is no trace to show",
        "nothing was violated, or a property was never reached, which has no trace",
        "`page(system, report)` of a report with a violation",
    )


class NotebookProgress(Progress):
    """Redraws its lines in the output of a cell."""

    def _draw(self, text: str) -> None:
        from IPython.display import HTML, display  # type: ignore[import-not-found,unused-ignore]

        shown: Any = HTML(f"<pre>{escape(text)}</pre>")
        if self._display is None:
            self._display = display(shown, display_id=True)
        else:
            self._display.update(shown)

    def done(self) -> None:
        """The last lines stay where they are."""


def progress(title: str = "") -> Progress:
    """What `check(progress=...)` tells how far it is: in a notebook its cell, else a terminal."""
    in_notebook = "ipykernel" in sys.modules
    kind = NotebookProgress if in_notebook else Progress
    theme = Theme() if in_notebook else Theme.of(sys.stderr)
    live = in_notebook or sys.stderr.isatty()
    return kind(stream=sys.stderr, theme=theme, title=title, subtitle="", live=live)
