"""`check` for programs: explore the runs of processes, confirm on live ones, report.

`tree` follows runs from the start, one per class of runs that differ in what anybody could notice
(`odpor`), or more of them with weaker reductions. `bfs` remembers states instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from presage._core import ProcessKernel
from presage._results import Outcome, Progress, RunFinding, StopReason
from presage.errors import BadSystem, HandlerStuck, explain
from presage.execution.budget import Budget, Deadline
from presage.execution.processes import follow
from presage.execution.sandbox import Sandbox
from presage.limits import Limits
from presage.process.collecting import seldom_collected
from presage.process.fence import Fence
from presage.process.histories import Histories
from presage.process.program import Passing, Program
from presage.process.view import ProgramView
from presage.process.world import Choice
from presage.search.coverage import annotate
from presage.search.coverage.processes import processes_covered
from presage.search.coverage.vacuity import Vacuity
from presage.search.early import Early
from presage.search.findings import save
from presage.search.memory import peak_mib
from presage.search.progress import progress_callback
from presage.search.report import Report
from presage.search.run_findings import add_run, early_of_runs
from presage.search.tree import DEPTH_DEFAULT
from presage.shrink.services import SECONDS_MAX
from presage.version import VERSION

SEARCHES = ("tree", "bfs")
REDUCTIONS = ("none", "dpor", "sdpor", "odpor")
SPINS_DEFAULT = 2
ALWAYS_JUDGED = ("no_exception", "no_deadlock")


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


@dataclass(frozen=True)
class Settings:
    """How the runs of a program are explored; None: as is best for most."""

    search: str | None = None
    reduction: str | None = None
    depth: int | None = None
    states: int | None = None  # `bfs` only
    runs: int | None = None  # `tree` only
    budget: Budget = field(default_factory=Budget)
    keep_going: bool = False
    spins: int | None = None  # tests in a row that may fail before the next one waits

    def settled(self) -> Settings:
        """With everything said; refuses what does not go together."""
        stateful = self.search == "bfs"
        search = self.search or "tree"
        reduction = self.reduction or ("none" if stateful else "odpor")
        _one_of("search", search, SEARCHES)
        _one_of("reduction", reduction, REDUCTIONS)
        if stateful and reduction != "none":
            raise BadSystem(
                explain(
                    f"`bfs` of a program together with the reduction `{reduction}`",
                    "a search that remembers states would hide what comes after them",
                    "leave out either: `--search tree` for reductions, `--search bfs` for states",
                )
            )
        unused = ("runs", self.runs) if stateful else ("states", self.states)
        if unused[1] is not None:
            raise BadSystem(
                explain(
                    f"a limit of `{unused[0]}` for the search `{search}`",
                    "`states` limits a search of states, `walks` one of runs",
                    "leave it out, or limit the other",
                )
            )
        depth = self.depth or (None if stateful else DEPTH_DEFAULT)
        spins = SPINS_DEFAULT if self.spins is None else self.spins
        return replace(self, search=search, reduction=reduction, depth=depth, spins=spins)


def _one_of(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        names = ", ".join(f"`{name}`" for name in known)
        fact = f"there is no {what} `{given}` for programs"
        raise BadSystem(explain(fact, "one that is for systems only, or misspelt", f"use {names}"))


def refuse_options(**given: Any) -> None:
    """Refuse options that mean nothing to a program."""
    for name, value in given.items():
        if value:
            raise BadSystem(
                explain(
                    f"`{name}` was given for a program",
                    "an option that is for systems of services only",
                    f"leave out `{name}`",
                )
            )


@dataclass(frozen=True)
class ReportOptions:
    """How long user code may take, and where to tell what came of a search."""

    handler_seconds: float
    traces: str | Path | None = None
    target: str | None = None
    parameters: Mapping[str, Any] | None = None
    progress: Any = None  # a `ProgressLine`
    give_up: Callable[[HandlerStuck], None] | None = None
    coverage: str | Path | None = None  # a file for the lines that ran
    second: Any = None  # starts a process that has loaded the same system: a `twin.compare.Start`

    def __post_init__(self) -> None:
        annotate.check_path(self.coverage)

    @property
    def named(self) -> dict[str, Any]:
        """The parameters by name."""
        return dict(self.parameters or {})


def check_program(program: Program, exploring: Settings, telling: ReportOptions) -> Report:
    """Explore the runs of `program` and report what held and what broke."""
    exploring = exploring.settled()
    stateful = exploring.search == "bfs"  # whose runs are the shortest there are
    budget = exploring.budget
    with budget.watching(), Sandbox(telling.handler_seconds, telling.give_up) as sandbox, Fence():
        lines = annotate.watched(program) if telling.coverage is not None else None
        run = sandbox.run if lines is None else partial(lines.run, sandbox.run)
        histories = Judged(program, run)
        begun = Report(target=telling.target, parameters=telling.named)
        histories.early = early_of_runs(program, sandbox, begun, telling.traces)
        kernel = _kernel(program, histories, exploring)
        with seldom_collected():
            outcome = _explored(kernel, exploring, progress_callback(program, telling.progress))
        report = _report(program, exploring, outcome)
        report.target, report.parameters = telling.target, telling.named
        report.handler_runs = histories.runs
        coverage = processes_covered(histories, histories.vacuity, report)
        report.coverage = annotate.with_lines(coverage, program, lines)
        orders = Orders(program, exploring, histories, None if stateful else outcome)
        for finding in outcome.run_findings:
            deadline = budget.deadline(SECONDS_MAX)
            passing = partial(orders.passing, sandbox, deadline)
            how = (passing, deadline, not stateful)
            add_run(program, report, histories, finding, sandbox, how)
    report.peak_mib = peak_mib()
    save(report, telling.traces, histories.early)
    annotate.write(telling.coverage, report)
    return report


def _kernel(program: Program, histories: Judged, exploring: Settings) -> ProcessKernel:
    return ProcessKernel(
        histories,
        histories.begin(),
        judge=bool(program.properties),
        unmatched=program.leftovers,
        spins=exploring.spins or 0,
    )


@dataclass
class Orders:
    """What the exploration knows of runs that end well; one that stopped early goes on for it.

    A violation that some orders of events have and others do not is a race, and called so only
    on this evidence.
    """

    program: Program
    exploring: Settings
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
        return Passing(follow(self.program, steps, sandbox).taken, True)

    def _explored(self, sandbox: Sandbox, deadline: Deadline) -> Outcome:
        """Begin anew: processes that were stopped somewhere belong to the thread that ran them."""
        self.histories = Judged(self.program, sandbox.run)
        kernel = _kernel(self.program, self.histories, self.exploring)
        reduction = "odpor" if self.exploring.search == "bfs" else str(self.exploring.reduction)
        seconds = deadline.remaining()
        limits = Limits(depth=self.exploring.depth, seconds=seconds, keep_going=True)
        return kernel.explore(reduction, limits, until_pass=True)


def _is_whole(outcome: Outcome) -> bool:
    """Whether every run was explored, by which one that ends well would have been met."""
    return outcome.stopped_by is None and not outcome.cut and not outcome.spun


def _explored(
    kernel: ProcessKernel, exploring: Settings, progress: Callable[[Progress], None] | None
) -> Outcome:
    limits = Limits(
        depth=exploring.depth,
        states=exploring.states,
        seconds=exploring.budget.remaining(),
        keep_going=exploring.keep_going,
        walks=exploring.runs,
    )
    if exploring.search == "bfs":
        return kernel.search(limits, progress)
    return kernel.explore(str(exploring.reduction), limits, progress)


def _report(program: Program, exploring: Settings, outcome: Outcome) -> Report:
    cut = StopReason.SPINS if outcome.spun else None
    stopped_by = outcome.stopped_by or (StopReason.DEPTH if outcome.cut else cut)
    names = [*ALWAYS_JUDGED, *(["no_leftovers"] if program.leftovers else [])]
    names += [prop.name for prop in program.properties]
    report = Report(
        presage=VERSION,
        search=str(exploring.search),
        reduction=str(exploring.reduction),
        exhausted=stopped_by is None,
        stopped_by=stopped_by,
        unique=outcome.unique,
        generated=outcome.generated,
        depth=outcome.depth + 1,
        executions=outcome.traces + outcome.blocked,
        traces=outcome.traces,
        seconds=outcome.seconds,
        properties=dict.fromkeys(names, "held"),
        nodes=len(program.processes),
        system=program.name,
    )
    if exploring.search == "bfs":
        report.collision_probability = report.unique**2 / 2.0**65
    if outcome.spun:
        report.notes.append(
            f"a process that tested in vain {exploring.spins} times in a row then waited until"
            " something had come; `--spins` lets it test more often, 0 without end"
        )
    return report
