"""A prediction as text, and as the object that `--json` prints.

It never says that a property holds: it says how far was looked.
"""

from __future__ import annotations

import shlex
from typing import Any

from presage._results import StopReason
from presage.search.prediction import Lane, Prediction
from presage.search.report import Violation
from presage.trace.show import plural
from presage.ui import violation
from presage.ui.theme import Theme
from presage.version import VERSION


def render(
    predicted: Prediction, found: Violation | None, step: int, saved: str | None, theme: Theme
) -> str:
    """What was predicted from `step` of a trace, and how far was looked."""
    parts = []
    if found is not None:
        parts.append(violation.render(found, theme))
    lines = theme.wrap("predict: ", _headline(predicted, step))
    if predicted.broken:
        names = ", ".join(predicted.broken)
        lines += theme.wrap("   = broken already: ", f"{names}; not looked for")
    lines += [each for lane in predicted.lanes for each in theme.wrap("   = ", _lane(lane))]
    if predicted.unjudged:
        lines += theme.wrap("   = not judged: ", ", ".join(predicted.unjudged))
    for error in predicted.errors:
        lines += theme.wrap("   = error: ", error)
    if saved is not None:
        lines += theme.wrap("   = saved: ", f"presage replay {shlex.quote(saved)}")
    return "\n\n".join([*parts, "\n".join(lines)])


def _headline(predicted: Prediction, step: int) -> str:
    where = f"from the state after step {step}" if step else "from where the trace begins"
    if predicted.path is not None:
        ahead = plural(len(predicted.path.steps), "step")
        return f"{_name(predicted)} may break {ahead} ahead, {where}; found by {predicted.found_by}"
    if predicted.exhausted:
        return f"nothing breaks {where}: all that can follow with these faults was looked at"
    return f"nothing found {where}, within bounds: {searched(predicted)}"


def _name(predicted: Prediction) -> str:
    assert predicted.path is not None, "something was found"
    return predicted.path.prop.name if predicted.path.prop else "no_exception"


def searched(predicted: Prediction) -> str:
    """How far was looked, in one clause."""
    looked = f"{plural(predicted.states, 'state')}, up to {plural(predicted.depth, 'step')} ahead"
    if predicted.exhausted or predicted.bound is None:
        return looked
    return f"{looked}; none within k = {predicted.bound}"


def _lane(lane: Lane) -> str:
    if lane.stopped_by is StopReason.INTERRUPT:
        end = "stopped: no longer wanted"
    elif lane.stopped_by is not None:
        end = f"stopped by {lane.stopped_by}"
    else:
        end = "ended, not all was tried" if lane.left_out else "ended, all was tried"
    looked = f"{plural(lane.states, 'state')}, depth {lane.depth}"
    return f"{lane.name}: {looked}, {lane.seconds:.2f} s, {end}"


def to_json(
    predicted: Prediction, found: Violation | None, path: str, step: int, saved: str | None
) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "presage": VERSION,
        "trace": path,
        "at": step,
        "predicted": found is not None,
        "property": None if found is None else found.prop,
        "kind": None if found is None else found.kind,
        "message": None if found is None else found.message,
        "path": [] if found is None or found.trace is None else _path(found),
        "found_by": predicted.found_by or None,
        "broken": list(predicted.broken),
        "not_judged": list(predicted.unjudged),
        "errors": list(predicted.errors),
        "exhausted": predicted.exhausted,
        "bound": predicted.bound,
        "states": predicted.states,
        "depth": predicted.depth,
        "seconds": round(predicted.seconds, 3),
        "lanes": [_lane_json(lane) for lane in predicted.lanes],
        "saved": saved,
    }


def _path(found: Violation) -> list[dict[str, str]]:
    steps = found.trace.steps if found.trace else ()
    return [{"node": step.node, "kind": step.kind, "event": step.label} for step in steps]


def _lane_json(lane: Lane) -> dict[str, Any]:
    return {
        "k": lane.own_events,
        "states": lane.states,
        "generated": lane.generated,
        "depth": lane.depth,
        "seconds": round(lane.seconds, 3),
        "bytes": lane.size,
        "stopped_by": lane.stopped_by,
        "left_out": lane.left_out,
    }
