"""`check`: the entry point. Build the kernel, search, confirm what was found on live code, report.

Nothing is reported on the word of tables alone: each finding is replayed from the start on a live
`World`, every fingerprint compared, and the property asked again there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from presage._core import FAULTS, Kernel
from presage._results import Outcome, Progress, StopReason
from presage.errors import BadSystem, HandlerStuck, explain
from presage.execution.budget import Budget
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.limits import KernelSystem, Limits, Storage
from presage.model.service.stream import LOST
from presage.model.world.system import System
from presage.process.program import Program
from presage.search.checkpoint import store as disk
from presage.search.coverage import annotate
from presage.search.coverage.services import covered
from presage.search.delay.run import Delaying, notes
from presage.search.delay.settings import Delay
from presage.search.findings import (
    Teller,
    add,
    early_of,
    missed,
    save,
    suspected,
    violation_of,
)
from presage.search.hunt import executions as hunting
from presage.search.hunt.settings import Hunt
from presage.search.kernel.bridge import Bridge
from presage.search.liveness import examine, share_of
from presage.search.memory import check_memory, peak_mib
from presage.search.processes import check_program
from presage.search.progress import ProgressLine, progress_callback
from presage.search.reductions import check_reduction, symmetric_nodes, tell_reduction
from presage.search.report import Report
from presage.search.settings import CHECKPOINT_SECONDS, TRACES, WALKS, Settings
from presage.search.threads import AUTO, Searched, as_found, settle
from presage.search.tree import explored, tree_summary
from presage.search.twin import here
from presage.search.twin.compare import Start, Twin
from presage.search.walks import kernel_weights, tell_calm
from presage.version import VERSION

PROPERTIES_MAX = 63  # broken properties of a step are bits of one word; one bit is `no_exception`
JUDGED = {"always": "always", "sometimes": "sometimes", "step": "step"}  # others: at rest
TIMED = (
    "timed: clocks move only when timers fire; what happens between two of them counts as happening"
    " at the earlier one"
)


def check(
    system: System | Program,
    *,
    search: str | None = None,
    threads: int | str = AUTO,
    seed: int = 0,
    walks: int | None = None,
    keep_going: bool = False,
    reduction: str | None = None,
    spins: int | None = None,
    symmetry: bool = False,
    calm: bool = False,
    liveness: str = "exact",
    hunt: Hunt | None = None,
    delay: Delay | None = None,
    seconds: float | None = None,
    memory_mib: int | None = None,
    handler_seconds: float = SECONDS_DEFAULT,
    depth: int | None = None,
    states: int | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    resume: bool = False,
    trust: bool = False,
    spill: str | Path | None = None,
    coverage: str | Path | None = None,
    traces: str | Path | None = TRACES,
    target: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    progress: ProgressLine | None = None,
    give_up: Callable[[HandlerStuck], None] | None = None,
    budget: Budget | None = None,
    second: Start | None = None,
) -> Report:
    """Search `system` and report what held and what broke.

    `seconds` bound all of it, or a `budget` that began earlier. `depth` counts the initial state.
    Left out, `search` is `bfs`, of a program `tree`, and `reduction` is `none`, in a tree `odpor`.
    """
    given = {name: value for name, value in locals().items() if name != "system"}
    _refuse_other(system)
    program = isinstance(system, Program)
    settings = Settings(**given).validated(program=program).with_defaults(program=program)
    annotate.check_path(settings.coverage)
    check_memory(settings.memory_mib)
    with settings.budget.watching():
        if isinstance(system, Program):
            return check_program(system, settings)
        check_reduction(system, settings)
        return _check_system(system, settings)


def _check_system(system: System, settings: Settings) -> Report:
    search = settings.search
    with Sandbox(settings.handler_seconds, settings.give_up) as sandbox:
        lines = annotate.watched(system) if settings.coverage is not None else None
        bridge = Bridge(system, sandbox, weighs=search in WALKS, lines=lines)
        begun = Report(target=settings.target, parameters=settings.named, seed=settings.seed)
        bridge.early = early_of(system, sandbox, begun, settings.traces)
        learned = disk.Learned(bridge.errors, bridge.vacuity, bridge.orders)
        storage = disk.prepare(system, settings, learned)
        kernel = build(system, bridge, symmetry=settings.symmetry)
        teller = partial(progress_callback, system, settings.progress)
        second = settings.second or here.starter(system, build)
        alone = settings.second is None  # nothing names the system to another process
        twin = Twin(second, bridge, sandbox, settings.budget, in_process=alone)
        delaying = Delaying(system, settings.delay, sandbox) if search == "delay" else None
        searched = _searched(kernel, system, settings, storage, teller(), delaying)
        twin.begin(kernel, settings.memory_mib)
        report = _report(system, settings, searched)
        if search == "tree":
            tree_summary(report, searched.counts)
        if delaying is not None:
            report.delayed = delaying.summary(searched.counts)
            report.notes += notes(report.delayed, report.unique)
        tell_calm(report, calm=settings.calm)
        sampled = searched.counts.sampled
        tell_reduction(report, system, settings, sampled=sampled)
        report.notes += disk.checkpoint_notes(settings, report.resumed_from)
        _conclude(kernel, bridge, sandbox, report, searched, settings, teller)
        report.compared = twin.result()
        report.orders = bridge.orders.found
        report.exhausted = report.exhausted and not report.orders
    save(report, settings.traces, bridge.early)
    annotate.write(settings.coverage, report)
    return report


def _searched(
    kernel: Kernel,
    system: System,
    settings: Settings,
    storage: Storage,
    progress: Callable[[Progress], None] | None,
    delaying: Delaying | None,
) -> Searched:
    budget, search = settings.budget, settings.search
    examined = search == "bfs" and settings.exact
    examined = examined and any(prop.kind == "eventually" for prop in system.properties)
    seconds = share_of(budget) if examined else budget.remaining()
    limits = settings.limits(seconds, kernel_weights(system, calm=settings.calm))
    if search == "tree":
        return as_found(explored(kernel, settings.reduction, limits, progress))
    if search == "hunt":
        return as_found(hunting.run(kernel, system, settings.hunt, limits, progress))

    if delaying is not None:
        return as_found(delaying.run(kernel, limits, progress, storage))

    def run(limits: Limits, storage: Storage) -> Outcome:
        return kernel.search(search, limits, progress, storage, settings.reduction == "sleep")

    def alone(limits: Limits) -> Outcome:
        return run(replace(limits, seconds=budget.remaining()), replace(storage, checkpoint=None))

    reached = {at for at, prop in enumerate(system.properties, 1) if prop.kind == "sometimes"}
    return settle(run(limits, storage), limits, reached, alone)


def _conclude(
    kernel: Kernel,
    bridge: Bridge,
    sandbox: Sandbox,
    report: Report,
    searched: Searched,
    settings: Settings,
    teller: Teller,
) -> None:
    """Confirm what was found, then look at what only the whole graph, or walks, can tell."""
    system, budget, exhausted = bridge.system, settings.budget, report.exhausted
    hunt = searched.counts.hunt
    hunting.tell(report, hunt)
    _judge(system, bridge, searched, report)
    for finding in searched.found:
        shrinks = report.search != "bfs"
        add(system, sandbox, report, finding, shrinks=shrinks, budget=budget)
    for found in examine(bridge, kernel, sandbox, report, settings):
        bridge.early.add(report, violation_of(system, report, found, found.prop))
    coverage = covered(bridge, kernel, report)
    report.coverage = annotate.with_lines(coverage, system, bridge.lines)
    suspects = [] if hunt is None else hunt.suspects
    for suspect in suspected(system, sandbox, report, suspects, settings.hunt, budget, teller):
        bridge.early.add(report, suspect)
    report.peak_mib = peak_mib()
    missed(system, report, exhausted=exhausted)


def build(system: System, bridge: Bridge, *, symmetry: bool = False) -> Kernel:
    """The kernel of `system`."""
    if len(system.properties) > PROPERTIES_MAX:
        raise BadSystem(
            explain(
                f"the system has {len(system.properties)} properties",
                "generated properties, one per node or value",
                f"at most {PROPERTIES_MAX}: combine them, and say in the verdict which one failed",
            )
        )
    known = KernelSystem(
        values=[automaton.initial() for automaton in system.automata],
        ghosts=[
            [at in automaton.ghosts for at in range(len(automaton.fields) + 1)]
            for automaton in system.automata
        ],
        observers=system.observed(),
        properties=["step", *(JUDGED.get(prop.kind, "rest") for prop in system.properties)],
        budgets=[-1 if budget == float("inf") else int(budget) for budget in system.faults.budgets],
        network=system.network,
        skip_noops=system.skip_noops,
        severed=[
            [way.severs(one, other) for one in system.names for other in system.names]
            for way in system.faults.partitions
        ],
        lost=None if system.streams is None else LOST,
        symmetric=symmetric_nodes(system) if symmetry else None,
        timed=system.clock is not None,
    )
    return Kernel(bridge, system.codec, known)


def _report(system: System, settings: Settings, searched: Searched) -> Report:
    counts, walked = searched.counts, settings.search in WALKS
    stopped_by = counts.stopped_by or (StopReason.DEPTH if counts.cut and not walked else None)
    faults = zip(FAULTS, counts.faults, system.faults.budgets, strict=True)
    return Report(
        presage=VERSION,
        target=settings.target,
        parameters=settings.named,
        search=settings.search,
        seed=settings.seed,
        exhausted=stopped_by is None and not walked,
        stopped_by=stopped_by,
        unique=counts.unique,
        generated=counts.generated,
        depth=counts.depth,
        executions=counts.walks,
        handler_runs=counts.handler_runs,
        property_runs=counts.property_runs,
        faults={name: times for name, times, budget in faults if budget},
        seconds=searched.seconds,
        collision_probability=counts.unique**2 / 2.0**65,
        nodes=len(system.nodes),
        system=system.name,
        resumed_from=counts.resumed_from,
        checkpoints=searched.checkpoints,
        notes=[*searched.notes, *([TIMED] if system.clock else [])],
    )


def _judge(system: System, bridge: Bridge, searched: Searched, report: Report) -> None:
    """What became of each property, violations aside."""
    found = {finding.at for finding in searched.found}
    for at, prop in enumerate(system.properties, 1):
        if at in bridge.errors:
            report.properties[prop.name] = "error"
            report.errors.append(bridge.errors[at])
        elif prop.kind == "sometimes":
            report.properties[prop.name] = "reached" if at in found else "unreached"
        else:
            report.properties[prop.name] = "violated" if at in found else "held"
    if 0 in found:
        report.properties["no_exception"] = "violated"


def _refuse_other(given: object) -> None:
    if not isinstance(given, System | Program):
        raise BadSystem(
            explain(
                f"`check` was given a `{type(given).__name__}`, not a `System` or `Program`",
                "the nodes, or the function that makes the system, in its place",
                "`check(System({...}))`, `check(system())`",
            )
        )
