"""`check` for programs: explore the runs of processes, confirm on live ones, report.

`tree` follows runs from the start, one per class of runs that differ in what anybody could notice
(`odpor`), or more of them with weaker reductions. `bfs` and `delay` remember states instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from presage._core import ProcessKernel
from presage._results import Outcome, RunFinding, StopReason
from presage.execution.budget import Deadline
from presage.execution.processes import follow
from presage.execution.sandbox import Sandbox
from presage.limits import Limits
from presage.process.collecting import seldom_collected
from presage.process.fence import Fence
from presage.process.histories import Histories
from presage.process.program import Passing, Program
from presage.process.view import ProgramView
from presage.process.world import Choice
from presage.records import record
from presage.search.coverage import annotate
from presage.search.coverage.lines import Lines
from presage.search.coverage.processes import processes_covered
from presage.search.coverage.vacuity import Vacuity
from presage.search.delay.asked import ProcessTasks
from presage.search.delay.run import Delayed, Delaying
from presage.search.delay.run import notes as delay_notes
from presage.search.early import Early
from presage.search.empty import empty_report
from presage.search.findings import saved
from presage.search.memory import peak_mib
from presage.search.progress import Tell, progress_callback
from presage.search.report import Report, with_notes
from presage.search.rounds import with_known
from presage.search.run_findings import confirmed_run, early_of_runs
from presage.search.settings import Settings

ALWAYS_JUDGED = ("no_exception", "no_deadlock")
SPUN = (
    "a process that tested in vain {} times in a row then waited until something had come;"
    " `--spins` lets it test more often, 0 without end"
)


class Judged(Histories):
    """Local states, and properties over what processes publish."""

    def __init__(self, program: Program, run: Callable[..., Any]) -> None:
        super().__init__(program, run)
        self.vacuity = Vacuity(program.properties)
        self.early = Early(None)

    def found(self, finding: RunFinding) -> None:
        """Called by the kernel: something is wrong, and the exploration goes on."""
        self.early.found(self, finding)

    def judge(self, published: tuple[tuple[int, int, int], ...]) -> list[int]:
        """Called by the kernel: the properties broken by published values."""
        names = [self.names.kept[at] for at in range(len(self.names.kept))]
        values: dict[str, dict[str, Any]] = {name: {} for name in names}
        for process, key, value in published:
            values[names[process]][self.fields.kept[key]] = self.payloads.fresh(value)
        view = ProgramView(values)
        judge, properties = self.vacuity.judge, enumerate(self.program.properties)
        return [at for at, prop in properties if not self._run(judge, at + 1, prop, view)]


def check_program(program: Program, settings: Settings) -> Report:
    """Explore the runs of `program` and report what held and what broke."""
    with Sandbox(settings.handler_seconds, settings.give_up) as sandbox, Fence():
        lines = annotate.watched(program) if settings.coverage is not None else None
        run = sandbox.run if lines is None else partial(lines.run, sandbox.run)
        histories = Judged(program, run)
        histories.early = early_of_runs(program, sandbox, settings)
        kernel = _kernel(program, histories, settings)
        with seldom_collected():
            progress = progress_callback(program, settings.progress)
            outcome, delayed = _explored(kernel, histories, settings, run, progress)
            histories.leave()
        report = _report(program, settings, outcome, histories, lines)
        if delayed is not None:
            notes = delay_notes(delayed, report.unique)
            report = with_notes(replace(report, delayed=delayed), notes)
        explored = outcome if settings.search == "tree" else None
        passing = Orders(program, settings, histories, explored).passing
        violations, notes = [], []
        for finding in outcome.run_findings:
            args = (program, settings, histories, finding, sandbox, partial(passing, sandbox))
            violation, more = confirmed_run(*args)
            violations.append(violation)
            notes += more
    broken = {violation.prop: "violated" for violation in violations}
    report = replace(
        with_notes(report, notes),
        properties=report.properties | broken,
        violations=tuple(violations),
        peak_mib=peak_mib(),
    )
    report = with_known(report, program, settings)
    return annotate.written(settings.coverage, saved(report, settings.traces, histories.early))


def _kernel(program: Program, histories: Judged, settings: Settings) -> ProcessKernel:
    program.spins = settings.spins
    return ProcessKernel(
        histories,
        histories.begin(),
        judge=bool(program.properties),
        unmatched=program.leftovers,
        spins=settings.spins,
    )


@record
class Orders:
    """What the exploration knows of runs that end well; one that stopped early goes on for it.

    A violation that some orders of events have and others do not is a race, and called so only
    on this evidence.
    """

    program: Program
    settings: Settings
    histories: Judged
    outcome: Outcome | None  # of the exploration of runs that found the violation

    def passing(self, sandbox: Sandbox, deadline: Deadline) -> Passing:
        """A run that ends well, or None, and then whether there is none."""
        known = self.outcome
        if known is None or (known.passed is None and not _is_whole(known)):
            self.outcome = known = self._explored(sandbox, deadline)
        if known.passed is None:
            return Passing(None, _is_whole(known))
        names = self.histories.names.kept
        steps = [Choice(names[process], choice) for process, choice in known.passed]
        execution = follow(self.program, steps, sandbox)
        execution.close()
        return Passing(execution.taken, True)

    def _explored(self, sandbox: Sandbox, deadline: Deadline) -> Outcome:
        """Begin anew: processes that were stopped somewhere belong to the thread that ran them."""
        self.histories = Judged(self.program, sandbox.run)
        kernel = _kernel(self.program, self.histories, self.settings)
        in_tree = self.settings.search == "tree"
        reduction = str(self.settings.reduction) if in_tree else "odpor"
        seconds = deadline.remaining()
        limits = Limits(depth=self.settings.depth, seconds=seconds, keep_going=True)
        outcome = kernel.explore(reduction, limits, until_pass=True)
        self.histories.leave()
        return outcome


def _is_whole(outcome: Outcome) -> bool:
    """Whether every run was explored, by which one that ends well would have been met."""
    return outcome.stopped_by is None and not outcome.cut and not outcome.spun


def _explored(
    kernel: ProcessKernel,
    histories: Judged,
    settings: Settings,
    run: Callable[..., Any],
    progress: Tell,
) -> tuple[Outcome, Delayed | None]:
    limits = settings.limits(settings.budget.remaining())
    if settings.search == "tree":
        return kernel.explore(settings.reduction, limits, progress), None
    if settings.search == "bfs":
        return kernel.search(limits, progress), None
    delaying = Delaying(ProcessTasks(histories), settings.delay, run)
    outcome = kernel.search(limits, progress, delaying.plan)
    return outcome, delaying.summary(outcome)


def _report(
    program: Program,
    settings: Settings,
    outcome: Outcome,
    histories: Judged,
    lines: Lines | None,
) -> Report:
    """What was explored; violations are still to be confirmed."""
    cut = StopReason.SPINS if outcome.spun else None
    stopped_by = outcome.stopped_by or (StopReason.DEPTH if outcome.cut else cut)
    names = [*ALWAYS_JUDGED, *(["no_leftovers"] if program.leftovers else [])]
    names += [prop.name for prop in program.properties]
    leaves_out = program.leaves_out()
    exhausted = stopped_by is None and not leaves_out
    coverage = processes_covered(histories, histories.vacuity, exhausted=exhausted)
    return replace(
        empty_report(program, settings),
        unique=outcome.unique,
        generated=outcome.generated,
        traces=outcome.traces,
        seconds=outcome.seconds,
        exhausted=exhausted,
        leaves_out=leaves_out,
        stopped_by=stopped_by,
        depth=outcome.depth + 1,
        executions=outcome.traces + outcome.blocked + outcome.walks,
        handler_runs=histories.runs,
        collision_probability=0.0 if settings.search == "tree" else outcome.unique**2 / 2.0**65,
        properties=dict.fromkeys(names, "held"),
        notes=(SPUN.format(settings.spins),) if outcome.spun else (),
        coverage=annotate.with_lines(coverage, program, lines),
    )
