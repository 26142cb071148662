"""A trace taken again on live code: the whole state after each step, and what was true of it.

Everything that shows a trace (a page, an export, a debugger) reads this. Every fingerprint is
compared on the way, as in a replay, so a frame shows what happened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from presage.errors import HandlerStuck
from presage.execution.begin import begun
from presage.execution.protocol import Execution, PropertyStatus
from presage.execution.replay import retrace
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.execution.state import State
from presage.model.world.system import System
from presage.process.program import Program
from presage.records import record
from presage.trace.trace import Sent, Trace, TraceStep


@record(frozen=True)
class Frame:
    """The world after one step."""

    index: int  # of the step, from 1; 0 is the initial state
    step: TraceStep | None  # None: the initial state
    state: State
    verdicts: dict[str, PropertyStatus]
    source: str = ""  # file:line of the handler that ran, or of the line where a process stood
    logs: tuple[str, ...] = ()
    sends: tuple[Sent, ...] = field(default_factory=tuple)


def frames(
    system: System | Program,
    trace: Trace,
    *,
    give_up: Callable[[HandlerStuck], None] | None = None,
) -> tuple[Frame, ...]:
    """The initial state and the state after each step of `trace`, taken on live code.

    Raises as `replay` does, where the system is no longer the one that the trace was made of.
    """
    found: list[Frame] = []

    def look(execution: Execution) -> None:
        index = len(found)
        last = index == len(trace.steps)
        statuses = execution.statuses(at_end=last and index > 0)
        found.append(Frame(index, None, execution.state(), statuses, execution.place()))

    with Sandbox(SECONDS_DEFAULT, give_up) as sandbox, begun(system, trace, sandbox) as execution:
        look(execution)
        retrace(execution, trace, look)
        logs, sends = execution.opening()
        steps = execution.trace_steps()
    return replace(found[0], logs=logs, sends=sends), *(
        replace(frame, step=step, logs=step.logs, sends=step.sends)
        for frame, step in zip(found[1:], steps, strict=True)
    )
