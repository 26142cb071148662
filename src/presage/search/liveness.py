"""Exact liveness: look at the whole graph for fair cycles and for states of no return.

The search itself judges `eventually` where a system comes to rest. This is what it cannot see: the
endless executions, found on the graph of all explored states, and how far each state is from hope.
A search for cycles has a graph already, and may have found some. Every cycle is gone round on live
code before it is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import msgspec
from msgspec import Struct

from presage._core import Graph, Kernel, PassCut
from presage._results import StopReason
from presage.errors import Diverged, Nondeterminism
from presage.execution.budget import Budget
from presage.execution.confirm import Confirmed, confirm, confirmed, follow
from presage.execution.lasso import endless
from presage.execution.sandbox import Sandbox
from presage.limits import Limits
from presage.model.world.system import System
from presage.props.property import Property
from presage.search.delay.cycles import claims
from presage.search.findings import violation_of
from presage.search.kernel.bridge import Bridge
from presage.search.report import Report, Surveyed, Violation, with_notes
from presage.search.settings import Settings

ROUNDS = 2  # of a loop on live code, after the first time
# How far to look on after a violation at rest, to learn where it became inevitable.
BEYOND_STATES = 100_000
BEYOND_FACTOR = 4
# The part of what is left of the budget that goes to the search, and to writing the graph down.
SEARCH_SHARE = {"bfs": 0.6, "cycles": 0.8}
GRAPHS = tuple(SEARCH_SHARE)
UNKNOWN = "unknown"
SPENT = {
    StopReason.MEMORY: "memory ran out",
    StopReason.INTERRUPT: "it was interrupted",
    StopReason.SECONDS: "time ran out",
}


def examine(
    bridge: Bridge,
    kernel: Kernel,
    sandbox: Sandbox,
    report: Report,
    settings: Settings,
    graph: Graph | None,
) -> Report:
    """The report with what the graph, one that the search has made or all, says of `eventually`."""
    report, asked = _to_examine(bridge, report, settings)
    if not asked:
        return report
    positions = {at: position for position, (at, _) in enumerate(claims(bridge.system))}
    if graph is None:
        positions = {at: position for position, (at, _) in enumerate(asked)}
        report, graph = _graph(bridge, kernel, report, settings, list(positions))
    properties = [prop for _, prop in asked]
    if graph.stopped_by is not None:
        report = _stopped(report, graph.stopped_by)
    if settings.budget.spent_by is not None:
        report = _left_open(report, properties)
        return with_notes(report, _notes(report, graph))
    try:
        for at, prop in asked:
            asking = _Asking(graph, positions[at], prop, settings.budget)
            # One by one: what is known stays known where the budget ends in the next.
            report = _answered(bridge, sandbox, report, settings, asking, at)
            if report.properties[prop.name] != "error":
                report = replace(report, liveness=report.liveness | {prop.name: _surveyed(asking)})
                report = _located(report, asking)
    except PassCut as cut:
        [reason] = cut.args
        report = _cut_short(report, properties, reason)
    return with_notes(report, _notes(report, graph))


def _graph(
    bridge: Bridge, kernel: Kernel, report: Report, settings: Settings, asked: list[int]
) -> tuple[Report, Graph]:
    """The graph of all that was explored, and the report with what it cost to write it down."""
    judged = bridge.judged
    graph, seconds = kernel.graph(
        asked,
        (report.unique, report.generated),
        Limits(
            depth=settings.depth,
            states=_states(report),
            seconds=share_of(settings.budget, report.search),
            memory_mib=settings.memory_mib,
            keep_going=True,
        ),
    )
    runs = report.property_runs + bridge.judged - judged
    return replace(report, seconds=report.seconds + seconds, property_runs=runs), graph


class _Asking(Struct, frozen=True):
    """A graph, and the property that it is asked about."""

    graph: Graph
    position: int  # of the property in the graph
    prop: Property
    budget: Budget


def _answered(
    bridge: Bridge, sandbox: Sandbox, report: Report, settings: Settings, asking: _Asking, at: int
) -> Report:
    """Whether one property holds on the graph; raises `PassCut` where the budget ends."""
    prop = asking.prop
    if report.properties[prop.name] == "violated":
        return report
    if at in bridge.errors:
        report = replace(report, errors=(*report.errors, bridge.errors[at]))
        return _with_status(report, [prop], "error")
    found = _found(bridge.system, sandbox, asking, at)
    if found is not None:
        delays = asking.graph.delays(asking.position) if settings.by_delays else None
        violation = violation_of(bridge.system, settings, found)
        violation = replace(violation, delays=delays)
        bridge.early.keep(violation)
        report = replace(report, violations=(*report.violations, violation))
        return _with_status(report, [prop], "violated")
    return report if asking.graph.stopped_by is None else _left_open(report, [prop])


def _with_status(report: Report, properties: Iterable[Property], status: str) -> Report:
    statuses = {prop.name: status for prop in properties}
    return replace(report, properties=report.properties | statuses)


def _stopped(report: Report, reason: StopReason | None) -> Report:
    """A report of what `reason` ended, unless something else had before."""
    return replace(report, exhausted=False, stopped_by=report.stopped_by or reason)


def _cut_short(report: Report, properties: list[Property], reason: StopReason) -> Report:
    """Nothing is claimed of properties that a pass over the graph did not come to the end of."""
    report = _left_open(report, [prop for prop in properties if prop.name not in report.liveness])
    note = f"endless executions (cycles) were not examined to the end: {SPENT[reason]}"
    return with_notes(_stopped(report, reason), [note])


def _surveyed(asking: _Asking) -> Surveyed:
    known = asking.graph.reachability(asking.position, asking.budget.remaining())
    return Surveyed(asking.prop.fairness, known.live, known.unknown, known.dead, known.critical)


def _to_examine(
    bridge: Bridge, report: Report, settings: Settings
) -> tuple[Report, list[tuple[int, Property]]]:
    """The properties to ask the graph about; the report says of those that it will not why."""
    if report.search == "hunt":
        return report, []  # which looks for suspects in its own way
    asked = [each for each in claims(bridge.system) if report.properties[each[1].name] != "error"]
    reason = _unexamined(report, settings)
    if reason and any(report.properties[prop.name] == "held" for _, prop in asked):
        note = (
            "`eventually` was checked where the system comes to rest; endless executions (cycles)"
            f" were not examined{' to the end' if report.search == 'cycles' else ''}: {reason}"
        )
        report = with_notes(report, [note])
        if settings.exact and _claims(report):
            report = _left_open(report, [prop for _, prop in asked])
        if reason in SPENT.values():
            report = _stopped(report, settings.budget.spent_by)
    if report.stopped_by is StopReason.VIOLATION and settings.exact and report.search == "bfs":
        return report, [each for each in asked if report.properties[each[1].name] == "violated"]
    return report, [] if reason else asked


def share_of(budget: Budget, search: str) -> float | None:
    """The seconds of a phase after which others are still to come."""
    remaining = budget.remaining()
    return None if remaining is None else SEARCH_SHARE[search] * remaining


def _claims(report: Report) -> bool:
    """Whether `held` would claim more than rest, of a search that was to look at all."""
    if report.search == "tree":  # if that ends, all executions do, and each at rest
        return False
    return (
        report.search in ("bfs", "dfs", "delay", "cycles")
        and report.stopped_by is not StopReason.VIOLATION
    )


def _left_open(report: Report, properties: list[Property]) -> Report:
    """Nothing is claimed of properties whose endless executions were not examined."""
    held = [prop for prop in properties if report.properties[prop.name] == "held"]
    return _with_status(report, held, UNKNOWN)


def _unexamined(report: Report, settings: Settings) -> str:
    """Why cycles are not looked for; "" if they are."""
    if report.search not in GRAPHS:
        return f"`{report.search}` does not keep the graph, `bfs` and `cycles` do"
    if not settings.exact:
        return "only rest was asked for"
    if report.stopped_by is StopReason.VIOLATION and report.search == "bfs":
        return "the search stopped at a violation; `--keep-going` looks on"
    memory = report.stopped_by is StopReason.MEMORY
    ended = StopReason.MEMORY if memory else settings.budget.spent_by
    return SPENT[ended] if ended else ""


def _states(report: Report) -> int | None:
    if report.stopped_by is StopReason.VIOLATION:
        return max(BEYOND_STATES, BEYOND_FACTOR * report.unique)
    return report.unique if report.stopped_by in (StopReason.STATES, StopReason.SECONDS) else None


def _found(system: System, sandbox: Sandbox, asking: _Asking, at: int) -> Confirmed | None:
    """A violation of the property that live code agrees with; None if there is none."""
    graph, position, prop = asking.graph, asking.position, asking.prop
    # Where the search was cut, the graph may reach a little further.
    stem = graph.rest(position, asking.budget.remaining())
    if stem is not None:
        return confirm(system, sandbox, graph.finding(at, stem, []))
    lasso = graph.lasso(position, prop.fairness, asking.budget.remaining())
    if lasso is None:
        return None
    finding = graph.finding(at, *lasso)
    run = follow(system, sandbox, finding)
    try:
        why = endless(run, finding.initial, len(lasso[0]) + 1, prop.fairness, ROUNDS)
    except Diverged as error:
        raise Nondeterminism(f"a loop that the search found does not close: {error}") from error
    return confirmed(run, finding, why)


def _located(report: Report, asking: _Asking) -> Report:
    """The report, whose violations of the property say where they became inevitable."""
    violations = (
        _located_violation(asking, found) if found.prop == asking.prop.name else found
        for found in report.violations
    )
    return replace(report, violations=tuple(violations))


def _located_violation(asking: _Asking, violation: Violation) -> Violation:
    """Whether `violation` can be recovered from and, if not, which step decided it.

    That step is exact: before it some continuation recovers, after it none. Where it is not known
    that something recovers before the first dead state, no step is named.
    """
    trace = violation.trace
    assert trace is not None, "a violation that was replayed has a trace"
    prints = [trace.initial, *(step.fingerprint for step in trace.steps)]
    seen = asking.graph.territories(asking.position, prints, asking.budget.remaining())
    dead = {"dead": True, "live": False, "unknown": None}[seen[-1]]
    first = seen.index("dead") if dead else 0
    certain = dead and (first == 0 or seen[first - 1] == "live")
    critical = first if certain else violation.critical
    trace = msgspec.structs.replace(trace, dead=dead, critical=critical)
    return replace(violation, dead=dead, critical=critical, trace=trace)


def _notes(report: Report, graph: Graph) -> Iterator[str]:
    """What was assumed, and what is not known."""
    unknown = max((surveyed.unknown for surveyed in report.liveness.values()), default=0)
    if graph.stopped_by is not None:
        yield (
            f"`eventually` was examined on {graph.expanded:,} states only: the graph was cut short"
            f" by {graph.stopped_by}"
        )
    elif unknown and report.stopped_by is not StopReason.VIOLATION:
        yield (
            "`eventually` was examined in the explored part: a cycle or a dead end found there is"
            f" real, but what was not explored may decide about {unknown:,} states"
        )
    held = [name for name in report.liveness if report.properties[name] == "held"]
    if held and report.exhausted and graph.stopped_by is None:
        fair = "; ".join(f"{name}: {report.liveness[name].fairness} fairness" for name in held)
        yield f"endless executions were examined too ({fair})"
