"""A trace told again by live code: the whole state after each step, and what was true of it.

Everything that shows a trace (a page, an export, a debugger) reads this. Every fingerprint is
compared on the way, as in a replay, so what is told is what happened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from presage.errors import HandlerStuck
from presage.model.choice import NOT_THEIRS
from presage.model.event import MISHAPS
from presage.model.handling import place_of_handler
from presage.model.system import System
from presage.model.world import World
from presage.process.fence import Fence
from presage.process.program import Program
from presage.process.world import ProcessWorld
from presage.props.property import Property
from presage.search.conjuncts import because
from presage.search.moments import state_of
from presage.search.replay import event_of, expect, same_steps
from presage.search.runs import broken, retrace
from presage.search.states import State, States
from presage.search.watch import SECONDS_DEFAULT, Watch
from presage.trace.plain import shortened
from presage.trace.trace import Sent, Trace, TraceStep

NO_EXCEPTION = "no_exception"
NEW_LIFE = frozenset({"reset", "silent"})


@dataclass(frozen=True)
class Said:
    """What a property says of one state; `holds` is None where it says nothing."""

    holds: bool | None
    why: str = ""
    kind: str = "always"  # of the property
    source: str = field(default="", compare=False)  # file:line of it


@dataclass(frozen=True)
class Scene:
    """The world after one step."""

    index: int  # of the step, from 1; 0 is the initial state
    step: TraceStep | None  # None: the initial state
    state: State
    verdicts: dict[str, Said]
    source: str = ""  # file:line of the handler that ran, or of the line where a process stood
    logs: tuple[str, ...] = ()
    sends: tuple[Sent, ...] = field(default_factory=tuple)


def retell(
    system: System | Program,
    trace: Trace,
    *,
    handler_seconds: float = SECONDS_DEFAULT,
    give_up: Callable[[HandlerStuck], None] | None = None,
) -> tuple[Scene, ...]:
    """The initial state and the state after each step of `trace`, taken on live code.

    Raises as `replay` does, where the system is no longer the one that the trace was made of.
    """
    if isinstance(system, Program):
        return _retell_program(system, trace, handler_seconds, give_up)
    with Watch(handler_seconds, give_up) as watch:
        world: World = watch.run(World.initial, system, trace.choices)
        expect(trace.initial, world, "the initial state")
        states, judge = States(system), Judge(system, watch)
        opening = world.opening
        scenes = [
            Scene(
                0,
                None,
                states.of(world),
                judge.all(world, None),
                logs=tuple(f"{node}: {text}" for node, text in opening.logs),
                sends=tuple(TraceStep.sent(each) for each in opening.sends),
            )
        ]
        for told in trace.steps:
            event = event_of(world, told, watch)
            judge.before(world, event.node)
            live = watch.run(world.apply, event, tuple(k for k, _ in told.choices))
            expect(told.fingerprint, world, f"step {told.index} (`{told.label}` at {told.node})")
            step = TraceStep.of(live, told.index)
            last = told.index == len(trace.steps)
            scenes.append(
                Scene(
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
) -> tuple[Scene, ...]:
    states: list[State] = []
    verdicts: list[dict[str, Said]] = []
    places: list[dict[str, str]] = []  # where each process stands, before the step that comes next
    with Watch(handler_seconds, give_up) as watch, Fence():

        def look(world: ProcessWorld) -> None:
            states.append(state_of(world))
            verdicts.append(said_of(world, watch))
            places.append({name: member.live.place for name, member in world.members.items()})

        told = retrace(program, trace.steps, watch.run, look)
    same_steps(trace, told)
    opening = told.world.opening.items()
    first = Scene(
        0,
        None,
        states[0],
        verdicts[0],
        logs=tuple(f"{name}: {line}" for name, lines in opening for line in lines),
    )
    later = zip(told.steps, states[1:], verdicts[1:], places[:-1], strict=True)
    return first, *(
        Scene(step.index, step, state, said, stood.get(step.node, ""), step.logs, step.sends)
        for step, state, said, stood in later
    )


def said_of(world: ProcessWorld, watch: Watch) -> dict[str, Said]:
    """What is claimed of every program, and of this one, in one world."""
    claims = {prop.name: prop.source for prop in world.program.properties}
    said = dict.fromkeys([NO_EXCEPTION, "no_deadlock"], Said(True))
    said |= {name: Said(True, source=source) for name, source in claims.items()}
    if world.program.leftovers:
        said["no_leftovers"] = Said(True)
    try:
        found = broken(world, watch.run)
    except NOT_THEIRS:
        raise
    except BaseException as error:  # a predicate that cannot say: that is no violation
        if watch.error is not None:
            raise
        why = shortened(f"{type(error).__name__}: {error}")
        return said | {name: Said(None, why, source=claims[name]) for name in claims}
    return said | {
        each.prop: Said(False, shortened(each.message), source=claims.get(each.prop, ""))
        for each in found
    }


class Judge:
    """Asks every property of a system about the states of one execution."""

    def __init__(self, system: System, watch: Watch) -> None:
        self._system = system
        self._watch = watch
        self._before: Any = None
        self._steps = any(prop.kind == "step" for prop in system.properties)

    def before(self, world: World, node: str) -> None:
        """Remember what a step that is about to happen at `node` will be compared with."""
        if self._steps:
            self._before = world.view()[node] if node in self._system.indices else None

    def all(self, world: World, step: TraceStep | None, at_end: bool = False) -> dict[str, Said]:
        """What each property says, by name; `no_exception` is one of them."""
        told = {
            prop.name: replace(
                self._ask(prop, world, step, at_end), kind=prop.kind, source=prop.source
            )
            for prop in self._system.properties
        }
        failure = step.failure if step else world.start_failure
        return told | {NO_EXCEPTION: Said(failure is None, shortened(failure or ""))}

    def _ask(self, prop: Property, world: World, step: TraceStep | None, at_end: bool) -> Said:
        if prop.kind == "step":
            return self._of_step(prop, world, step)
        if prop.kind == "deadlock" and not (at_end and self._watch.run(world.at_rest)):
            return Said(None)
        return self._judge(prop, world.view())

    def _of_step(self, prop: Property, world: World, step: TraceStep | None) -> Said:
        if step is None or step.kind in MISHAPS | NEW_LIFE or self._before is None:
            return Said(None)
        automaton = self._system.automata[self._system.index(step.node)]
        if prop.of is not None and not issubclass(automaton.service, prop.of):
            return Said(None)
        after = world.view()[step.node]
        if not (self._before.presage.up and after.presage.up):
            return Said(None)
        return self._judge(prop, self._before, after)

    def _judge(self, prop: Property, *seen: Any) -> Said:
        try:
            verdict = self._watch.run(prop.judge, *seen)
        except NOT_THEIRS:
            raise
        except BaseException as error:  # a predicate that cannot say: that is no violation
            return Said(None, shortened(f"{type(error).__name__}: {error}"))
        why = verdict.why
        if not verdict.holds and not why:
            why = self._watch.run(because, prop, *seen)
        return Said(verdict.holds, shortened(why))
