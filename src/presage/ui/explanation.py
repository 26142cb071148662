"""A trace explained: the paragraph, as text and as data; and in brief, under a violation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from presage.debug.explain import SECONDS_MAX, Explanation, explain, explain_briefly
from presage.debug.session import Session
from presage.errors import BadTrace, HandlerStuck, PresageError
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.model.world.system import System
from presage.process.program import Program
from presage.search.report import Violation
from presage.trace import codec
from presage.trace.trace import Trace
from presage.ui.story import violation_of
from presage.ui.theme import Theme

BRIEF_SECONDS = 1.0
BRIEF_STEPS_MAX = 300


def of(
    system: System | Program,
    trace: Trace,
    path: str | Path,
    give_up: Callable[[HandlerStuck], None] | None = None,
) -> Explanation:
    """Explain the trace read from `path`."""
    if trace.kind == "live":
        raise BadTrace(
            f"`{path}` is a good run: nothing breaks in it",
            "a snapshot of live nodes was named, or the nearest good run",
            "explain the trace of the violation",
        )
    beside = codec.live_of(path, trace)
    live = codec.read(beside) if beside else None
    with Sandbox(SECONDS_DEFAULT, give_up) as sandbox:
        session = Session(system, trace, sandbox)
        return explain(session, violation_of(trace).fact, live, SECONDS_MAX)


def brief(system: object, violation: Violation) -> str:
    """What an explanation adds to a violation that is shown anyway; "" if that is nothing."""
    trace = violation.trace
    if (
        trace is None
        or len(trace.steps) > BRIEF_STEPS_MAX
        or not isinstance(system, System | Program)
    ):
        return ""
    try:
        with Sandbox() as sandbox:
            session = Session(system, trace, sandbox)
            return explain_briefly(session, violation_of(trace).fact, BRIEF_SECONDS).brief
    except PresageError:  # the violation is told all the same
        return ""


def render(explanation: Explanation, theme: Theme) -> str:
    """The paragraph, as wide as the output is."""
    return "\n".join(theme.wrap("", explanation.text))


def to_json(explanation: Explanation) -> dict[str, Any]:
    needed, other = explanation.needed, explanation.difference
    return {
        "fact": explanation.fact,
        "failed": [{"part": part.text, "why": part.why} for part in explanation.failed],
        "step": explanation.step,
        "steps": list(needed.steps),
        "of": needed.of,
        "faults": list(needed.faults),
        "spare_faults": list(needed.spare),
        "complete": needed.complete,
        "differs_at": None if other is None else other.step,
        "text": explanation.text,
    }
