"""An execution of services on a live `World`, and what properties say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from presage.errors import BadTrace
from presage.execution.chance import Dice, Weighed, drawn, likely
from presage.execution.conjuncts import because
from presage.execution.lasso import endless
from presage.execution.protocol import NO_EXCEPTION, PropertyStatus
from presage.execution.sandbox import Sandbox
from presage.execution.state import State, States
from presage.model.choice import NOT_THEIRS
from presage.model.world.event import MISHAPS, Event, Step
from presage.model.world.stimulus import place_of_handler
from presage.model.world.system import System
from presage.model.world.world import World
from presage.props.property import Property, Verdict
from presage.records import NamedTuple
from presage.trace.plain import shortened
from presage.trace.trace import Sent, Trace, TraceStep

NEW_LIFE = frozenset({"reset", "silent"})
Move = tuple[Event, tuple[int, ...]]


class LastStep(NamedTuple):
    """What properties of steps have to know of one."""

    node: str
    kind: str
    failure: str | None


class ServiceExecution:
    """A live execution, and whether it decides a property in its last state or step."""

    def __init__(
        self, system: System, sandbox: Sandbox, world: World, prop: Property | None = None
    ) -> None:
        self.system = system
        self.sandbox = sandbox
        self.world = world
        self.prop = prop
        self.initial = world.fingerprint
        self.steps: list[Step] = []
        self.tried = 0  # steps that were taken by chance, and perhaps taken back
        self._last: LastStep | None = None
        self._states: States | None = None
        self._before: Any = None  # the node of the last step as it was before
        properties = [*system.properties, *([prop] if prop else [])]
        self._judges_steps = any(each.kind == "step" for each in properties)

    @classmethod
    def begin(
        cls,
        system: System,
        sandbox: Sandbox,
        choices: Sequence[int],
        prop: Property | None = None,
    ) -> ServiceExecution:
        """One that stands at the initial state which `choices` lead to."""
        return cls(system, sandbox, sandbox.run(World.initial, system, tuple(choices)), prop)

    @classmethod
    def after(
        cls, system: System, sandbox: Sandbox, world: World, step: TraceStep, before: World
    ) -> ServiceExecution:
        """One that stands in `world`, after a step that was taken elsewhere, in `before`."""
        execution = cls(system, sandbox, world)
        execution._last = LastStep(step.node, step.kind, step.failure)
        execution._remember(before, step.node, step.kind)
        return execution

    @property
    def fingerprint(self) -> int:
        return self.world.fingerprint

    @property
    def here(self) -> int:
        """The fingerprint after the last step, where nothing else has changed the world."""
        return self.steps[-1].fingerprint if self.steps else self.initial

    def options(self) -> list[Event]:
        events: list[Event] = self.sandbox.run(self.world.enabled)
        return events

    def resolve(self, step: TraceStep) -> Move:
        return event_of(self.world, step, self.sandbox), tuple(k for k, _ in step.choices)

    def take(self, move: Move) -> Step:
        self.apply(*move)
        return self.steps[-1]

    def apply(self, event: Event, choices: tuple[int, ...]) -> None:
        self._remember(self.world, event.node, event.kind)
        step: Step = self.sandbox.run(self.world.apply, event, choices)
        self._last = LastStep(event.node, event.kind, step.failure)
        self.steps.append(step)

    def likely(self, *, calm: bool) -> Weighed:
        """The events by which walks may go on from here."""
        return likely(self.world, self.sandbox, calm=calm)

    def wander(self, dice: Dice, events: Weighed) -> bool:
        """Take a step, drawn by weight from the likely ones, that leads elsewhere; False: none."""
        here, saved = self.here, self.world.save()
        for each in drawn(self.world, self.sandbox, dice, events):
            self.tried += 1
            self.apply(*each)
            if self.steps[-1].fingerprint != here:
                return True
            self.steps.pop()
            self.world.restore(saved)
        return False

    def _remember(self, world: World, node: str, kind: str) -> None:
        """What a step at `node` will be compared with."""
        if self._judges_steps:
            here = kind not in MISHAPS and node in self.system.indices
            self._before = world.view()[node] if here else None

    def trace_steps(self) -> tuple[TraceStep, ...]:
        return tuple(TraceStep.of(step, index) for index, step in enumerate(self.steps, 1))

    def state(self) -> State:
        if self._states is None:
            self._states = States(self.system)  # which shares what did not change
        return self._states.of(self.world)

    def place(self) -> str:
        return place_of_handler(self.system, self.steps[-1].event) if self.steps else ""

    def opening(self) -> tuple[tuple[str, ...], tuple[Sent, ...]]:
        opening = self.world.opening
        logs = tuple(f"{node}: {text}" for node, text in opening.logs)
        return logs, tuple(map(TraceStep.sent, opening.sends))

    def close(self) -> None:
        """A world holds nothing that runs."""

    # -- what properties say -----------------------------------------------------------------

    def statuses(self, *, at_end: bool = False) -> dict[str, PropertyStatus]:
        found = {
            prop.name: replace(self._status(prop, at_end), kind=prop.kind, source=prop.source)
            for prop in self.system.properties
        }
        failure = self._last.failure if self._last else self.world.start_failure
        return found | {NO_EXCEPTION: PropertyStatus(failure is None, shortened(failure or ""))}

    def is_broken(self) -> bool:
        """An `eventually` cannot be broken by a step."""
        eventually = self.prop is not None and self.prop.kind == "eventually"
        return not eventually and self.verdict() is not None

    def outcome(self, trace: Trace) -> str | None:
        if trace.kind == "live":  # one `eventually` holds at its end
            eventually = self.prop is not None and self.prop.kind == "eventually"
            return self.lacks() if eventually else None
        if trace.walked is not None:  # it went on: that it ends here means nothing
            return self.lacks()
        if trace.loop is not None:
            return endless(self, trace.initial, trace.loop, trace.fairness or "none", 1)
        return self.verdict()

    def verdict(self) -> str | None:
        """Why the property is decided here (violated, or for `sometimes` reached); None if not."""
        prop = self.prop
        if prop is None:
            return self._failure()
        if prop.kind == "step":
            return self._step_verdict(prop)
        if prop.kind in ("eventually", "deadlock") and not self.sandbox.run(self.world.at_rest):
            return None
        return self._decided(prop, prop.kind == "sometimes")

    def lacks(self) -> str | None:
        """Why the property, one of worlds, does not hold here; None if it does."""
        assert self.prop is not None, "exceptions are not asked for in a world"
        return self._decided(self.prop, False)

    def breaks(self, prop: Property) -> bool:
        """Whether another property, one of worlds, does not hold here."""
        return self._decided(prop, False) is not None

    def _decided(self, prop: Property, decisive: bool) -> str | None:
        verdict, _ = self._ask(prop, self.world.view())
        if verdict is None or verdict.holds != decisive:
            return None
        if verdict.why or verdict.holds:
            return verdict.why or f"`{prop.name}` is {verdict.holds}"
        why: str = self.sandbox.run(because, prop, self.world.view())
        return why

    def _failure(self) -> str | None:
        if self.steps:
            return self.steps[-1].failure
        failures = self.world.opening.failures
        return "; ".join(f"{node}: {text}" for node, text in failures.items()) or None

    def _step_verdict(self, prop: Property) -> str | None:
        seen = self._seen_by_step(prop)
        verdict = self._ask(prop, *seen)[0] if seen else None
        if verdict is None or verdict.holds:
            return None
        node = self._last.node if self._last else ""
        return verdict.why or f"`{prop.name}` is False for {node} before and after this step"

    def _status(self, prop: Property, at_end: bool) -> PropertyStatus:
        if prop.kind == "step":
            seen = self._seen_by_step(prop)
            return self._judged(prop, *seen) if seen else PropertyStatus(None)
        if prop.kind == "deadlock" and not (at_end and self.sandbox.run(self.world.at_rest)):
            return PropertyStatus(None)
        return self._judged(prop, self.world.view())

    def _seen_by_step(self, prop: Property) -> tuple[Any, Any] | None:
        """The node before and after the last step; None if no node that `prop` is of took it."""
        if self._last is None or self._before is None or self._last.kind in NEW_LIFE:
            return None
        node = self._last.node
        automaton = self.system.automata[self.system.index(node)]
        if prop.of is not None and not issubclass(automaton.service, prop.of):
            return None
        after = self.world.view()[node]
        if not (self._before.presage.up and after.presage.up):
            return None
        return self._before, after

    def _judged(self, prop: Property, *seen: Any) -> PropertyStatus:
        verdict, error = self._ask(prop, *seen)
        if verdict is None:
            return PropertyStatus(None, shortened(error))
        why = verdict.why
        if not verdict.holds and not why:
            why = self.sandbox.run(because, prop, *seen)
        return PropertyStatus(verdict.holds, shortened(why))

    def _ask(self, prop: Property, *seen: Any) -> tuple[Verdict | None, str]:
        """The verdict, or None and why the predicate cannot say: that is no violation."""
        try:
            return self.sandbox.run(prop.judge, *seen), ""
        except NOT_THEIRS:
            raise
        except BaseException as error:
            return None, f"{type(error).__name__}: {error}"


def event_of(world: World, step: TraceStep, sandbox: Sandbox) -> Event:
    """The event of `step`, which must be possible in `world`."""
    enabled: list[Event] = sandbox.run(world.enabled)
    for event in enabled:
        if step.matches(event):
            return event
    possible = ", ".join(f"`{event}` at {event.node}" for event in enabled[:5]) or "nothing"
    raise BadTrace(
        f"step {step.index} (`{step.label}` at {step.node}) is not possible any more;"
        f" possible is {possible}",
        "the system was changed since the trace was made, or other parameters were given",
        "make the trace again with `presage check`",
    )
