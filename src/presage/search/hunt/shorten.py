"""Fewer steps to the same death: shorten what leads to the critical transition of a suspect.

The critical step itself stays. Of the steps before it, those are left out without which nothing
recovers after it all the same, while before it something still does: the kernel tells, by all that
can follow where that is finite, else by walks. What is left is located anew, as if it had been
found so; where that says anything else, the suspect is told as it was found.
"""

from __future__ import annotations

from collections.abc import Sequence

from presage._core import Suspect
from presage.execution.budget import Budget
from presage.execution.prefix import PrefixReplay, Taken, events_of, likeness
from presage.execution.sandbox import Sandbox
from presage.limits import Effort
from presage.model.world.event import Event
from presage.model.world.system import System
from presage.search.hunt.critical import Located, locate
from presage.search.hunt.settings import Hunt
from presage.search.progress import Tell
from presage.shrink.delta import minimize

SECONDS_MAX = 10.0  # for one suspect, each time
STEPS_MAX = 200_000  # live steps for one suspect
WALKS = (6, 24)  # from each place, while trying; what comes out is located with all walks


def shortened(
    system: System,
    sandbox: Sandbox,
    suspect: Suspect,
    located: Located,
    settings: Hunt,
    budget: Budget,
    progress: Tell = None,
) -> Located:
    """The same death with fewer steps before it, or `located` itself."""
    critical = located.critical
    if critical is None or critical < 2:
        return located
    for walks in WALKS:
        shortening = CriticalShrinker(system, sandbox, suspect, located, settings, budget, walks)
        for alike in (False, True):
            shortening.go(alike=alike)
        if len(shortening.prints) >= critical or budget.spent_by:
            return located
        again = suspect.again(shortening.prints, budget.remaining())
        if again is None:  # too few walks took for dead what is not
            continue
        fewer = locate(system, sandbox, again, settings, budget, progress)
        if fewer.critical is not None and 0 < fewer.critical < critical:
            step = fewer.confirmed.steps[fewer.critical - 1]
            if likeness_of(step.event) == likeness_of(located.confirmed.steps[critical - 1].event):
                return fewer.after(located)
    return located


class CriticalShrinker:
    """The shortest way to a critical step so far, and attempts to find a shorter one."""

    def __init__(
        self,
        system: System,
        sandbox: Sandbox,
        suspect: Suspect,
        located: Located,
        settings: Hunt,
        budget: Budget,
        walks: int,
    ) -> None:
        assert located.critical is not None
        self._system = system
        self._sandbox = sandbox
        self._suspect = suspect
        self._choices = located.confirmed.choices
        steps = located.confirmed.steps[: located.critical]
        *self._before, self._last = events_of(steps)
        self.prints = [step.fingerprint for step in steps]  # where the shortest way leads
        self._effort = Effort(min(walks, settings.recovery_walks), settings.region)
        self._spent = 0
        self._deadline = budget.deadline(SECONDS_MAX)

    def go(self, *, alike: bool) -> None:
        """Leave out what can be left out; if `alike`, like events may stand in for others."""
        course = PrefixReplay(self._system, self._sandbox, self._choices, None, alike=alike)

        def attempt(events: Sequence[Taken]) -> list[Taken] | None:
            steps = course.take([*events, self._last], lambda run: None).steps
            if not steps or likeness_of(steps[-1].event) != likeness_of(self._last[0]):
                return None
            prints = [step.fingerprint for step in steps]
            if self._dies(prints) is not True or self._dies(prints[:-1]) is not False:
                return None
            if len(prints) < len(self.prints):
                self.prints, self._last = prints, course.taken[-1]
            self._before = course.taken[:-1]
            return self._before

        def go_on() -> bool:
            return self._spent + course.spent < STEPS_MAX and self._deadline.allows()

        minimize(self._before, attempt, go_on)
        self._spent += course.spent

    def _dies(self, prints: Sequence[int]) -> bool | None:
        """Whether nothing recovers after these steps; None: there is no time to find out."""
        return self._suspect.dies(prints, self._effort, self._deadline.remaining())


def likeness_of(event: Event) -> object:
    """What makes a critical step the same one in another execution."""
    return likeness(event) or event
