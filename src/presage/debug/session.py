"""A session over a trace: where one is, which branches there are, and how to get elsewhere.

Answers are data, and nothing is printed. What was recorded never changes: to go on from the middle
of a branch, or from the trace itself, makes a new branch of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from presage.debug.branch import Branch, Option, Taken
from presage.debug.service_branch import ServiceBranch
from presage.debug.walk import LENGTH, WALKS, Walked, draw, holds, until_live
from presage.errors import BadCommand, PresageError
from presage.execution.chance import Dice
from presage.execution.conjuncts import Part, conjuncts
from presage.execution.protocol import PropertyStatus
from presage.execution.sandbox import Sandbox
from presage.execution.state import State
from presage.model.world.event import FAULT_OF, Event
from presage.model.world.extra_fault import granting
from presage.model.world.system import System
from presage.model.world.view import WorldView
from presage.model.world.world import World
from presage.process.program import Program
from presage.process.view import ProgramView
from presage.props.property import Property
from presage.trace.trace import Trace, TraceStep

MAIN = "main"


def branch_of(system: System | Program, sandbox: Sandbox, trace: Trace) -> Branch:
    """The execution that a trace of `system` tells of."""
    if isinstance(system, System):
        return ServiceBranch(system, sandbox, trace)
    from presage.debug.process_branch import ProcessBranch

    return ProcessBranch(system, sandbox, trace)


class Session:
    """A trace, its branches, and the place somebody is at."""

    def __init__(self, system: System | Program, trace: Trace, sandbox: Sandbox) -> None:
        self.trace = trace
        self.sandbox = sandbox
        self.branches: dict[str, Branch] = {MAIN: branch_of(system, sandbox, trace)}
        self.branch = MAIN
        self.step = 0
        self.rounds = 0  # how often the loop of the trace was gone round
        self.node: str | None = None
        self.calm = False
        self.notes: list[tuple[int, str]] = list(trace.notes)
        self.dice = Dice(trace.seed)

    # -- where one is ------------------------------------------------------------------------

    @property
    def here(self) -> Branch:
        return self.branches[self.branch]

    @property
    def names(self) -> tuple[str, ...]:
        return self.here.names

    @property
    def last(self) -> int:
        return len(self.here)

    @property
    def current(self) -> TraceStep | None:
        """The step one is at; None in the initial state."""
        return self.here.steps[self.step - 1] if self.step else None

    @property
    def critical(self) -> int | None:
        """The step to look at first: where hope ends, or where the property breaks."""
        trace = self.trace
        if trace.critical is not None:
            return trace.critical
        return None if trace.kind == "live" or trace.loop or trace.walked else trace.step

    @property
    def loop(self) -> int | None:
        """The step from which on this branch repeats for ever."""
        return self.trace.loop if self.branch == MAIN else None

    def jump(self, step: int) -> None:
        """Be after `step`; 0 is the initial state."""
        if not 0 <= step <= self.last:
            raise BadCommand(
                f"there is no step {step} on branch `{self.branch}`",
                "a step of another branch, or a slip of the finger",
                f"give one from 0 to {self.last}",
            )
        self.here.world(step)  # so that what cannot be replayed is said now
        self.step = step

    def forward(self, count: int = 1) -> int:
        """Go on by `count` steps, of the node that is selected; how many there were."""
        for done in range(count):
            after = self._after()
            if after is None:
                return done
            if after <= self.step:
                self._go_round(after)
            else:
                self.jump(after)
        return count

    def backward(self, count: int = 1) -> int:
        """Go back by `count` steps, of the node that is selected; how many there were."""
        for done in range(count):
            before = next(self._ahead(range(self.step - 1, 0, -1)), None)
            if before is None and self.node is None and self.step > 0:
                before = 0
            if before is None:
                return done
            self.jump(before)
        return count

    def _after(self) -> int | None:
        after = next(self._ahead(range(self.step + 1, self.last + 1)), None)
        if after is None and self.loop is not None:
            after = next(self._ahead(range(self.loop, self.last + 1)), None)
        return after

    def _ahead(self, steps: range) -> Iterator[int]:
        return (
            step
            for step in steps
            if self.node is None or self.here.steps[step - 1].node == self.node
        )

    def _go_round(self, step: int) -> None:
        """Begin the loop again, on live code, up to `step` of it."""
        assert self.loop is not None
        self.here.redo(self.loop, self.last)
        self.rounds += 1
        self.jump(step)

    def select(self, node: str | None) -> None:
        """Step and list by this node only; None: by all."""
        if node is not None and node not in self.names:
            raise BadCommand(
                f"there is no node `{node}`",
                "a misspelt name",
                f"one of {', '.join(self.names)}, or `all`",
            )
        self.node = node

    # -- branches ----------------------------------------------------------------------------

    def fork(self, name: str | None = None) -> str:
        """A new branch that begins with the steps up to here, and be on it."""
        name = name or self._name("b")
        if name in self.branches:
            raise BadCommand(
                f"there is a branch `{name}` already",
                "it was made before",
                f"`switch {name}`, or another name",
            )
        self.branches[name] = self.here.fork(self.step)
        self.branch = name
        return name

    def switch(self, name: str) -> None:
        """Be on another branch, at the same step as far as it has one."""
        if name not in self.branches:
            raise BadCommand(
                f"there is no branch `{name}`",
                "a misspelt name, or one that was never made",
                f"one of {', '.join(self.branches)}",
            )
        self.branch = name
        self.jump(min(self.step, self.last))

    def _name(self, stem: str) -> str:
        number = 1
        while f"{stem}{number}" in self.branches:
            number += 1
        return f"{stem}{number}"

    # -- going another way -------------------------------------------------------------------

    def options(self) -> list[Option]:
        return self.here.options(self.step, calm=self.calm)

    def take(self, taken: Taken) -> TraceStep:
        """Let something happen here; on a new branch unless this is the end of one's own."""
        if self.branch == MAIN or self.step < self.last:
            origin, step = self.branch, self.step
            self.fork()
            try:
                recorded = self.here.extend(taken)
            except BaseException:
                del self.branches[self.branch]
                self.branch, self.step = origin, step
                raise
        else:
            recorded = self.here.extend(taken)
        self.step = self.last
        return recorded

    def random(self) -> TraceStep | None:
        """Let chance choose; None where nothing likely leads elsewhere."""
        option = draw(self.options(), self.dice)
        return None if option is None else self.take(option.taken)

    def live(self, walks: int = WALKS, length: int = LENGTH) -> Walked:
        """Walk calmly from here until every `eventually` holds; be there, on a new branch."""
        claims = [prop for prop in self.here.properties if prop.kind == "eventually"]
        if not claims:
            raise BadCommand(
                "no property says what should come right",
                "the system has no `eventually`",
                "`random` goes on by chance, `until EXPR` looks for a state",
            )
        walked = until_live(self._copy(), self.sandbox, self.dice, claims, walks, length)
        if walked.steps:
            self.fork(self._name("live"))
            for taken in walked.steps:
                self.here.extend(taken)
            self.step = self.last
        return walked

    def fault(self, event: Event) -> tuple[TraceStep, bool]:
        """Make a fault happen by hand; true if it is beyond what the system allows."""
        assert event.kind in FAULT_OF or event.kind == "wake"
        beyond = event.kind in FAULT_OF and not self._allowed(event)
        return self.take(Taken(event, (), beyond)), beyond

    def _allowed(self, event: Event) -> bool:
        """Whether the system grants this fault at all, and still has some left of it."""
        world = self._copy()
        saved = world.save()
        try:
            self.sandbox.run(world.apply, event)
        except PresageError:
            # Refused with one more granted as well: the reason is not the budget.
            with granting(world, event):
                self.sandbox.run(world.apply, event)
            return False
        finally:
            world.restore(saved)
        return True

    def _copy(self) -> World:
        """A world like the one here, to do anything with."""
        assert isinstance(self.here, ServiceBranch)
        return self.here.copy(self.step)

    # -- what is so here ---------------------------------------------------------------------

    def judge(self, step: int | None = None) -> dict[str, PropertyStatus]:
        """What each property says of the state after a step, and of the step itself."""
        return self.here.judge(self.step if step is None else step)

    def conjuncts(self, name: str) -> list[Part]:
        """The parts of the predicate of a property, asked here."""
        prop = self.claim(name)
        if prop is None or prop.kind == "step":
            return []
        return self.parts(prop, self.here.view(self.step))

    def claim(self, name: str) -> Property | None:
        """The property of that name; None for what is claimed of everything."""
        return next((each for each in self.here.properties if each.name == name), None)

    def parts(self, prop: Property, view: WorldView | ProgramView) -> list[Part]:
        found: list[Part] = self.sandbox.run(conjuncts, prop, view)
        return found

    def state(self, step: int | None = None) -> State:
        return self.here.state(self.step if step is None else step)

    # -- as a trace --------------------------------------------------------------------------

    def as_trace(self, steps: int | None = None) -> Trace:
        """This branch, or its first `steps`, as a trace that can be saved."""
        whole = steps is None or steps == self.last
        taken = self.here.steps[: self.last if steps is None else steps]
        notes = tuple(note for note in self.notes if note[0] <= len(taken))
        if self.branch == MAIN and whole:
            return msgspec.structs.replace(self.trace, notes=notes)
        facts = {"step": len(taken), "critical": None, "loop": None, "dead": None, "walked": None}
        kind, message = self._outcome(len(taken))
        return msgspec.structs.replace(
            self.trace,
            steps=tuple(taken),
            kind=kind,
            message=message,
            recovery=(),
            fairness=None,
            evidence="exact",
            notes=notes,
            nodes=self.trace.nodes if self.here.of_services else self.names,
            **facts,
        )

    def _outcome(self, step: int) -> tuple[str, str]:
        """How a branch that ends at `step` is told: as live where what should be is so again."""
        prop = self.claim(self.trace.prop)
        if prop is not None and prop.kind == "eventually":
            if holds(prop, self.sandbox, self.here.view(step)):
                return "live", f"holds again after {step:,} steps"
            return "liveness", f"does not hold after {step:,} steps of a branch"
        kind = "safety" if self.trace.kind == "live" else self.trace.kind
        found = self.judge(step).get(self.trace.prop)
        if found is None or found.holds is not False:
            return kind, f"not violated after {step:,} steps of a branch"
        return kind, found.why

    @property
    def beyond(self) -> list[int]:
        """The steps of this branch that are faults beyond what the system allows."""
        return [step for step in range(1, self.last + 1) if self.here.taken(step).beyond]

    def note(self, text: str) -> None:
        """Write something down at this step."""
        self.trace = self.trace.with_note(self.step, text)
        self.notes = list(self.trace.notes)
