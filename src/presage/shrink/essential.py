"""Which steps of a trace matter: the smallest set found that still ends as the trace does.

Delta debugging over steps, exactly as they happened, on live code; then over faults, all else being
kept. What "ends as the trace does" means depends on its kind: the property is decided again, the
loop closes again, or the dead state is reached again, be it with more faults left to happen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from presage._core import FAULTS
from presage.errors import Diverged
from presage.execution.lasso import endless
from presage.execution.prefix import PrefixReplay, Taken
from presage.execution.sandbox import NOW, Sandbox
from presage.execution.services import ServiceExecution
from presage.model.weights import RECOVERIES
from presage.model.world.event import FAULT_KINDS
from presage.model.world.snapshot import without_ghosts
from presage.model.world.system import System
from presage.model.world.world import World
from presage.props.property import Property
from presage.shrink.delta import minimize
from presage.trace.trace import Trace

STEPS_MAX = 50_000  # live steps spent on one trace


class EssentialSteps(Struct, frozen=True):
    """What is left when nothing more can be left out."""

    steps: tuple[int, ...]  # that matter, from 1
    of: int  # how many were tried: those up to where the trace is decided
    faults: tuple[int, ...]  # that are needed when everything else stays
    spare: tuple[int, ...]  # faults that are not
    complete: bool  # false: time ran out, fewer may do


def needed(
    system: System, sandbox: Sandbox, trace: Trace, taken: Sequence[Taken], seconds: float
) -> EssentialSteps:
    """The steps of `trace`, taken by the events `taken`, that matter."""
    prop = next((each for each in system.properties if each.name == trace.prop), None)
    last = trace.critical or (trace.loop - 1 if trace.loop else trace.step)
    course = PrefixReplay(system, sandbox, trace.choices, prop)
    ends = _ending(system, trace, taken, course, prop)
    deadline = NOW() + seconds

    def go_on() -> bool:
        return course.spent < STEPS_MAX and NOW() < deadline

    def attempt(kept: Sequence[int]) -> list[int] | None:
        events = [taken[at] for at in kept]
        if not ends(events):
            return None
        happened = {id(event) for event in course.taken}
        return [at for at in kept if id(taken[at]) in happened]

    every = list(range(last))
    faults = [at for at in every if trace.steps[at].kind in FAULT_KINDS]
    others = [at for at in every if at not in faults]
    fewest = minimize(faults, lambda kept: _only(faults, attempt(sorted([*others, *kept]))), go_on)
    steps = minimize(every, attempt, go_on)
    if any(at not in fewest for at in steps if at in faults):
        # Two ways to do with less were found; tell of the one that leaves out steps.
        fewest = [at for at in steps if at in faults]
    return EssentialSteps(
        tuple(at + 1 for at in steps),
        last,
        tuple(at + 1 for at in fewest),
        tuple(at + 1 for at in faults if at not in fewest),
        go_on(),
    )


def _only(faults: Sequence[int], kept: Sequence[int] | None) -> list[int] | None:
    return None if kept is None else [at for at in kept if at in faults]


def _ending(
    system: System,
    trace: Trace,
    taken: Sequence[Taken],
    course: PrefixReplay,
    prop: Property | None,
) -> Callable[[Sequence[Taken]], bool]:
    """Whether events end as the trace does; `course` then holds what happened of them."""
    if trace.loop is not None:
        return lambda events: _closes(trace, taken, course, events)
    if trace.critical is not None or trace.walked is not None:
        whole = course.take(taken[: trace.critical or trace.step], _on)
        dead = essence(system, whole.world)

        def dies(events: Sequence[Taken]) -> bool:
            return bool(essence(system, course.take(events, _on).world) == dead)

        return dies

    def decided(events: Sequence[Taken]) -> bool:
        course.take(events, ServiceExecution.verdict)
        return course.why is not None

    return decided


def _on(run: ServiceExecution) -> None:
    """Never stop."""


def _closes(
    trace: Trace, taken: Sequence[Taken], course: PrefixReplay, events: Sequence[Taken]
) -> bool:
    assert trace.loop is not None
    loop = taken[trace.loop - 1 : len(trace.steps)]
    run = course.take([*events, *loop], _on)
    stem = len(run.steps) - len(loop)
    if stem < 0 or [id(t) for t in course.taken[stem:]] != [id(t) for t in loop]:
        return False
    saved = run.world.save()
    try:
        why = endless(run, trace.initial, stem + 1, trace.fairness or "none", 1)
    except Diverged:
        return False
    finally:
        run.world.restore(saved)
    return why is not None


def essence(system: System, world: World) -> Any:
    """What decides how a state goes on without further faults: all but ghosts and spare faults."""
    saved = world.save()
    automata = zip(system.automata, saved.locals, strict=True)
    local = [without_ghosts(automaton.ghosts, values) for automaton, values in automata]
    left = [saved.budgets[at] for at, fault in enumerate(FAULTS) if fault in RECOVERIES]
    return (local, saved.observers, left, saved.transport)
