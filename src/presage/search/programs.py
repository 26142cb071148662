"""`check` for programs: explore the runs of processes, confirm on live ones, report.

`tree` follows runs from the start, one per class of runs that differ in what anybody could notice
(`odpor`), or more of them with weaker reductions. `bfs` remembers states instead.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from presage._core import ProcessKernel
from presage.errors import BadSystem, HandlerStuck, Nondeterminism, explain
from presage.process.fence import Fence
from presage.process.histories import Histories
from presage.process.program import Program
from presage.process.view import ProgramView
from presage.process.world import Choice
from presage.search.findings import save
from presage.search.report import Report, Violation
from presage.search.retell import Broken, Told, broken, follow
from presage.search.watch import Watch
from presage.trace.trace import Trace, plain_parameters
from presage.version import VERSION

SEARCHES = ("tree", "bfs")
REDUCTIONS = ("none", "dpor", "sdpor", "odpor")
DEPTH_DEFAULT = 1_000
SPINS_DEFAULT = 2
ALWAYS_JUDGED = ("no_exception", "no_deadlock")


class Judged(Histories):
    """Local states, and properties over what processes publish."""

    def judge(self, published: tuple[tuple[int, int, int], ...]) -> int:
        """Called by the kernel: the properties broken by published values, as bits."""
        names = [self.names.kept[at] for at in range(len(self.names.kept))]
        values: dict[str, dict[str, Any]] = {name: {} for name in names}
        for process, field, value in published:
            values[names[process]][self.fields.kept[field]] = self.payloads.fresh(value)
        view = ProgramView(values)
        bits = 0
        for at, prop in enumerate(self.program.properties):
            if not self._run(prop.judge, view):
                bits |= 1 << at
        return bits
