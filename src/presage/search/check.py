"""`check`: the entry point. Build the kernel, search, confirm what was found on live code, report.

Nothing is reported on the word of tables alone: each finding is replayed from the start on a live
`World`, every fingerprint compared, and the property asked again there.
"""

from __future__ import annotations

import re
import resource
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Unpack

from presage._core import Kernel
from presage.errors import BadSystem, BadTrace, HandlerStuck, explain
from presage.model.stream import LOST
from presage.model.system import FAULTS, System
from presage.props.property import Property
from presage.search import checkpoint as disk
from presage.search.bridge import Bridge
from presage.search.confirm import Confirmed, Finding, confirm
from presage.search.liveness import Limits, examine, is_exact
from presage.search.reductions import check_reduction, symmetric_nodes, tell_reduction
from presage.search.report import Report, Violation
from presage.search.shrink import shrink
from presage.search.walks import tell_calm, walking
from presage.search.watch import SECONDS_DEFAULT, Watch
from presage.trace import codec as trace_codec
from presage.trace.trace import Trace
from presage.version import VERSION

SEARCHES = ("bfs", "dfs", "walk")
WALKS_DEFAULT = 1_000
WALK_DEPTH_DEFAULT = 200
PROPERTIES_MAX = 63  # broken properties of a step are bits of one word; one bit is `no_exception`
JUDGED = {"always": "always", "sometimes": "sometimes", "step": "step"}  # others: at rest
LIMIT_MAX = 2**32 - 1
RAISED = re.compile(r" at (\S+:\d+) (in \w+)$")  # how the text of a failure ends
EXACT = "exact"
TIMED = (
    "timed: clocks move only when timers fire; what happens between two of them counts as happening"
    " at the earlier one"
)


@dataclass(frozen=True)
class Progress:
    """How far a search is."""

    unique: int
    generated: int
    depth: int
    frontier: int
    walks: int
    handler_runs: int
    properties: dict[str, str]  # "open" until it is known
    seconds: float
    resumed_from: int = 0  # states in the checkpoint that it went on from
    checkpoints: int = 0  # written by this process


class ProgressLine(Protocol):
    """Told a few times a second how far the search is."""

    def update(self, snapshot: Progress, /) -> None: ...


def check(
    system: System,
    *,
    search: str = "bfs",
    depth: int | None = None,
    states: int | None = None,
    seconds: float | None = None,
    memory_mib: int | None = None,
    threads: int = 1,
    seed: int = 0,
    keep_going: bool = False,
    walks: int = WALKS_DEFAULT,
    calm: bool = False,
    liveness: str = "exact",
    reduction: str = "none",
    symmetry: bool = False,
    handler_seconds: float = SECONDS_DEFAULT,
    progress: ProgressLine | None = None,
    traces: str | Path | None = ".presage/traces",
    target: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    give_up: Callable[[HandlerStuck], None] | None = None,
    **keeping: Unpack[disk.Keeping],
) -> Report:
    """Search `system` and report what held and what broke.

    `depth` counts the initial state as 1. By default the search stops at the first violation;
    `keep_going` explores on and reports the first violation of each. `calm`: walks meet no faults.
    """
    limits: dict[str, Any] = {"depth": depth, "states": states, "memory_mib": memory_mib}
    limits |= {"threads": threads, "walks": walks}
    _check_limits(search, seed, limits)
    bounds = Limits(depth, seconds, memory_mib, is_exact(liveness))
    check_reduction(system, search, reduction, symmetry, exact=bounds.exact, keeping=keeping)
    with Watch(handler_seconds, give_up) as watch:
        bridge = Bridge(system, watch, weighs=search == "walk")
        kept = disk.prepare(system, search, target, parameters, bridge.errors, memory_mib, keeping)
        kernel = build(system, bridge, symmetry=symmetry)
        how: dict[str, Any] = {"seconds": seconds, "keep_going": keep_going, "seed": seed}
        how |= {"sleep": reduction == "sleep", "progress": _teller(system, progress)}
        raw = kernel.search(search, **how, **limits, **kept, **walking(system, search, calm=calm))
        report = _report(system, search, seed, raw)
        report.target, report.parameters = target, dict(parameters or {})
        tell_calm(report, calm=calm)
        tell_reduction(report, system, reduction, symmetry=symmetry, sampled=raw["sampled"])
        report.notes += disk.told(keeping, report.resumed_from)
        _conclude(kernel, bridge, watch, report, raw, bounds)
    _save(report, traces)
    return report


