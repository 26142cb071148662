"""One search by delays: what the kernel is asked, and what a report says of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from presage._core import Kernel
from presage._results import Outcome
from presage.limits import CyclePlan, DelayPlan, Limits, SkipPlan, Storage
from presage.records import record
from presage.search.delay.asked import Asked, TaskNames
from presage.search.delay.settings import Delay
from presage.search.progress import Tell

SHARE_NOTED = 10  # a scheduler that Python runs for more than one state in so many is slow


@record(frozen=True)
class Delayed:
    """What was explored in which order, and what departures from it cost."""

    scheduler: str
    cost: str
    choice_delays: int
    fault_delays: int
    commuting_delays: int
    bounds: tuple[int, ...]  # how many states were known when 0, 1, ... delays were done
    reached: int  # the delays that were allowed when it ended
    cut: bool = False  # some runs were cut off by the limit of depth
    scheduler_runs: int = 0  # how often Python ran a user's scheduler
    scheduler_states: int = 0

    @property
    def done(self) -> int | None:
        """The delays up to which all was explored; None: not even what costs none."""
        return len(self.bounds) - 1 if self.bounds else None

    def to_json(self) -> dict[str, Any]:
        return {
            "scheduler": self.scheduler,
            "cost": self.cost,
            "choice_delays": self.choice_delays,
            "fault_delays": self.fault_delays,
            "commuting_delays": self.commuting_delays,
            "states": list(self.bounds),
            "reached": self.reached,
            "cut": self.cut,
            "scheduler_runs": self.scheduler_runs,
            "scheduler_states": self.scheduler_states,
        }


class Delaying:
    def __init__(
        self,
        names: TaskNames,
        delay: Delay,
        run: Callable[..., Any],
        cycles: CyclePlan | None = None,
    ) -> None:
        self._cycles = cycles
        self._delay, user = delay, delay.scheduler
        self._asked = None if isinstance(user, str) else Asked(names, user, run)
        name = user if isinstance(user, str) else "custom" if user.is_whole else user.base
        self.plan = DelayPlan(
            scheduler=name,
            delays=delay.delays,
            cost=delay.cost,
            choice=delay.choice_delays,
            fault=delay.fault_delays,
            commuting=delay.commuting_delays,
            user=self._asked,
        )

    def run(
        self,
        kernel: Kernel,
        limits: Limits,
        progress: Tell,
        storage: Storage,
        skip: SkipPlan | None = None,
    ) -> Outcome:
        if self._cycles is not None:
            return kernel.cycles(self._cycles, self.plan, limits, progress)
        return kernel.delay(self.plan, limits, progress, storage, skip)

    def summary(self, outcome: Outcome) -> Delayed:
        delay, asked = self._delay, self._asked
        return Delayed(
            delay.name,
            delay.cost,
            delay.choice_delays,
            delay.fault_delays,
            delay.commuting_delays,
            tuple(outcome.bounds),
            outcome.delays,
            outcome.cut,
            0 if asked is None else asked.runs,
            0 if asked is None else asked.states,
        )


def notes(delayed: Delayed, unique: int) -> list[str]:
    prices = f"choice {delayed.choice_delays}, fault {delayed.fault_delays}"
    if delayed.commuting_delays:
        prices += f", commuting {delayed.commuting_delays} more"
    texts = [f"scheduler {delayed.scheduler}, cost by {delayed.cost}, {prices}"]
    if delayed.scheduler_runs * SHARE_NOTED > unique:
        texts.append(
            f"the scheduler ran {delayed.scheduler_runs:,} times for {unique:,} states: one with a"
            " smaller state, or with `rank` alone, is asked less often"
        )
    return texts
