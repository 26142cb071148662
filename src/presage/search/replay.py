"""Do again what a trace says, on live code, and compare every fingerprint on the way."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from presage.errors import BadTrace, Diverged, HandlerStuck, Nondeterminism, explain
from presage.model.event import Event, Step
from presage.model.system import System
from presage.model.world import World
from presage.process.fence import Fence
from presage.process.program import Program
from presage.process.world import ProcessWorld
from presage.props.property import Property
from presage.search.confirm import Run
from presage.search.lasso import endless
from presage.search.runs import Told, broken, retrace
from presage.search.watch import SECONDS_DEFAULT, Watch
from presage.trace.trace import ORDINARY, Trace, TraceStep


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
    with Watch(handler_seconds, give_up) as watch:
        try:
            return _again(system, trace, watch)
        except Diverged as first:
            # Chance would make a second attempt differ from the first; an edit would not.
            try:
                _again(system, trace, watch)
            except Diverged as second:
                if str(second) == str(first):
                    raise first from None
            raise Nondeterminism(f"two replays of one trace went different ways: {first}") from None


def _again(system: System | Program, trace: Trace, watch: Watch) -> Replayed:
    if isinstance(system, Program):
        return _follow_program(system, trace, watch)
    return _follow(system, trace, watch)


def _follow_program(program: Program, trace: Trace, watch: Watch) -> Replayed:
    live, kept = trace.kind == "live", True

    def look(world: ProcessWorld) -> None:
        nonlocal kept
        breaks = live and any(each.prop == trace.prop for each in broken(world, watch.run))
        kept = kept and not breaks

    with Fence():
        told = retrace(program, trace.steps, watch.run, look)
        found = [each for each in broken(told.world, watch.run) if each.prop == trace.prop]
    same_steps(trace, told)
    if live:
        return Replayed(told.steps, trace.message if kept else None)
    return Replayed(told.steps, found[0].message if found else None)


def same_steps(trace: Trace, told: Told) -> None:
    """Refuse a run of a program that went another way than its trace."""
    for was, now in zip(trace.steps, told.steps, strict=True):
        if was.fingerprint != now.fingerprint:
            where = f"step {was.index} (`{was.label}` of {was.node})"
            raise Diverged(where, was.fingerprint, now.fingerprint)


def taken(
    system: System, trace: Trace, watch: Watch, each: Callable[[Run], None] = lambda _: None
) -> Run:
    """The steps of `trace`, taken again from the start; `each` sees the run after each."""
    world: World = watch.run(World.initial, system, trace.choices)
    expect(trace.initial, world, "the initial state")
    run = Run(system, watch, world, _property(system, trace))
    for step in trace.steps:
        event = event_of(world, step, watch)
        run.apply(event, tuple(k for k, _ in step.choices))
        expect(step.fingerprint, world, f"step {step.index} (`{step.label}` at {step.node})")
        each(run)
    return run


def _follow(system: System, trace: Trace, watch: Watch) -> Replayed:
    if trace.kind == "live":
        return _follow_good(system, trace, watch)
    run = taken(system, trace, watch)
    steps = tuple(run.steps)
    if trace.walked is not None:  # it went on: that it ends here means nothing
        return Replayed(steps, run.lacks())
    if trace.loop is None:
        return Replayed(steps, run.verdict())
    fairness = trace.fairness or "none"
    return Replayed(steps, endless(run, trace.initial, trace.loop, fairness, 1), rounds=1)


def _follow_good(system: System, trace: Trace, watch: Watch) -> Replayed:
    """Of an execution that comes right: one `eventually` holds at its end, all else all along."""
    broke = False

    def look(run: Run) -> None:
        nonlocal broke
        if run.prop is None or run.prop.kind != "eventually":
            broke = broke or run.verdict() is not None

    run = taken(system, trace, watch, look)
    if run.prop is not None and run.prop.kind == "eventually":
        broke = run.lacks() is not None
    return Replayed(tuple(run.steps), None if broke else trace.message)


def _property(system: System, trace: Trace) -> Property | None:
    if trace.prop in ("no_exception", ORDINARY):
        return None
    for prop in system.properties:
        if prop.name == trace.prop:
            found: Property = prop
            return found
    raise BadTrace(
        explain(
            f"the system has no property `{trace.prop}`, which the trace breaks",
            "the property was renamed or removed since the trace was made",
            "make the trace again with `presage check`",
        )
    )


def event_of(world: World, step: TraceStep, watch: Watch) -> Event:
    """The event of `step`, which must be possible in `world`."""
    enabled: list[Event] = watch.run(world.enabled)
    for event in enabled:
        if step.matches(event):
            return event
    possible = ", ".join(f"`{event}` at {event.node}" for event in enabled[:5]) or "nothing"
    raise BadTrace(
        explain(
            f"step {step.index} (`{step.label}` at {step.node}) is not possible any more;"
            f" possible is {possible}",
            "the system was changed since the trace was made, or other parameters were given",
            "make the trace again with `presage check`",
        )
    )


def expect(fingerprint: int, world: World, where: str) -> None:
    """Refuse to go on if `world` is not the state that the trace has there."""
    if world.fingerprint != fingerprint:
        raise Diverged(where, fingerprint, world.fingerprint)
