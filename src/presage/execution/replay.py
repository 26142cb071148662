"""Do again what a trace says, on live code, and compare every fingerprint on the way."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from presage.errors import Diverged, HandlerStuck, Nondeterminism
from presage.execution.begin import begun, property_of, system_of
from presage.execution.protocol import Execution
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.execution.services import ServiceExecution
from presage.model.world.event import Step
from presage.model.world.system import System
from presage.process.program import Program
from presage.trace.trace import Trace, TraceStep


class Replayed(Struct, frozen=True):
    """What came of a replay: `message` says how the property broke again, None that it did not."""

    steps: tuple[Step, ...] | tuple[TraceStep, ...]
    message: str | None
    rounds: int = 0  # how often the loop was gone round once more


def replay(
    system: System | Program,
    trace: Trace,
    *,
    handler_seconds: float = SECONDS_DEFAULT,
    give_up: Callable[[HandlerStuck], None] | None = None,
) -> Replayed:
    """Replay `trace` on `system`.

    Raises `BadTrace` where a step is no longer possible, `Diverged` where a step leads to another
    state than it did, and `Nondeterminism` where it leads elsewhere each time.
    """
    with Sandbox(handler_seconds, give_up) as sandbox:
        try:
            return _again(system, trace, sandbox)
        except Diverged as first:
            # Chance would make a second attempt differ from the first; an edit would not.
            try:
                _again(system, trace, sandbox)
            except Diverged as second:
                if str(second) == str(first):
                    raise first from None
            raise Nondeterminism(f"two replays of one trace went different ways: {first}") from None


def _again(system: System | Program, trace: Trace, sandbox: Sandbox) -> Replayed:
    good, broke = trace.kind == "live", False

    def look(execution: Execution) -> None:
        nonlocal broke
        broke = broke or (good and execution.is_broken())

    with begun(system, trace, sandbox) as execution:
        retrace(execution, trace, look)
        why = execution.outcome(trace)
        if good:
            why = None if broke or why is not None else trace.message
        return Replayed(tuple(execution.steps), why, rounds=int(trace.loop is not None))


def retrace(
    execution: Execution, trace: Trace, each: Callable[[Execution], None] = lambda _: None
) -> None:
    """Take the steps of `trace`, each state compared; `each` sees the execution after each."""
    _expect(trace.initial, execution, "the initial state")
    for step in trace.steps:
        execution.take(execution.resolve(step))
        _expect(step.fingerprint, execution, f"step {step.index} (`{step.label}` at {step.node})")
        each(execution)


def retraced(system: System, trace: Trace, sandbox: Sandbox) -> ServiceExecution:
    """The execution of services that `trace` tells of, taken again."""
    system = system_of(system, trace)
    prop = property_of(system, trace)
    execution = ServiceExecution.begin(system, sandbox, trace.choices, prop)
    retrace(execution, trace)
    return execution


def _expect(fingerprint: int, execution: Execution, where: str) -> None:
    if execution.fingerprint != fingerprint:
        raise Diverged(where, fingerprint, execution.fingerprint)
