"""`check` for mpi4py scripts: the same script with sends that wait, and with sends that do not.

MPI leaves open whether a standard send waits for its receive. A script that needs one or the other
is wrong on some machine. So the script is explored with sends that all wait, and then with sends
that each may; what happens only where some wait says so.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

from presage._results import StopReason
from presage.execution.budget import Budget
from presage.frontends.mpi.core.command_line import FUTURES, command_of
from presage.frontends.mpi.core.delivery import ANY as EITHER
from presage.frontends.mpi.core.delivery import PREEMPTIONS_DEFAULT, ZERO, Delivery
from presage.frontends.mpi.launch.program import depends_on_buffering, script
from presage.frontends.mpi.report.races import HAZARD, NEEDS_ROOM
from presage.process.program import Program
from presage.search.check import check
from presage.search.coverage import annotate
from presage.search.coverage.processes import merged
from presage.search.delay.run import Delayed
from presage.search.report import Report, Violation, with_notes

BOTH = "both"
SHARED = "--futures"  # in targets: the first rank has the others as its workers
WAYS = (ZERO, EITHER)  # that `both` are
SUMMED = ("unique", "generated", "executions", "traces", "handler_runs", "seconds")
EXPLORED = (None, StopReason.SPINS)  # how a search ends that has seen all that can happen
NEEDS_BUFFERS = "the script is stuck if sends wait for their receives, as they may, and only then"


def check_script(
    path: str | Path,
    ranks: int,
    args: Sequence[str] = (),
    buffering: str = BOTH,
    *,
    eager_limit: int | None = None,
    ordered: bool = False,
    preemptions: int | None = None,
    **options: Any,
) -> Report:
    """Check a script run by `ranks` processes; `options` are those of `check`.

    `eager_limit`: standard sends of more bytes always wait. `ordered`: who sends first is received
    first, which MPI does not promise. `preemptions`: how often, in each rank, a thread may be
    stopped where it need not wait.
    """
    stops = PREEMPTIONS_DEFAULT if preemptions is None else preemptions
    reports = []
    budget = options.pop("budget", None) or Budget(options.get("seconds"))
    with budget.watching():
        for kind in WAYS if buffering == BOTH else (buffering,):
            way = str(Delivery(kind, eager_limit, ordered, stops))
            target = target_of(path, ranks, args, way)
            program = script(path, ranks, args, way)
            reports.append(check(program, **{**options, "target": target, "budget": budget}))
            if not depends_on_buffering(program) and reports[-1].stopped_by in EXPLORED:
                break  # the other one is the same program
    whole = [_with_hazards(report) if report is reports[-1] else report for report in reports]
    return annotate.written(options.get("coverage"), reduce(_together, whole))


def target_of(path: str | Path, ranks: int, args: Sequence[str], buffering: str) -> str:
    """How a trace names the script that it belongs to."""
    file, words, is_shared = command_of(path, args)
    how = ["--mpi", str(ranks), *([SHARED] if is_shared else []), "--buffering", buffering]
    return shlex.join([str(file), *how, *words])


def program_of(target: str) -> Program:
    """The program of a script that a trace names so; raises `ValueError` if it names none."""
    path, flag, ranks, *words = shlex.split(target)
    runner = [path]
    if words[:1] == [SHARED]:
        runner, words = ["python", "-m", FUTURES, path], words[1:]
    other, buffering, *args = words
    if (flag, other) != ("--mpi", "--buffering") or not ranks.isdecimal():
        raise ValueError(target)
    return script(runner[0], int(ranks), [*runner[1:], *args], buffering)


def _together(report: Report, other: Report) -> Report:
    """One report of two explorations of one script."""
    violations = report.violations
    rest = tuple(found for found in other.violations if not _needs_room(found))
    if len(rest) == len(other.violations) or not any(map(_is_stuck, violations)):
        rest = other.violations  # stuck only where some sends wait, and others do not
    if _ends_well(other):
        violations = tuple(_hazard(found) for found in violations)
    known = {_what(found) for found in violations}
    more = (found for found in rest if _what(found) not in known)
    broken = {name: status for name, status in other.properties.items() if status == "violated"}
    sums = {name: getattr(report, name) + getattr(other, name) for name in SUMMED}
    whole = replace(
        report,
        **sums,
        violations=(*violations, *more),
        properties=report.properties | broken,
        known=tuple(dict.fromkeys([*report.known, *other.known])),
        coverage=merged(report.coverage, other.coverage),
        depth=max(report.depth, other.depth),
        peak_mib=max(report.peak_mib, other.peak_mib),
        delayed=_fewer_delays(report, other),
        exhausted=report.exhausted and other.exhausted,
        leaves_out=tuple(dict.fromkeys([*report.leaves_out, *other.leaves_out])),
        stopped_by=report.stopped_by or other.stopped_by,
    )
    return with_notes(whole, other.notes)


def _fewer_delays(report: Report, other: Report) -> Delayed | None:
    """Of two searches by delays, the one that explored least."""
    known = [(each.exhausted, each.delayed) for each in (report, other) if each.delayed is not None]
    fewest = min(known, key=lambda each: (each[0], len(each[1].bounds)), default=None)
    return None if fewest is None else fewest[1]


def _with_hazards(report: Report) -> Report:
    """Of sends that may wait: those that are stuck, and only if they do."""
    if not _ends_well(report):
        return report
    violations = (_hazard(each) if _needs_room(each) else each for each in report.violations)
    return replace(report, violations=tuple(violations))


def _ends_well(report: Report) -> bool:
    """Whether nothing is wrong as long as no send waits."""
    return report.stopped_by in EXPLORED and all(map(_needs_room, report.violations))


def _needs_room(found: Violation) -> bool:
    return NEEDS_ROOM in found.message


def _is_stuck(found: Violation) -> bool:
    return found.prop == "no_deadlock"


def _what(found: Violation) -> tuple[str, str, str]:
    """What is wrong; who is stuck where differs with the buffering, and is the same to a reader."""
    stuck = found.kind in ("deadlock", HAZARD)
    return found.prop, found.kind, "" if stuck else found.message


def _hazard(found: Violation) -> Violation:
    """A violation of an exploration whose other buffering has none."""
    if found.kind != "deadlock":
        return found
    return replace(found, kind=HAZARD, message=f"{found.message}\n{NEEDS_BUFFERS}")
