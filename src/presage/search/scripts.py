"""`check` for mpi4py scripts: the same script with sends that wait, and with sends that do not.

MPI leaves open whether a standard send waits for its receive. A script that needs one or the other
is wrong on some machine, so both are explored, and what happens in only one of them says so.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from presage._results import StopReason
from presage.execution.budget import Budget
from presage.frontends.mpi.launch.program import BUFFERINGS, script
from presage.frontends.mpi.report.races import HAZARD
from presage.search.check import check
from presage.search.coverage import annotate
from presage.search.coverage.processes import merged
from presage.search.report import Report, Violation

BOTH = "both"
EXPLORED = (None, StopReason.SPINS)  # how a search ends that has seen all that can happen
NEEDS_BUFFERS = "the script is stuck if sends wait for their receives, as they may, and only then"


def check_script(
    path: str | Path, ranks: int, args: Sequence[str] = (), buffering: str = BOTH, **options: Any
) -> Report:
    """Check a script run by `ranks` processes; `options` are those of `check`."""
    reports = []
    budget = options.pop("budget", None) or Budget(options.get("seconds"))
    with budget.watching():
        for way in BUFFERINGS if buffering == BOTH else (buffering,):
            target = target_of(path, ranks, args, way)
            program = script(path, ranks, args, way)
            reports.append(check(program, **{**options, "target": target, "budget": budget}))
    report = _together(reports)
    annotate.write(options.get("coverage"), report)
    return report


def target_of(path: str | Path, ranks: int, args: Sequence[str], buffering: str) -> str:
    """How a trace names the script that it belongs to."""
    return shlex.join([str(path), "--mpi", str(ranks), "--buffering", buffering, *args])


def _together(reports: list[Report]) -> Report:
    """One report of several explorations of one script."""
    report, *others = reports
    for other in others:
        if not other.violations and other.stopped_by in EXPLORED:
            _mark_hazards(report)
        known = {_what(found) for found in report.violations}
        report.violations += [found for found in other.violations if _what(found) not in known]
        for name, status in other.properties.items():
            if status == "violated":
                report.properties[name] = status
        for count in ("unique", "generated", "executions", "traces", "handler_runs", "seconds"):
            setattr(report, count, getattr(report, count) + getattr(other, count))
        report.coverage = merged(report.coverage, other.coverage)
        report.depth = max(report.depth, other.depth)
        report.peak_mib = max(report.peak_mib, other.peak_mib)
        report.exhausted = report.exhausted and other.exhausted
        report.stopped_by = report.stopped_by or other.stopped_by
        report.notes += [note for note in other.notes if note not in report.notes]
    return report


def _what(found: Violation) -> tuple[str, str, str]:
    """What is wrong; who is stuck where differs with the buffering, and is the same to a reader."""
    return found.prop, found.kind, "" if found.kind == "deadlock" else found.message


def _mark_hazards(report: Report) -> None:
    for found in report.violations:
        if found.kind == "deadlock":
            found.kind = HAZARD
            found.message = f"{found.message}\n{NEEDS_BUFFERS}"
