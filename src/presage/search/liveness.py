"""Exact liveness: look at the whole graph for fair cycles and for states of no return.

The search itself judges `eventually` where a system comes to rest. This is what it cannot see: the
endless executions, found on the graph of all explored states, and how far each state is from hope.
Every cycle is gone round on live code before it is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

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
from presage.search.kernel.bridge import Bridge
from presage.search.report import Report, Surveyed, Violation
from presage.search.settings import Settings

ROUNDS = 2  # of a loop on live code, after the first time
# How far to look on after a violation at rest, to learn where it became inevitable.
BEYOND_STATES = 100_000
BEYOND_FACTOR = 4
# The part of what is left of the budget that goes to the search, and to writing the graph down.
SEARCH_SHARE = 0.6
UNKNOWN = "unknown"
SPENT = {
    StopReason.MEMORY: "memory ran out",
    StopReason.INTERRUPT: "it was interrupted",
    StopReason.SECONDS: "time ran out",
}


def examine(
    bridge: Bridge, kernel: Kernel, sandbox: Sandbox, report: Report, settings: Settings
) -> Iterator[Confirmed]:
    """What the graph says of every `eventually`: yields the violations that the search did not see.

    Whoever takes one puts it into the report before asking for the next.
    """
    asked = _to_examine(bridge, report, settings)
    if not asked:
        return
    judged = bridge.judged
    graph, seconds = kernel.graph(
        [at for at, _ in asked],
        (report.unique, report.generated),
        Limits(
            depth=settings.depth,
            states=_states(report),
            seconds=share_of(settings.budget),
            memory_mib=settings.memory_mib,
            keep_going=True,
        ),
    )
    report.seconds += seconds
    report.property_runs += bridge.judged - judged
    if graph.stopped_by is not None:
        report.exhausted = False
        report.stopped_by = report.stopped_by or graph.stopped_by
    if settings.budget.spent_by is not None:
        _leave_open(report, [prop for _, prop in asked])
        return _tell(report, graph)
    try:
        for position, (at, prop) in enumerate(asked):
            asking = _Asking(graph, position, prop, settings.budget)
            yield from _answers(bridge, sandbox, report, asking, at)
    except PassCut as cut:
        [reason] = cut.args
        _cut_short(report, [prop for _, prop in asked], reason)
    _tell(report, graph)


class _Asking(Struct, frozen=True):
    """A graph, and the property that it is asked about."""

    graph: Graph
    position: int  # of the property in the graph
    prop: Property
    budget: Budget


def _answers(
    bridge: Bridge, sandbox: Sandbox, report: Report, asking: _Asking, at: int
) -> Iterator[Confirmed]:
    """What the graph says of one property; raises `PassCut` where the budget ends."""
    prop = asking.prop
    if report.properties[prop.name] != "violated":
        if at in bridge.errors:
            report.properties[prop.name] = "error"
            report.errors.append(bridge.errors[at])
            return
        found = _found(bridge.system, sandbox, asking, at)
        if found is not None:
            report.properties[prop.name] = "violated"
            yield found
        elif asking.graph.stopped_by is not None:
            _leave_open(report, [prop])
    report.liveness[prop.name] = _surveyed(asking)
    for violation in report.violations:
        if violation.prop == prop.name:
            _locate(asking, violation)


def _cut_short(report: Report, properties: list[Property], reason: StopReason) -> None:
    """Nothing is claimed of properties that a pass over the graph did not come to the end of."""
    _leave_open(report, [prop for prop in properties if prop.name not in report.liveness])
    report.exhausted = False
    report.stopped_by = report.stopped_by or reason
    report.notes.append(
        f"endless executions (cycles) were not examined to the end: {SPENT[reason]}"
    )


def _surveyed(asking: _Asking) -> Surveyed:
    known = asking.graph.reachability(asking.position, asking.budget.remaining())
    return Surveyed(asking.prop.fairness, known.live, known.unknown, known.dead, known.critical)


def _to_examine(bridge: Bridge, report: Report, settings: Settings) -> list[tuple[int, Property]]:
    """The properties to ask the graph about; says of those that it will not why."""
    asked = [(at, prop) for at, prop in enumerate(bridge.properties, 1) if _asked(report, prop)]
    if report.search == "hunt":
        return []  # which looks for suspects in its own way
    reason = _unexamined(report, settings)
    if reason and any(report.properties[prop.name] == "held" for _, prop in asked):
        report.notes.append(
            "`eventually` was checked where the system comes to rest; endless executions (cycles)"
            f" were not examined: {reason}"
        )
        if settings.exact and _claims(report):
            _leave_open(report, [prop for _, prop in asked])
        if reason in SPENT.values():
            report.exhausted = False
            report.stopped_by = report.stopped_by or settings.budget.spent_by
    if report.stopped_by is StopReason.VIOLATION and settings.exact and report.search == "bfs":
        return [each for each in asked if report.properties[each[1].name] == "violated"]
    return [] if reason else asked


def share_of(budget: Budget) -> float | None:
    """The seconds of a phase after which others are still to come."""
    remaining = budget.remaining()
    return None if remaining is None else SEARCH_SHARE * remaining


def _claims(report: Report) -> bool:
    """Whether `held` would claim more than rest, of a search that was to look at all."""
    if report.search == "tree":  # if that ends, all executions do, and each at rest
        return False
    return (
        report.search in ("bfs", "dfs", "delay") and report.stopped_by is not StopReason.VIOLATION
    )


def _leave_open(report: Report, properties: list[Property]) -> None:
    """Nothing is claimed of properties whose endless executions were not examined."""
    for prop in properties:
        if report.properties[prop.name] == "held":
            report.properties[prop.name] = UNKNOWN


def _asked(report: Report, prop: Property) -> bool:
    return prop.kind == "eventually" and report.properties[prop.name] != "error"


def _unexamined(report: Report, settings: Settings) -> str:
    """Why cycles are not looked for; "" if they are."""
    if report.search != "bfs":
        return f"`{report.search}` does not keep the graph, `bfs` does"
    if not settings.exact:
        return "only rest was asked for"
    if report.stopped_by is StopReason.VIOLATION:
        return "the search stopped at a violation; `--keep-going` looks on"
    memory = report.stopped_by is StopReason.MEMORY
    ended = StopReason.MEMORY if memory else settings.budget.spent_by
    return SPENT[ended] if ended else ""


def _states(report: Report) -> int | None:
    """How many states the graph may have."""
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


def _locate(asking: _Asking, violation: Violation) -> None:
    """Note whether `violation` can be recovered from and, if not, which step decided it.

    That step is exact: before it some continuation recovers, after it none. Where it is not known
    that something recovers before the first dead state, no step is named.
    """
    trace = violation.trace
    assert trace is not None, "a violation that was replayed has a trace"
    prints = [trace.initial, *(step.fingerprint for step in trace.steps)]
    seen = asking.graph.territories(asking.position, prints, asking.budget.remaining())
    violation.dead = {"dead": True, "live": False, "unknown": None}[seen[-1]]
    first = seen.index("dead") if violation.dead else 0
    if violation.dead and (first == 0 or seen[first - 1] == "live"):
        violation.critical = first
    violation.trace = msgspec.structs.replace(
        trace, dead=violation.dead, critical=violation.critical
    )


def _tell(report: Report, graph: Graph) -> None:
    """What was assumed, and what is not known."""
    unknown = max((surveyed.unknown for surveyed in report.liveness.values()), default=0)
    if graph.stopped_by is not None:
        report.notes.append(
            f"`eventually` was examined on {graph.expanded:,} states only: the graph was cut short"
            f" by {graph.stopped_by}"
        )
    elif unknown and report.stopped_by is not StopReason.VIOLATION:
        report.notes.append(
            "`eventually` was examined in the explored part: a cycle or a dead end found there is"
            f" real, but what was not explored may decide about {unknown:,} states"
        )
    held = [name for name in report.liveness if report.properties[name] == "held"]
    if held and report.exhausted and graph.stopped_by is None:
        told = "; ".join(f"{name}: {report.liveness[name].fairness} fairness" for name in held)
        report.notes.append(f"endless executions were examined too ({told})")
