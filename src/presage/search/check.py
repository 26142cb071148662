"""`check`: the entry point. Build the kernel, search, confirm what was found on live code, report.

Nothing is reported on the word of tables alone: each finding is replayed from the start on a live
`World`, every fingerprint compared, and the property asked again there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from msgspec import Struct
from msgspec.structs import replace

from presage._core import FAULTS, Kernel
from presage._results import Outcome, Progress, StopReason
from presage.errors import BadSystem, HandlerStuck, explain
from presage.execution.budget import Budget, budget_of
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.limits import KernelSystem, Limits, Storage
from presage.model.stream import LOST
from presage.model.system import System
from presage.process.program import Program
from presage.search.checkpoint import store as disk
from presage.search.coverage import annotate
from presage.search.coverage.services import covered
from presage.search.findings import (
    Teller,
    add,
    early_of,
    missed,
    save,
    suspected,
    violation_of,
)
from presage.search.hunt import settings as hunting
from presage.search.hunt.settings import Hunt
from presage.search.kernel.bridge import Bridge
from presage.search.liveness import GraphLimits, examine, is_exact, share_of
from presage.search.memory import check_memory, peak_mib
from presage.search.processes import ReportOptions, Settings, check_program, refuse_options
from presage.search.progress import ProgressLine, progress_callback
from presage.search.reductions import check_reduction, symmetric_nodes, tell_reduction
from presage.search.report import Report
from presage.search.threads import AUTO, Searched, as_found, settle
from presage.search.threads import with_defaults as threads_of
from presage.search.tree import (
    DEPTH_DEFAULT,
    check_tree,
    explored,
    search_and_reduction,
    tree_summary,
)
from presage.search.twin.compare import Start, Twin
from presage.search.walks import kernel_weights, tell_calm
from presage.version import VERSION

SEARCHES = ("bfs", "dfs", "tree", "walk", "hunt")
WALKS = {"walk": 1_000, "hunt": 10_000}  # where no time is given to go on until it ends
DEPTHS = {"tree": DEPTH_DEFAULT, "walk": 200}
PROPERTIES_MAX = 63  # broken properties of a step are bits of one word; one bit is `no_exception`
JUDGED = {"always": "always", "sometimes": "sometimes", "step": "step"}  # others: at rest
LIMIT_MAX = 2**32 - 1
TIMED = (
    "timed: clocks move only when timers fire; what happens between two of them counts as happening"
    " at the earlier one"
)


def check(
    system: System | Program,
    *,
    search: str | None = None,
    depth: int | None = None,
    states: int | None = None,
    seconds: float | None = None,
    memory_mib: int | None = None,
    threads: int | str = AUTO,
    seed: int = 0,
    keep_going: bool = False,
    walks: int | None = None,
    calm: bool = False,
    hunt: Hunt | None = None,
    liveness: str = "exact",
    reduction: str | None = None,
    symmetry: bool = False,
    spins: int | None = None,
    handler_seconds: float = SECONDS_DEFAULT,
    progress: ProgressLine | None = None,
    traces: str | Path | None = ".presage/traces",
    target: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    give_up: Callable[[HandlerStuck], None] | None = None,
    coverage: str | Path | None = None,
    budget: Budget | None = None,
    second: Start | None = None,
    **keeping: Unpack[disk.CheckpointOptions],
) -> Report:
    """Search `system` and report what held and what broke.

    `seconds` bound all of it, or a `budget` that began earlier. `depth` counts the initial state.
    Left out, `search` is `bfs`, of a program `tree`, and `reduction` is `none`, in a tree `odpor`.
    """
    options = (handler_seconds, traces, target, parameters, progress, give_up, coverage, second)
    budget = budget or budget_of(seconds)
    if isinstance(system, Program):
        refuse_options(memory_mib=memory_mib, calm=calm, hunt=hunt, symmetry=symmetry, **keeping)
        exploring = Settings(search, reduction, depth, states, walks, budget, keep_going, spins)
        return check_program(system, exploring, ReportOptions(*options))
    search, reduction = search_and_reduction(search, reduction)
    several = threads_of(threads, search, ordered=states is not None or reduction == "sleep")
    given = Limits(depth, states, None, memory_mib, *several, keep_going, seed, walks)
    limits = _with_defaults(search, given, budget)
    bounds = GraphLimits(depth, budget, memory_mib, is_exact(liveness))
    hunted = hunting.checked(search, hunt, calm=calm)
    how = How(search, reduction, symmetry, calm, limits, hunted, bounds, keeping)
    _refuse(system, how, hunt)
    with budget.watching():
        return _check_system(system, how, ReportOptions(*options))


class How(Struct, frozen=True):
    """How a system is searched, with every default filled in."""

    search: str
    reduction: str
    symmetry: bool
    calm: bool
    limits: Limits
    hunt: Hunt
    bounds: GraphLimits
    keeping: disk.CheckpointOptions


def _refuse(system: System, how: How, hunt: Hunt | None) -> None:
    """Refuse what does not go together; `hunt`: as it was given."""
    _refuse_other(system)
    if how.search != "tree":
        exact = how.bounds.exact
        args = (how.search, how.reduction, how.symmetry)
        return check_reduction(system, *args, exact=exact, keeping=how.keeping)
    given: dict[str, Any] = {"states": how.limits.states, "threads": how.limits.threads > 1}
    given |= {"calm": how.calm, "hunt": hunt, "symmetry": how.symmetry, **how.keeping}
    return check_tree(system, how.reduction, given)


def _check_system(system: System, how: How, telling: ReportOptions) -> Report:
    search, limits, keeping = how.search, how.limits, how.keeping
    target, parameters = telling.target, telling.named
    with Sandbox(telling.handler_seconds, telling.give_up) as sandbox:
        lines = annotate.watched(system) if telling.coverage is not None else None
        bridge = Bridge(system, sandbox, weighs=search in WALKS, lines=lines)
        begun = Report(target=target, parameters=parameters, seed=limits.seed)
        bridge.early = early_of(system, sandbox, begun, telling.traces)
        known = disk.Learned(bridge.errors, bridge.vacuity, bridge.orders)
        args = (system, search, target, parameters, known)
        storage = disk.prepare(*args, limits.memory_mib, keeping)
        kernel = build(system, bridge, symmetry=how.symmetry)
        teller = partial(progress_callback, system, telling.progress)
        twin = Twin(telling.second, bridge, sandbox, how.bounds.budget)
        searched = _searched(kernel, system, how, storage, teller())
        twin.begin(kernel, limits.memory_mib)
        report = _report(system, how, searched, telling)
        if search == "tree":
            tree_summary(report, searched.counts)
        tell_calm(report, calm=how.calm)
        sampled = searched.counts.sampled
        tell_reduction(report, system, how.reduction, symmetry=how.symmetry, sampled=sampled)
        report.notes += disk.told(keeping, report.resumed_from)
        _conclude(kernel, bridge, sandbox, report, searched, how, teller)
        report.compared = twin.result()
        report.orders = bridge.orders.found
        report.exhausted = report.exhausted and not report.orders
    save(report, telling.traces, bridge.early)
    annotate.write(telling.coverage, report)
    return report


def _searched(
    kernel: Kernel,
    system: System,
    how: How,
    storage: Storage,
    progress: Callable[[Progress], None] | None,
) -> Searched:
    budget = how.bounds.budget
    examined = how.search == "bfs" and how.bounds.exact
    examined = examined and any(prop.kind == "eventually" for prop in system.properties)
    seconds = share_of(budget) if examined else budget.remaining()
    weights = kernel_weights(system, how.search, calm=how.calm)
    limits = replace(how.limits, seconds=seconds, weights=weights)
    if how.search == "tree":
        return as_found(explored(kernel, how.reduction, limits, progress))
    if how.search == "hunt":
        return as_found(hunting.run(kernel, system, how.hunt, limits, progress))

    def run(limits: Limits, storage: Storage) -> Outcome:
        return kernel.search(how.search, limits, progress, storage, how.reduction == "sleep")

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
    how: How,
    teller: Teller,
) -> None:
    """Confirm what was found, then look at what only the whole graph, or walks, can tell."""
    system, limits, exhausted = bridge.system, how.bounds, report.exhausted
    hunt = searched.counts.hunt
    hunting.tell(report, hunt)
    _judge(system, bridge, searched, report)
    for finding in searched.found:
        shrinks = report.search != "bfs"
        add(system, sandbox, report, finding, shrinks=shrinks, budget=limits.budget)
    for found in examine(bridge, kernel, sandbox, report, limits):
        bridge.early.add(report, violation_of(system, report, found, found.prop))
    coverage = covered(bridge, kernel, report)
    report.coverage = annotate.with_lines(coverage, system, bridge.lines)
    suspects = [] if hunt is None else hunt.suspects
    for suspect in suspected(system, sandbox, report, suspects, how.hunt, limits.budget, teller):
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


def _with_defaults(search: str, limits: Limits, budget: Budget) -> Limits:
    """`limits` with what is left out filled in; refuses what leaves nothing to do."""
    if search not in SEARCHES:
        known = ", ".join(f"`{name}`" for name in SEARCHES)
        raise BadSystem(
            explain(f"there is no search `{search}`", "a misspelt name", f"use one of {known}")
        )
    for name in ("depth", "states", "memory_mib", "walks"):
        limit = getattr(limits, name)
        if limit is not None and not 1 <= limit <= LIMIT_MAX:
            raise BadSystem(
                explain(
                    f"`{name}` is {limit}",
                    "a limit that leaves nothing to do, or one beyond counting",
                    f"give `{name}` from 1 to {LIMIT_MAX:,}, or leave it out",
                )
            )
    check_memory(limits.memory_mib)
    if not 0 <= limits.seed < 2**64:
        raise BadSystem(
            explain(
                f"the seed is {limits.seed}",
                "a negative number, or one of more than 64 bits",
                "give a seed from 0 to 2**64 - 1",
            )
        )
    walks = WALKS.get(search) if limits.walks is None and budget.seconds is None else limits.walks
    return replace(limits, depth=limits.depth or DEPTHS.get(search), walks=walks)


def _report(system: System, how: How, searched: Searched, telling: ReportOptions) -> Report:
    counts, walked = searched.counts, how.search in WALKS
    stopped_by = counts.stopped_by or (StopReason.DEPTH if counts.cut and not walked else None)
    faults = zip(FAULTS, counts.faults, system.faults.budgets, strict=True)
    return Report(
        presage=VERSION,
        target=telling.target,
        parameters=telling.named,
        search=how.search,
        seed=how.limits.seed,
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
