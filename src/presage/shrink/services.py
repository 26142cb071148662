"""Fewer steps, same violation.

Delta debugging over events: leave out ever smaller pieces and keep what still breaks the property,
first only what can happen exactly as it did, then also with like events in place of what is gone.
Every attempt runs on live code.

Invariant: what is returned has been executed and breaks the same property.
"""

from __future__ import annotations

from collections.abc import Sequence

from presage.execution.budget import Budget, Deadline
from presage.execution.confirm import Confirmed
from presage.execution.prefix import PrefixReplay, Taken, events_of
from presage.execution.sandbox import Sandbox
from presage.execution.services import ServiceExecution
from presage.model.world.system import System
from presage.shrink.delta import minimize

STEPS_MAX = 200_000  # live steps spent on one violation
SECONDS_MAX = 20.0


def shrink(
    system: System, sandbox: Sandbox, confirmed: Confirmed, budget: Budget | None = None
) -> tuple[Confirmed, bool]:
    """A shorter execution with the same violation, or `confirmed` itself; and whether there was
    time to try all."""
    deadline = (budget or Budget()).deadline(SECONDS_MAX)
    shrinking = ServiceShrinker(system, sandbox, confirmed, deadline)
    for alike in (False, True):
        shrinking.go(alike=alike)
    return shrinking.best, shrinking.in_time


class ServiceShrinker:
    """The shortest execution so far, and attempts to find a shorter one."""

    def __init__(
        self, system: System, sandbox: Sandbox, confirmed: Confirmed, deadline: Deadline
    ) -> None:
        self.best = confirmed
        self._system = system
        self._sandbox = sandbox
        self._spent = 0
        self._deadline = deadline
        self.in_time = True

    def go(self, *, alike: bool) -> None:
        """Leave out what can be left out; if `alike`, like events may stand in for others."""
        best = self.best
        course = PrefixReplay(self._system, self._sandbox, best.choices, best.prop, alike=alike)

        def attempt(events: Sequence[Taken]) -> list[Taken] | None:
            run = course.take(events, ServiceExecution.verdict)
            why = course.why
            if why is None:
                return None
            if len(run.steps) < len(self.best.steps):
                steps, known = tuple(run.steps), self.best
                self.best = Confirmed(known.prop, why, known.choices, known.initial, steps)
            return course.taken

        def go_on() -> bool:
            self.in_time = self.in_time and self._deadline.allows()
            return self.in_time and self._spent + course.spent < STEPS_MAX

        minimize(without_rounds(best), attempt, go_on)
        self._spent += course.spent


def without_rounds(confirmed: Confirmed) -> list[Taken]:
    """The events of an execution but for those that only led back to a state it had been in."""
    seen = {confirmed.initial: 0}
    kept: list[int] = []
    for at, step in enumerate(confirmed.steps):
        kept.append(at)
        if step.fingerprint in seen and at + 1 < len(confirmed.steps):
            del kept[seen[step.fingerprint] :]
            seen = {print_: length for print_, length in seen.items() if length <= len(kept)}
        seen[step.fingerprint] = len(kept)
    events = events_of(confirmed.steps)
    return [events[at] for at in kept]
