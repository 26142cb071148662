"""Parts are handed out in order; what is lost is halved, then said to be lost."""

from dataclasses import replace

import pytest

from presage._results import StopReason
from presage.distribute.farm import Farm, Harvest, Terms
from presage.distribute.merge import merge
from presage.distribute.pool import WorkerLost
from presage.distribute.task import Answer, Identity, Task
from presage.errors import BadTarget
from presage.execution.budget import Budget
from presage.search.part import Part
from presage.search.report import Report, Violation
from presage.search.settings import Settings

BROKEN = Violation("safe", "safety", "")
EMPTY = Report(search="walk", properties={"safe": "unknown"})


class Scripted:
    """A pool that answers in the order it is asked to, newest first or oldest first."""

    def __init__(self, workers, answer, newest=False):
        self.workers, self._answer, self._newest = workers, answer, newest
        self.parts, self.cancelled = [], []

    def submit(self, task):
        self.parts.append(task.settings.part)
        return len(self.parts) - 1

    def wait(self, handles, seconds):
        return [max(handles) if self._newest else min(handles)]

    def answer(self, handle):
        return self._answer(self.parts[handle])

    def cancel(self, handle):
        self.cancelled.append(handle)

    def close(self):
        pass


def done(part, *violations):
    properties = {"safe": "violated" if violations else "held"}
    return Answer(Report(executions=part.walks, properties=properties, violations=violations))


def harvested(pool, count, *, keep_going=False, budget=None):
    settings = Settings(search="walk")
    tasks = [
        Task(None, Identity("", "", ""), replace(settings, part=Part(at * 8, 8, at, count)), "")
        for at in range(count)
    ]
    terms = Terms(budget or Budget(), keep_going, lambda reports: None)
    harvest = Farm(pool, tasks, terms, Harvest()).run()
    return harvest, merge(harvest, settings.with_defaults(program=False), EMPTY)


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("newest", [False, True])
def test_the_violation_of_the_first_part_is_reported_however_many_work(workers, newest):
    def answer(part):
        return done(part, replace(BROKEN, step=part.first)) if part.first >= 24 else done(part)

    _, report = harvested(Scripted(workers, answer, newest), 9)
    assert [each.step for each in report.violations] == [24]
    assert report.executions == 32
    assert report.properties == {"safe": "violated"}


def test_with_keep_going_all_parts_are_done_and_the_first_violation_is_reported():
    def answer(part):
        return done(part, replace(BROKEN, step=part.first)) if part.first >= 24 else done(part)

    _, report = harvested(Scripted(2, answer), 9, keep_going=True)
    assert [each.step for each in report.violations] == [24]
    assert report.executions == 72


def test_a_part_that_kills_its_workers_is_halved_and_then_lost():
    def answer(part):
        if part.first <= 13 < part.first + part.walks:
            raise WorkerLost
        return done(part)

    harvest, report = harvested(Scripted(2, answer), 3)
    assert [task.settings.part for task in harvest.lost.values()] == [Part(12, 4, 4, 6)]
    assert report.executions == 20
    assert report.stopped_by is StopReason.LOST
    assert report.properties == {"safe": "unknown"}
    assert not report.exhausted and report.is_partial


def test_a_part_that_is_too_large_is_done_in_halves():
    def answer(part):
        if part.walks > 4:
            raise WorkerLost
        return done(part)

    harvest, report = harvested(Scripted(2, answer), 3)
    assert not harvest.lost
    assert (report.executions, report.stopped_by) == (24, None)
    assert report.properties == {"safe": "held"}


def test_parts_that_are_left_are_started_twice_and_counted_once():
    pool = Scripted(3, done, newest=True)
    _, report = harvested(pool, 2)
    assert len(pool.parts) > 2
    assert report.executions == 16
    assert pool.cancelled


def test_parts_for_which_there_was_no_time_are_not_held():
    class Spent(Budget):
        parts = 0

        @property
        def spent_by(self):
            self.parts += 1
            return StopReason.INTERRUPT if self.parts > 3 else None

    harvest, report = harvested(Scripted(1, done), 9, budget=Spent())
    assert harvest.undone
    assert report.stopped_by is StopReason.INTERRUPT
    assert report.properties == {"safe": "unknown"}


def test_a_part_that_was_interrupted_is_the_last_one():
    def answer(part):
        stopped_by = StopReason.INTERRUPT if part.first == 16 else None
        properties = {"safe": "held"}
        return Answer(Report(executions=8, properties=properties, stopped_by=stopped_by))

    pool = Scripted(1, answer)
    _, report = harvested(pool, 9)
    assert len(pool.parts) == 3
    assert report.stopped_by is StopReason.INTERRUPT
    assert report.properties == {"safe": "unknown"}


def test_an_error_of_the_first_part_wins_over_what_later_parts_found():
    def answer(part):
        return Answer(error=BadTarget("no")) if part.first == 8 else done(part, BROKEN)

    harvest, _ = harvested(Scripted(3, answer, newest=True), 4)
    assert list(harvest.reports) == [(0,)]


def test_halves_are_the_whole():
    whole = Part(10, 7, 1, 3)
    one, other = whole.halves()
    assert (one.first, one.walks, other.first, other.walks) == (10, 3, 13, 4)
    numbers = range(600)
    taken = [{n for n in numbers if n % each.shares == each.share} for each in (one, other)]
    assert taken[0] | taken[1] == {n for n in numbers if n % 3 == 1}
    assert not taken[0] & taken[1]
    assert not Part(0, 1).halves() and not Part().halves()
