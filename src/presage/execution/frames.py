"""A trace told again by live code: the whole state after each step, and what was true of it.

Everything that shows a trace (a page, an export, a debugger) reads this. Every fingerprint is
compared on the way, as in a replay, so what is told is what happened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from presage.errors import HandlerStuck
from presage.execution.conjuncts import because
from presage.execution.process_state import state_of
from presage.execution.processes import failures_in, retrace
from presage.execution.replay import event_of, expect, same_steps
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.execution.state import State, States
from presage.model.choice import NOT_THEIRS
from presage.model.event import MISHAPS
from presage.model.handling import place_of_handler
from presage.model.system import System
from presage.model.world import World
from presage.process.fence import Fence
from presage.process.program import Program
from presage.process.world import ProcessWorld
from presage.props.property import Property
from presage.trace.plain import shortened
from presage.trace.trace import Sent, Trace, TraceStep

NO_EXCEPTION = "no_exception"
NEW_LIFE = frozenset({"reset", "silent"})


@dataclass(frozen=True)
class PropertyStatus:
    """What a property says of one state; `holds` is None where it says nothing."""

    holds: bool | None
    why: str = ""
    kind: str = "always"  # of the property
    source: str = field(default="", compare=False)  # file:line of it


@dataclass(frozen=True)
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
    handler_seconds: float = SECONDS_DEFAULT,
    give_up: Callable[[HandlerStuck], None] | None = None,
) -> tuple[Frame, ...]:
    """The initial state and the state after each step of `trace`, taken on live code.

    Raises as `replay` does, where the system is no longer the one that the trace was made of.
    """
    if isinstance(system, Program):
        return _retell_program(system, trace, handler_seconds, give_up)
    with Sandbox(handler_seconds, give_up) as sandbox:
        world: World = sandbox.run(World.initial, system, trace.choices)
        expect(trace.initial, world, "the initial state")
        states, judge = States(system), Judge(system, sandbox)
        opening = world.opening
        scenes = [
            Frame(
                0,
                None,
                states.of(world),
                judge.all(world, None),
                logs=tuple(f"{node}: {text}" for node, text in opening.logs),
                sends=tuple(TraceStep.sent(each) for each in opening.sends),
            )
        ]
        for told in trace.steps:
            event = event_of(world, told, sandbox)
            judge.before(world, event.node)
            live = sandbox.run(world.apply, event, tuple(k for k, _ in told.choices))
            expect(told.fingerprint, world, f"step {told.index} (`{told.label}` at {told.node})")
            step = TraceStep.of(live, told.index)
            last = told.index == len(trace.steps)
            scenes.append(
                Frame(
                    told.index,
                    step,
                    states.of(world),
                    judge.all(world, step, at_end=last),
                    place_of_handler(system, event),
                    step.logs,
                    step.sends,
                )
            )
    return tuple(scenes)


def _retell_program(
    program: Program,
    trace: Trace,
    handler_seconds: float,
    give_up: Callable[[HandlerStuck], None] | None,
) -> tuple[Frame, ...]:
    states: list[State] = []
    verdicts: list[dict[str, PropertyStatus]] = []
    places: list[dict[str, str]] = []  # where each process stands, before the step that comes next
    with Sandbox(handler_seconds, give_up) as sandbox, Fence():

        def look(world: ProcessWorld) -> None:
            states.append(state_of(world))
            verdicts.append(process_statuses(world, sandbox))
            places.append({name: member.live.place for name, member in world.members.items()})

        told = retrace(program, trace.steps, sandbox.run, look)
    same_steps(trace, told)
    opening = told.world.opening.items()
    first = Frame(
        0,
        None,
        states[0],
        verdicts[0],
        logs=tuple(f"{name}: {line}" for name, lines in opening for line in lines),
    )
    later = zip(told.steps, states[1:], verdicts[1:], places[:-1], strict=True)
    return first, *(
        Frame(step.index, step, state, said, stood.get(step.node, ""), step.logs, step.sends)
        for step, state, said, stood in later
    )


def process_statuses(world: ProcessWorld, sandbox: Sandbox) -> dict[str, PropertyStatus]:
    """What is claimed of every program, and of this one, in one world."""
    claims = {prop.name: prop.source for prop in world.program.properties}
    said = dict.fromkeys([NO_EXCEPTION, "no_deadlock"], PropertyStatus(True))
    said |= {name: PropertyStatus(True, source=source) for name, source in claims.items()}
    if world.program.leftovers:
        said["no_leftovers"] = PropertyStatus(True)
    try:
        found = failures_in(world, sandbox.run)
    except NOT_THEIRS:
        raise
    except BaseException as error:  # a predicate that cannot say: that is no violation
        if sandbox.error is not None:
            raise
        why = shortened(f"{type(error).__name__}: {error}")
        return said | {name: PropertyStatus(None, why, source=claims[name]) for name in claims}
    return said | {
        each.prop: PropertyStatus(False, shortened(each.message), source=claims.get(each.prop, ""))
        for each in found
    }


class Judge:
    """Asks every property of a system about the states of one execution."""

    def __init__(self, system: System, sandbox: Sandbox) -> None:
        self._system = system
        self._sandbox = sandbox
        self._before: Any = None
        self._steps = any(prop.kind == "step" for prop in system.properties)

    def before(self, world: World, node: str) -> None:
        """Remember what a step that is about to happen at `node` will be compared with."""
        if self._steps:
            self._before = world.view()[node] if node in self._system.indices else None

    def all(
        self, world: World, step: TraceStep | None, at_end: bool = False
    ) -> dict[str, PropertyStatus]:
        """What each property says, by name; `no_exception` is one of them."""
        told = {
            prop.name: replace(
                self._ask(prop, world, step, at_end), kind=prop.kind, source=prop.source
            )
            for prop in self._system.properties
        }
        failure = step.failure if step else world.start_failure
        return told | {NO_EXCEPTION: PropertyStatus(failure is None, shortened(failure or ""))}

    def _ask(
        self, prop: Property, world: World, step: TraceStep | None, at_end: bool
    ) -> PropertyStatus:
        if prop.kind == "step":
            return self._of_step(prop, world, step)
        if prop.kind == "deadlock" and not (at_end and self._sandbox.run(world.at_rest)):
            return PropertyStatus(None)
        return self._judge(prop, world.view())

    def _of_step(self, prop: Property, world: World, step: TraceStep | None) -> PropertyStatus:
        if step is None or step.kind in MISHAPS | NEW_LIFE or self._before is None:
            return PropertyStatus(None)
        automaton = self._system.automata[self._system.index(step.node)]
        if prop.of is not None and not issubclass(automaton.service, prop.of):
            return PropertyStatus(None)
        after = world.view()[step.node]
        if not (self._before.presage.up and after.presage.up):
            return PropertyStatus(None)
        return self._judge(prop, self._before, after)

    def _judge(self, prop: Property, *seen: Any) -> PropertyStatus:
        try:
            verdict = self._sandbox.run(prop.judge, *seen)
        except NOT_THEIRS:
            raise
        except BaseException as error:  # a predicate that cannot say: that is no violation
            return PropertyStatus(None, shortened(f"{type(error).__name__}: {error}"))
        why = verdict.why
        if not verdict.holds and not why:
            why = self._sandbox.run(because, prop, *seen)
        return PropertyStatus(verdict.holds, shortened(why))
