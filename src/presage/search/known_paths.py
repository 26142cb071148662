"""Paths that broke a property before, tried from another state: cheaper than any search.

What cannot happen here is left out, and a like event may stand in for another: the same message
class from the same sender, the same timer. If the property breaks, it does so on live code.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeAlias

from presage.execution.begin import property_of
from presage.execution.confirm import Confirmed
from presage.execution.prefix import PrefixReplay, Taken, events_of
from presage.execution.sandbox import Sandbox
from presage.execution.services import ServiceExecution
from presage.model.world.event import Event
from presage.model.world.system import System
from presage.props.property import Property
from presage.trace.trace import Trace, TraceStep

Known: TypeAlias = Confirmed | Trace


def replayed(
    begun: System, sandbox: Sandbox, path: Known, broken: Collection[str]
) -> Confirmed | None:
    """`path`, taken from where executions of `begun` begin, if it breaks its property there."""
    if isinstance(path, Trace):
        run = _trace_taken(begun, sandbox, path)
        prop, why = run.prop, run.verdict() if run.steps else None
    else:
        prop = path.prop
        course = PrefixReplay(begun, sandbox, (), prop, alike=True)
        run = course.take(events_of(path.steps), _verdict)
        why = course.why
    if why is None or not run.steps or (prop is not None and prop.name in broken):
        return None
    return Confirmed(prop, why, (), run.initial, tuple(run.steps))


def _verdict(run: ServiceExecution) -> str | None:
    return run.verdict() if run.steps else None


def _trace_taken(begun: System, sandbox: Sandbox, trace: Trace) -> ServiceExecution:
    """What is possible of a path that comes from another process, up to where it breaks."""
    prop: Property | None = property_of(begun, trace)
    run = ServiceExecution.begin(begun, sandbox, (), prop)
    for step in trace.steps:
        taken = _resolved(run, step)
        if taken is None:
            continue
        run.apply(*taken)
        if run.verdict() is not None:
            break
    return run


def _resolved(run: ServiceExecution, step: TraceStep) -> Taken | None:
    """The event of `step`, or one that reads like it; None if neither is possible."""
    enabled = run.options()
    found = next((event for event in enabled if step.matches(event)), None)
    found = found or next((event for event in enabled if _is_alike(step, event)), None)
    if found is None:
        return None
    runs: Sequence[tuple[int, ...]] = run.sandbox.run(run.world.runs, found)
    wanted = tuple(k for k, _ in step.choices)
    return (found, wanted) if wanted in runs else (found, runs[0]) if runs else None


def _is_alike(step: TraceStep, event: Event) -> bool:
    """Whether `event` is of the same kind at the same node, with the same name and sender."""
    same = (event.kind, event.node) == (step.kind, step.node)
    source = getattr(event, "source", None)
    return same and source == step.source and str(event).split("(")[0] == step.label.split("(")[0]
