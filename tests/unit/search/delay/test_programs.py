"""`search="delay"` of programs: tasks are processes."""

import pytest

from presage import Delay, Scheduler, check
from presage.errors import BadScheduler, BadSystem
from presage.mailbox import Mailbox, choose
from presage.process.program import Process, Program
from presage.systems.simgrid import philosophers


def program(workers=2):
    """Who is heard first depends on the order; nothing is wrong with either."""

    def work(name):
        Mailbox.by_name("in").put(name)

    def collect():
        for _ in range(workers):
            Mailbox.by_name("in").get()

    names = [f"w{number}" for number in range(workers)]
    return Program({"main": Process(collect)} | {name: Process(work, name) for name in names})


def test_a_search_that_ends_is_exhaustive():
    for scheduler in ("rtc", "rr", "random"):
        report = check(program(), search="delay", delay=Delay(scheduler), traces=None)
        assert report.exhausted and report.unique == check(program(), search="bfs").unique
        assert report.delayed.bounds[-1] == report.unique
        assert str(report).startswith("2 properties held, exhaustively")


def test_what_a_limit_of_delays_ended_held_up_to_them():
    report = check(program(), search="delay", delay=Delay(delays=1), traces=None)
    assert (report.exhausted, report.stopped_by) == (False, "delays")
    assert str(report).startswith("held so far: 2 properties up to 1 delay")
    assert report.to_json()["delay"]["states"] == list(report.delayed.bounds)


@pytest.mark.parametrize(("limit", "reason"), [({"states": 9}, "states"), ({"depth": 4}, "depth")])
def test_other_limits_end_it_too(limit, reason):
    report = check(program(), search="delay", traces=None, **limit)
    assert (report.exhausted, report.stopped_by) == (False, reason)


def test_a_deadlock_is_found_where_everybody_takes_turns():
    def wrong():
        return philosophers.program(count=4, variant="mutex_deadlock")

    report = check(wrong(), search="delay", delay=Delay("rr"), traces=None)
    [found] = report.violations
    assert (found.prop, found.delays) == ("no_deadlock", 0)
    assert report.unique * 50 < check(wrong(), search="bfs", traces=None).unique


def test_an_unlikely_answer_costs_what_it_is_said_to():
    def chooses():
        assert choose((0, 1, 2)) != 2

    for price in (1, 3):
        wrong = Program({"main": Process(chooses)})
        delay = Delay(choice_delays=price)
        [found] = check(wrong, search="delay", delay=delay, traces=None).violations
        assert found.delays == price


class Names(Scheduler):
    base = "rr"

    def __init__(self):
        self.asked = []

    def rank(self, task):
        self.asked.append((task.kind, task.node, str(task)))
        return 9 if task.node == "main" else 0


def test_a_scheduler_ranks_processes_by_name():
    mine = Names()
    report = check(program(), search="delay", delay=Delay(mine), traces=None)
    assert report.exhausted and report.unique == check(program(), search="bfs").unique
    assert set(mine.asked) == {("process", who, f"process {who}") for who in ("main", "w0", "w1")}
    assert report.delayed.scheduler_runs == 3


class Whole(Scheduler):
    def start(self, tasks):
        return 0

    def next(self, state, tasks):
        return tasks[state % len(tasks)]

    def delay(self, state, tasks):
        return state + 1

    def step(self, state, ran):
        assert ran.task is not None  # processes have no faults
        return 0


class Stuck(Whole):
    def delay(self, state, tasks):
        return state


def test_a_scheduler_that_decides_everything_is_held_to_its_contract():
    delay = Delay(Whole())
    assert check(program(), search="delay", delay=delay, traces=None).exhausted
    with pytest.raises(BadScheduler, match="process main again, and not yet process w0"):
        check(program(), search="delay", delay=Delay(Stuck()), traces=None)


def test_what_it_does_not_go_with_is_refused():
    for settings in ({"threads": 2}, {"reduction": "odpor"}, {"walks": 3}, {"spill": "there"}):
        with pytest.raises(BadSystem):
            check(program(), search="delay", traces=None, **settings)
    with pytest.raises(BadSystem, match="`delay` is given for the search `tree`"):
        check(program(), delay=Delay("rr"), traces=None)
