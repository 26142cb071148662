"""Hand parts out to a pool, take what comes back, and see to what does not.

Parts are handed out in their order, as many as there are workers. Once a part has found a
violation, those after it are not needed: its report is the one that a single worker would have
come to. Where nothing is left to hand out, the parts that still run are started once more: on a
slow machine the second may be done first, and it finds the same.

A part whose workers die, three times in a row, is halved: it may have needed too much memory. A
half that is lost as well is said to be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from msgspec import Struct, structs

from presage._results import StopReason
from presage.distribute.kept import Kept
from presage.distribute.pool import Pool, WorkerLost
from presage.distribute.task import Answer, Task
from presage.execution.budget import Budget
from presage.search.report import Report

Key: TypeAlias = tuple[int, ...]  # the number of a part, and of its half
LOOK_SECONDS = 0.25


class Terms(Struct, frozen=True):
    """How long parts are done, and who hears of it."""

    budget: Budget
    keep_going: bool
    heard: Callable[[Sequence[Report]], None]  # the reports so far
    first: bool = False  # what is decided first decides, whatever comes before it
    kept: Kept | None = None  # where what was done is found again


class Harvest(Struct):
    """What came of all parts."""

    reports: dict[Key, Report] = {}
    handed: dict[Key, bytes | None] = {}  # of parts of a tree
    errors: dict[Key, Answer] = {}
    lost: dict[Key, Task] = {}
    undone: int = 0  # parts that were never done, for want of time
    ended_by: StopReason | None = None

    def refuse(self) -> None:
        """Raise the error of the first part that has one."""
        for key in sorted(self.errors):
            error = self.errors[key].error
            assert error is not None, "an answer without a report has one"
            raise error

    def ordered(self) -> list[Report]:
        return [self.reports[key] for key in sorted(self.reports)]


def is_decided(report: Report) -> bool:
    """Whether there is nothing more to look for."""
    return bool(report.violations) or report.exhausted


class Farm:
    """The parts of one search, and who does them."""

    def __init__(self, pool: Pool, tasks: Sequence[Task], how: Terms, harvest: Harvest) -> None:
        self._pool = pool
        self._how = how
        self._budget = how.budget
        numbered: list[tuple[Key, Task]] = [((at,), task) for at, task in enumerate(tasks)]
        for key, task in numbered:
            answer = None if how.kept is None else how.kept.answer(task)
            if answer is not None and answer.report is not None:
                harvest.reports[key], harvest.handed[key] = answer.report, answer.handed
        self._waiting = [each for each in numbered if each[0] not in harvest.reports]
        self._running: dict[Any, tuple[Key, Task]] = {}
        self._twice: set[Key] = set()
        self._end: Key | None = None  # the first part that ends the search
        self.harvest = harvest

    def run(self) -> Harvest:
        """Do all parts, as far as time allows."""
        try:
            while self._goes_on():
                self._hand_out()
                done = self._pool.wait(list(self._running), LOOK_SECONDS)
                for handle in done:
                    if handle in self._running:
                        self._take(handle)
                self._how.heard(self.harvest.ordered())
        except KeyboardInterrupt:
            self.harvest.ended_by = StopReason.INTERRUPT
        self.harvest.undone += len(self._waiting) + len({key for key, _ in self._running.values()})
        for handle in self._running:
            self._pool.cancel(handle)
        return self.harvest

    def _goes_on(self) -> bool:
        if self.harvest.ended_by is not None or not (self._waiting or self._running):
            return False
        spent = self._budget.spent_by
        if spent is StopReason.INTERRUPT or (spent is not None and not self._running):
            self.harvest.ended_by = spent
            return False
        return True

    def _hand_out(self) -> None:
        seconds = self._budget.remaining()
        while self._waiting and len(self._running) < self._pool.workers and seconds != 0:
            self._submit(*self._waiting.pop(0), seconds)
        if self._waiting:
            return
        for key, task in list(self._running.values()):
            if len(self._running) < self._pool.workers and key not in self._twice:
                self._twice.add(key)
                self._submit(key, task, seconds)

    def _submit(self, key: Key, task: Task, seconds: float | None) -> None:
        handle = self._pool.submit(structs.replace(task, seconds=seconds))
        self._running[handle] = (key, task)

    def _take(self, handle: Any) -> None:
        key, task = self._running.pop(handle)
        try:
            answer = self._pool.answer(handle)
        except WorkerLost:
            self._lose(key, task)
            return
        for other in [other for other, (same, _) in self._running.items() if same == key]:
            self._forget(other)
        if answer.report is None:
            self.harvest.errors[key] = answer
        else:
            self.harvest.reports[key] = answer.report
            self.harvest.handed[key] = answer.handed
        if self._how.kept is not None:
            self._how.kept.keep(task, answer)
        if answer.report is not None and answer.report.stopped_by is StopReason.INTERRUPT:
            self.harvest.ended_by = StopReason.INTERRUPT  # in this process: nothing more is begun
        if self._how.first:
            if answer.report is not None and is_decided(answer.report):
                self._end_at_once(key, answer.report)
            return
        ends = answer.report is None or bool(answer.report.violations) and not self._how.keep_going
        if ends and (self._end is None or key < self._end):
            self._end_with(key)

    def _lose(self, key: Key, task: Task) -> None:
        if any(same == key for same, _ in self._running.values()):
            return  # another worker is at it
        halves = task.settings.part.halves() if len(key) == 1 else ()
        if not halves:
            self.harvest.lost[key] = task
        for at, half in enumerate(halves):
            settings = replace(task.settings, part=half)
            again = structs.replace(task, settings=settings)
            self._waiting.insert(at, ((*key, at), again))

    def _end_with(self, key: Key) -> None:
        """What comes after a part that ends the search is not needed."""
        self._end = key
        self._waiting = [each for each in self._waiting if each[0] < key]
        for handle in [each for each, (later, _) in self._running.items() if later > key]:
            self._forget(handle)
        harvest = self.harvest
        harvest.reports = {at: report for at, report in harvest.reports.items() if at <= key}
        harvest.errors = {at: answer for at, answer in harvest.errors.items() if at <= key}
        harvest.lost = {at: task for at, task in harvest.lost.items() if at <= key}

    def _end_at_once(self, key: Key, report: Report) -> None:
        """All else is not needed, whether or not it was done."""
        self._waiting = []
        for handle in list(self._running):
            self._forget(handle)
        harvest = self.harvest
        harvest.reports, harvest.errors, harvest.lost = {key: report}, {}, {}

    def _forget(self, handle: Any) -> None:
        del self._running[handle]
        self._pool.cancel(handle)
