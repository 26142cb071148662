"""Traces saved as soon as a violation is found: the next handler may end the process.

They are not shrunk yet and have no coverage. When the search is over, the whole traces take their
place; what ended before that has left these, and the parent of the command tells where.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from presage import lifeline
from presage.errors import BadTrace
from presage.search.report import Report, Violation
from presage.trace import codec


class Early:
    """The traces of one search that are saved before it is over; without a folder none are."""

    def __init__(
        self, folder: str | Path | None, confirm: Callable[..., Violation | None] | None = None
    ) -> None:
        self._folder = folder
        self._confirm = confirm
        self._written: set[Path] = set()  # by this search: files that were there stay there

    def found(self, *finding: Any) -> None:
        """Keep what the kernel has just found, if live code agrees."""
        if self._folder is None or self._confirm is None:
            return
        violation = self._confirm(*finding)
        if violation is not None:
            self.keep(violation)

    def keep(self, violation: Violation) -> None:
        """Save the trace of a violation now, and tell where it is."""
        if self._folder is None or violation.trace is None:
            return
        path = Path(self._folder) / codec.file_name(violation.trace)
        try:
            is_new = not path.exists()
            codec.write(violation.trace, path)
        except (BadTrace, OSError, ValueError):
            return  # said when all is saved
        if is_new:
            self._written.add(path)
        fact = violation.fact.removeprefix(violation.prop)
        lifeline.found(violation.prop, f"{fact.lstrip()}; its trace: `{path}`")

    def settle(self, report: Report) -> None:
        """Remove the traces that others have taken the place of."""
        final = {Path(found.trace_path) for found in report.violations if found.trace_path}
        for path in self._written - final:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