def _conclude(
    kernel: Kernel,
    bridge: Bridge,
    watch: Watch,
    report: Report,
    raw: dict[str, Any],
    limits: Limits,
) -> None:
    """Confirm what was found, then look at what only the whole graph can tell."""
    system = bridge.system
    _judge(system, bridge, raw, report)
    for finding in _findings(raw):
        _add(system, watch, report, finding, shrinks=report.search != "bfs")
    for found in examine(bridge, kernel, watch, report, limits):
        report.violations.append(_violation(system, report, found, found.prop))
    report.peak_mib = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
    _missed(system, report)


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
    return Kernel(
        bridge,
        system.codec,
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


def _check_limits(search: str, seed: int, limits: dict[str, Any]) -> None:
    if search not in SEARCHES:
        known = ", ".join(f"`{name}`" for name in SEARCHES)
        raise BadSystem(
            explain(f"there is no search `{search}`", "a misspelt name", f"use one of {known}")
        )
    for name, limit in limits.items():
        if limit is not None and not 1 <= limit <= LIMIT_MAX:
            raise BadSystem(
                explain(
                    f"`{name}` is {limit}",
                    "a limit that leaves nothing to do, or one beyond counting",
                    f"give `{name}` from 1 to {LIMIT_MAX:,}, or leave it out",
                )
            )
    if search == "walk" and limits["depth"] is None:
        limits["depth"] = WALK_DEPTH_DEFAULT
    if not 0 <= seed < 2**64:
        raise BadSystem(
            explain(
                f"the seed is {seed}",
                "a negative number, or one of more than 64 bits",
                "give a seed from 0 to 2**64 - 1",
            )
        )


def _teller(system: System, progress: ProgressLine | None) -> Callable[..., None] | None:
    if progress is None:
        return None

    def tell(*counts: Any) -> None:
        unique, generated, depth, frontier, walks, handler_runs, decided, seconds, *saved = counts
        ends = [("reached" if p.kind == "sometimes" else "violated") for p in system.properties]
        known = zip(system.properties, ends, decided[1:], strict=True)
        properties = {prop.name: end if sure else "open" for prop, end, sure in known}
        numbers = (unique, generated, depth, frontier, walks, handler_runs)
        progress.update(Progress(*numbers, properties, seconds, *saved))

    return tell


def _report(system: System, search: str, seed: int, raw: dict[str, Any]) -> Report:
    unique = raw["unique"]
    stopped_by = raw["stopped_by"] or ("depth" if raw["cut"] and search != "walk" else None)
    budgets = dict(zip(FAULTS, system.faults.budgets, strict=True))
    return Report(
        presage=VERSION,
        search=search,
        seed=seed,
        exhausted=stopped_by is None and search != "walk",
        stopped_by=stopped_by,
        unique=unique,
        generated=raw["generated"],
        depth=raw["depth"],
        executions=raw["walks"],
        handler_runs=raw["handler_runs"],
        property_runs=raw["property_runs"],
        faults={name: raw["faults"][name] for name, budget in budgets.items() if budget},
        seconds=raw["seconds"],
        collision_probability=unique * unique / 2.0**65,
        nodes=len(system.nodes),
        system=system.name,
        resumed_from=raw["resumed_from"],
        checkpoints=raw["checkpoints"],
        notes=[*raw["notes"], *([TIMED] if system.clock else [])],
    )


def _judge(system: System, bridge: Bridge, raw: dict[str, Any], report: Report) -> None:
    """What became of each property, violations aside."""
    found = {finding[0] for finding in raw["found"]}
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


def _findings(raw: dict[str, Any]) -> list[Finding]:
    return [
        Finding(at, tuple(choices), initial, tuple(events))
        for at, (choices, initial), events in raw["found"]
    ]


def _add(system: System, watch: Watch, report: Report, finding: Finding, *, shrinks: bool) -> None:
    """Confirm a finding on live code; a violation goes into the report with its trace."""
    confirmed = confirm(system, watch, finding)
    prop = confirmed.prop
    if prop is not None and prop.kind == "sometimes":
        return
    if shrinks:
        try:
            confirmed = shrink(system, watch, confirmed)
        except KeyboardInterrupt:
            report.notes.append("interrupted while the trace was made shorter: it is as found")
    report.violations.append(_violation(system, report, confirmed, prop))


def _violation(
    system: System, report: Report, confirmed: Confirmed, prop: Property | None
) -> Violation:
    kind = {"eventually": "liveness", "deadlock": "deadlock"}
    raised = RAISED.search(confirmed.why)
    where = raised.groups() if raised else ("", "")
    facts: dict[str, Any] = {
        "prop": prop.name if prop else "no_exception",
        "kind": kind.get(prop.kind, "safety") if prop else "exception",
        "message": confirmed.why,
        "evidence": EXACT,
        "loop": confirmed.loop,
        "fairness": prop.fairness if prop and confirmed.loop else None,
        "source": prop.source if prop else where[0],
        "signature": prop.signature if prop else where[1],
    }
    trace = Trace.of(
        system,
        confirmed.steps,
        target=report.target,
        parameters=report.parameters,
        seed=report.seed,
        choices=confirmed.choices,
        initial=confirmed.initial,
        **facts,
    )
    length = len(confirmed.steps)
    return Violation(step=length, steps=length, trace=trace, **facts)


def _missed(system: System, report: Report) -> None:
    """A `sometimes` that an exhaustive search did not reach is a violation without a trace."""
    if not report.exhausted:
        return
    for prop in system.properties:
        if report.properties[prop.name] == "unreached":
            report.violations.append(
                Violation(
                    prop=prop.name,
                    kind="unreached",
                    message=f"none of the {report.unique:,} reachable states satisfies it",
                    evidence=EXACT,
                    source=prop.source,
                    signature=prop.signature,
                )
            )


def _save(report: Report, folder: str | Path | None) -> None:
    for violation in report.violations:
        if violation.trace is None or folder is None:
            continue
        try:
            violation.trace_path = str(trace_codec.save(violation.trace, folder))
        except BadTrace as error:
            # The finding is worth more than its file: tell it, and that it could not be saved.
            report.notes.append(str(error))
