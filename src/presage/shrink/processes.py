"""Fewer steps of processes, same violation.

Delta debugging over (process, choice): pieces of a run are left out, what is not possible any more
is skipped, and what still breaks the same property in the same way is kept. Every attempt runs on
live processes from the start.

Invariant: what is returned was executed, breaks the same property, and is never longer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from presage.execution.confirm import RAISED
from presage.execution.processes import ProcessExecution, PropertyFailure
from presage.execution.sandbox import Sandbox
from presage.process.ops import Create, Publish
from presage.process.program import Program
from presage.process.world import Choice, Taken
from presage.shrink.delta import minimize

STEPS_MAX = 100_000  # live steps spent on one violation
AT_REST = ("no_deadlock", "no_leftovers")

Numbered = tuple[int, Choice]  # a step, and its place in the run that is made shorter


class ProcessShrinker:
    """Attempts to break what `what` says with fewer steps. To be used within a `Fence`."""

    def __init__(
        self, program: Program, sandbox: Sandbox, what: PropertyFailure, in_time: Callable[[], bool]
    ) -> None:
        self._program = program
        self._sandbox = sandbox
        self._what = what
        self._in_time = in_time
        self._spent = 0

    @property
    def go_on(self) -> bool:
        """Whether there is time and patience left."""
        return self._spent < STEPS_MAX and self._in_time()

    def of(self, path: Sequence[Choice]) -> Sequence[Numbered]:
        """The fewest steps of `path` found that do, with their places in it, from 0."""
        return minimize(list(enumerate(path)), self._attempt, lambda: self.go_on)

    def _attempt(self, steps: Sequence[Numbered]) -> list[Numbered] | None:
        execution = ProcessExecution(self._program, self._sandbox)
        kept: list[Numbered] = []
        try:
            for at, step in steps:
                if step.choice not in execution.choices(step.process):
                    continue
                kept.append((at, step))
                taken = execution.take(step)
                if self._may_show(taken, execution) and self._shows(execution):
                    return kept
            return kept if self._shows(execution) else None
        finally:
            self._spent += len(kept) + 1
            execution.close()

    def _may_show(self, taken: Taken, execution: ProcessExecution) -> bool:
        """Whether a step can have broken it: asking after every one would take too long."""
        if self._what.prop == "no_exception":
            created = isinstance(taken.op, Create)
            return created or execution.world.members[taken.process].failed is not None
        return isinstance(taken.op, Publish) and self._what.prop not in AT_REST

    def _shows(self, execution: ProcessExecution) -> bool:
        return any(same(self._what, each) for each in execution.failures())


def same(one: PropertyFailure, other: PropertyFailure) -> bool:
    """Whether two violations are one: property, kind, and where an exception was raised."""
    if (one.prop, one.kind) != (other.prop, other.kind):
        return False
    places = {each and each.groups() for each in map(RAISED.search, (one.message, other.message))}
    return len(places) == 1
