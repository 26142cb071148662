"""`check`: the entry point. Build the kernel, search, confirm what was found on live code, report.

Nothing is reported on the word of tables alone: each finding is replayed from the start on a live
`World`, every fingerprint compared, and the property asked again there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from presage._core import FAULTS, Kernel
from presage._results import Outcome, StopReason
from presage.errors import BadSystem, HandlerStuck
from presage.execution.budget import Budget
from presage.execution.causes import Known
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.limits import KernelSeal, KernelSystem, Limits, Storage
from presage.model.service.down import Down
from presage.model.service.stream import LOST
from presage.model.world.system import System
from presage.process.program import Program
from presage.records import NamedTuple
from presage.search.assumptions import assumed
from presage.search.checkpoint import learned as disk
from presage.search.coverage import annotate
from presage.search.coverage.services import covered
from presage.search.delay.cycles import cycled, prepared
from presage.search.delay.settings import Delay
from presage.search.empty import empty_report
from presage.search.findings import (
    Teller,
    confirmed_findings,
    early_of,
    missed,
    refuse_sealed,
    saved,
    with_suspects,
)
from presage.search.hunt.settings import Hunt
from presage.search.kernel.bridge import Bridge
from presage.search.kernel.histories import kernel_histories
from presage.search.kernel.outside import Outside
from presage.search.liveness import GRAPHS, examine, share_of
from presage.search.memory import check_memory, peak_mib
from presage.search.part import WHOLE, Part
from presage.search.progress import ProgressLine, Tell, progress_callback
from presage.search.reductions import check_reduction, reduction_notes, symmetric_nodes
from presage.search.report import Hunted, Report, with_notes, with_reservation
from presage.search.rounds import rounds, with_known
from presage.search.seldom import delaying_of, hunted_of, roles_of, with_skipped
from presage.search.settings import (
    AUDIT_DEFAULT,
    CHECKPOINT_SECONDS,
    TRACES,
    WALKS,
    Settings,
)
from presage.search.threads import AUTO, Searched, as_found, settle
from presage.search.twin.compare import Start, Twin
from presage.search.walks import CALM, kernel_weights

if TYPE_CHECKING:
    from presage.search.alike.roles import Roles
    from presage.search.delay.run import Delaying

PROPERTIES_MAX = 63  # broken properties of a step are bits of one word; one bit is `no_exception`
JUDGED = {kind: kind for kind in ("always", "sometimes", "step", "seal")}  # others: at rest
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
    causes: int = 1,
    reduction: str | None = None,
    reversals: str = "stack",
    spins: int | None = None,
    symmetry: bool = False,
    skip: str | None = None,
    audit: int = AUDIT_DEFAULT,
    calm: bool = False,
    algorithm: str = "scc",
    fairness: str | None = None,
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
    known: Known | None = None,
    target: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    progress: ProgressLine | None = None,
    give_up: Callable[[HandlerStuck], None] | None = None,
    budget: Budget | None = None,
    part: Part = WHOLE,
    second: Start | None = None,
) -> Report:
    """Search `system` and report what held and what broke.

    `seconds` bound all of it, or a `budget` that began earlier. `depth` counts the initial state.
    Left out, `search` is `bfs`, of a program `tree`, and `reduction` is `none`, in a tree `odpor`.
    """
    given = {name: value for name, value in locals().items() if name != "system"}
    return check_with(system, Settings(**given))


def check_with(system: System | Program, settings: Settings) -> Report:
    """`check` with settings that are one object; those of a part of a search are."""
    return _checked(system, _settings(settings, program=_is_program(system)))


def _checked(system: System | Program, settings: Settings) -> Report:
    with settings.budget.watching():
        if isinstance(system, Program):
            from presage.search.processes import check_program

            return rounds(check_program, system, settings)
        return rounds(_check_system, prepared(system, settings), settings)


def _settings(given: Settings, *, program: bool) -> Settings:
    """What was given, whole; refuses what makes no sense, or is not there."""
    settings = given.validated(program=program).with_defaults(program=program)
    annotate.check_path(settings.coverage)
    check_memory(settings.memory_mib)
    return settings


def _check_system(system: System, settings: Settings) -> Report:
    check_reduction(system, settings)
    with Sandbox(settings.handler_seconds, settings.give_up) as sandbox:
        lines = annotate.watched(system) if settings.coverage is not None else None
        bridge = Bridge(system, sandbox, weighs=settings.search in WALKS, lines=lines)
        bridge.early = early_of(system, sandbox, settings)
        learned = disk.Learned(bridge.errors, bridge.vacuity, bridge.orders, system)
        storage = disk.prepare(system, settings, learned)
        kernel = build(system, bridge, symmetry=settings.symmetry)
        teller = partial(progress_callback, system, settings.progress)
        alone = settings.second is None  # nothing names the system to another process
        second = settings.second or _here(system)
        twin = Twin(second, bridge, sandbox, settings.budget, in_process=alone)
        asked = Asked(
            teller(),
            delaying_of(system, sandbox, settings),
            roles_of(system, sandbox, settings),
            learned,
        )
        outside = Outside(system)
        searched = _searched(kernel, system, settings, storage, asked)
        refuse_sealed(system, sandbox, searched.found)
        twin.begin(kernel, settings.memory_mib)
        report = _concluded(kernel, bridge, sandbox, searched, settings, teller)
        compared = twin.result()
        for found in outside.changed():
            bridge.orders.add(found)
        orders = tuple(bridge.orders.found)
        compared = compared if settings.part.elsewhere is None else None
        exhausted = report.exhausted and not orders
        report = replace(report, compared=compared, orders=orders, exhausted=exhausted)
        report = with_notes(report, [*bridge.rules.notes(), *system.reservations()])
        report = with_known(with_reservation(report), system, settings)
    return annotate.written(settings.coverage, saved(report, settings.traces, bridge.early))


def _here(system: System) -> Start:
    from presage.search.twin import here

    return here.starter(system, build)


class Asked(NamedTuple):
    """Who else takes part in a search: hears how far it is, orders tasks, compares faults."""

    progress: Tell
    delaying: Delaying | None
    roles: Roles | None
    learned: disk.Learned  # what is learned beside the states


def _searched(
    kernel: Kernel, system: System, settings: Settings, storage: Storage, asked: Asked
) -> Searched:
    progress, delaying, roles, _ = asked
    budget, search = settings.budget, settings.search
    examined = search in GRAPHS and settings.exact
    examined = examined and any(prop.kind == "eventually" for prop in system.properties)
    seconds = share_of(budget, search) if examined else budget.remaining()
    limits = settings.limits(seconds, kernel_weights(system, calm=settings.calm))
    if settings.part.elsewhere is not None:
        return as_found(settings.part.elsewhere(kernel, limits, asked.learned))
    if search == "tree":
        from presage.search.tree import explored

        return as_found(explored(kernel, settings, limits, progress))
    if search == "hunt":
        return as_found(_hunted(kernel, system, settings, limits, progress))

    exact = settings.symmetry and delaying is not None
    skip = None if roles is None else roles.plan(audit=settings.audit, exact=exact)
    if delaying is not None:
        outcome = delaying.run(kernel, limits, progress, storage, skip)
        found = cycled(settings.algorithm, outcome.cycles, outcome.seconds)
        searched = structs.replace(
            as_found(outcome), delayed=delaying.summary(outcome), cycled=found
        )
        return with_skipped(searched, roles, exact=exact)

    def run(limits: Limits, storage: Storage) -> Outcome:
        sleep = settings.reduction == "sleep"
        return kernel.search(search, limits, progress, storage, sleep, skip)

    def alone(limits: Limits) -> Outcome:
        limits = structs.replace(limits, seconds=budget.remaining())
        return run(limits, structs.replace(storage, checkpoint=None))

    reached = {at for at, prop in enumerate(system.properties, 1) if prop.kind == "sometimes"}
    searched = settle(run(limits, storage), limits, reached, alone)
    return with_skipped(searched, roles, exact=False)


def _hunted(
    kernel: Kernel, system: System, settings: Settings, limits: Limits, progress: Tell
) -> Outcome:
    from presage.search.hunt import executions

    return executions.run(kernel, system, settings.hunt, limits, progress, settings.part)


def _concluded(
    kernel: Kernel,
    bridge: Bridge,
    sandbox: Sandbox,
    searched: Searched,
    settings: Settings,
    teller: Teller,
) -> Report:
    """Confirm what was found, then look at what only the whole graph, or walks, can tell."""
    system, hunt = bridge.system, searched.counts.hunt
    searched_report = _report(bridge, sandbox, searched, settings)
    met = searched.counts.cycles
    report = examine(bridge, kernel, sandbox, searched_report, settings, met and met.graph)
    if settings.part.elsewhere is None:  # who searched elsewhere knows what ran there
        coverage = annotate.with_lines(covered(bridge, kernel, report), system, bridge.lines)
        report = replace(report, coverage=coverage)
    if hunt is not None:
        args = (hunt.suspects, settings, teller, bridge.early)
        report = with_suspects(system, sandbox, report, *args)
    unreached = missed(system, report) if searched_report.exhausted else []
    return replace(report, peak_mib=peak_mib(), violations=(*report.violations, *unreached))


def build(system: System, bridge: Bridge, *, symmetry: bool = False) -> Kernel:
    if len(system.properties) > PROPERTIES_MAX:
        raise BadSystem(
            f"the system has {len(system.properties)} properties",
            "generated properties, one per node or value",
            f"at most {PROPERTIES_MAX}: combine them, and say in the verdict which one failed",
        )
    known = KernelSystem(
        values=[automaton.initial() for automaton in system.automata],
        ghosts=[
            [at in automaton.ghosts for at in range(len(automaton.fields) + 1)]
            for automaton in system.automata
        ],
        observers=system.observed(),
        properties=["step", *(JUDGED.get(prop.kind, "rest") for prop in bridge.properties)],
        seals=[
            KernelSeal(seal.kinds, list(map(system.index, seal.nodes)), seal.types, seal.first)
            for seal in system.seals
        ],
        budgets=[-1 if budget == float("inf") else int(budget) for budget in system.faults.budgets],
        network=system.network,
        skip_noops=system.skip_noops,
        severed=[
            [way.severs(one, other) for one in system.names for other in system.names]
            for way in system.faults.partitions
        ],
        lost=None if system.streams is None else LOST,
        ruled=bool(system.rules),
        notice=Down if system.faults.notices else None,
        symmetric=symmetric_nodes(system) if symmetry else None,
        timed=system.clock is not None,
        histories=kernel_histories(system, bridge.properties),
    )
    return Kernel(bridge, system.codec, known)


def _report(bridge: Bridge, sandbox: Sandbox, searched: Searched, settings: Settings) -> Report:
    """What the search did, and what it found, confirmed on live code."""
    system, counts, walked = bridge.system, searched.counts, settings.search in WALKS
    walked = walked or settings.samples
    stopped_by = counts.stopped_by or (StopReason.DEPTH if counts.cut and not walked else None)
    faults = zip(FAULTS, counts.faults, system.faults.budgets, strict=True)
    in_tree, skipped = settings.search == "tree", searched.skipped
    heuristic = skipped is not None and skipped.is_heuristic
    hunted = hunted_of(searched)
    properties, errors = _judged(bridge, searched)
    violations, notes = confirmed_findings(system, sandbox, searched.found, settings)
    report = replace(
        empty_report(system, settings),
        assumes=tuple(assumed(system, bridge.vacuity.of_messages)),
        exhausted=stopped_by is None and not walked and not heuristic and settings.part.is_whole,
        skipped=skipped,
        stopped_by=stopped_by,
        unique=counts.unique,
        generated=counts.generated,
        depth=counts.depth,
        handler_runs=counts.handler_runs,
        property_runs=counts.property_runs,
        resumed_from=counts.resumed_from,
        executions=counts.traces + counts.blocked if in_tree else counts.walks,
        traces=counts.traces if in_tree else 0,
        faults={name: times for name, times, n in faults if n and (times or not settings.calm)},
        seconds=searched.seconds,
        collision_probability=0.0 if in_tree else counts.unique**2 / 2.0**65,
        properties=properties,
        hunted=hunted,
        delayed=searched.delayed,
        cycled=searched.cycled,
        violations=tuple(violations),
        errors=errors,
        checkpoints=searched.checkpoints,
    )
    return with_notes(report, [*_notes(system, searched, hunted, settings), *notes])


def _notes(
    system: System, searched: Searched, hunted: Hunted | None, settings: Settings
) -> Iterator[str]:
    """How the search was made, and what that means."""
    yield from searched.notes
    if system.clock is not None:
        yield TIMED
    if searched.delayed is not None:
        from presage.search.delay.run import notes as delay_notes

        yield from delay_notes(searched.delayed, searched.counts.unique)
    if searched.cycled is not None:
        yield searched.cycled.note()
    if searched.skipped is not None:
        yield from searched.skipped.notes()
    if settings.calm:
        yield CALM
    yield from reduction_notes(system, settings, sampled=searched.counts.sampled)
    yield from disk.checkpoint_notes(settings, searched.counts.resumed_from)
    if hunted is not None:
        from presage.search.hunt.executions import note

        yield note(hunted, settings.hunt.executions)


def _judged(bridge: Bridge, searched: Searched) -> tuple[dict[str, str], tuple[str, ...]]:
    """What became of each property, and why some could not be judged."""
    found = {finding.at for finding in searched.found}
    properties = {}
    for at, prop in enumerate(bridge.system.properties, 1):
        statuses = ("unreached", "reached") if prop.kind == "sometimes" else ("held", "violated")
        properties[prop.name] = "error" if at in bridge.errors else statuses[at in found]
    if 0 in found:
        properties["no_exception"] = "violated"
    every = range(1, len(bridge.system.properties) + 1)
    return properties, tuple(bridge.errors[at] for at in every if at in bridge.errors)


def _is_program(given: object) -> bool:
    if not isinstance(given, System | Program):
        raise BadSystem(
            f"`check` was given a `{type(given).__name__}`, not a `System` or `Program`",
            "the nodes, or the function that makes the system, in its place",
            "`check(System({...}))`, `check(system())`",
        )
    return isinstance(given, Program)
