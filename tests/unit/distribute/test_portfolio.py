"""Several searches at once: what one of them decides first is the result."""

import functools
from dataclasses import replace

import pytest

from presage.distribute.pool import Here, WorkerLost
from presage.distribute.portfolio import search_by_all
from presage.errors import BadSystem
from presage.search.delay.settings import Delay
from presage.search.settings import Settings
from presage.systems import paxos, two_phase_commit
from presage.systems.simgrid import philosophers

GIVEN = Settings(traces=None)


def by_all(make, names, pool=Here, given=GIVEN):
    chosen = {name: replace(given, search=name) for name in names}
    return search_by_all(make, make(), given, chosen, pool)


def test_a_search_that_meets_everything_ends_the_others():
    report = by_all(two_phase_commit.system, ["bfs", "walk", "hunt"])
    assert report.exhausted and report.search == "bfs"
    assert "by `bfs`, of `bfs`, `walk`, `hunt`" in report.notes


def test_a_violation_ends_the_others_whichever_finds_it():
    class Backwards(Here):
        workers = 2

        def wait(self, handles, seconds):
            return super().wait(list(handles)[::-1], seconds)

    make = functools.partial(paxos.system, clients=2, bug="last_promise")
    assert by_all(make, ["bfs", "delay"]).search == "bfs"
    report = by_all(make, ["bfs", "delay"], Backwards)
    assert report.search == "delay"
    assert report.violations and report.exit_status == 1


def test_where_none_decides_the_first_is_reported_and_the_others_noted():
    given = Settings(traces=None, walks=3)
    report = by_all(two_phase_commit.system, ["walk", "hunt"], given=given)
    assert report.search == "walk" and not report.exhausted
    assert "`hunt` decided nothing either" in report.notes


def test_a_search_that_is_lost_is_noted():
    class Mortal(Here):
        def answer(self, handle):
            if handle == 1:
                raise WorkerLost
            return super().answer(handle)

    report = by_all(two_phase_commit.system, ["walk", "bfs"], Mortal)
    assert report.search == "bfs" and report.exhausted


@pytest.mark.parametrize("names", [["tree", "bfs"], ["delay", "tree"], ["bfs"]])
def test_a_program_of_processes_is_searched_in_several_ways(names):
    report = by_all(functools.partial(philosophers.program, variant="mutex_deadlock"), names)
    assert report.search == names[0]
    assert report.properties["no_deadlock"] == "violated" and report.exit_status == 1
    report = by_all(functools.partial(philosophers.program, count=2), names)
    assert report.exhausted and report.properties["no_deadlock"] == "held"


def test_a_search_that_is_not_for_programs_is_refused():
    with pytest.raises(BadSystem, match="the search `walk` was given for a program"):
        by_all(philosophers.program, ["tree", "walk"], pool=None)


def test_a_search_by_delays_takes_part_with_several_schedulers():
    make = functools.partial(paxos.system, clients=2, bug="last_promise")
    chosen = {
        name: Settings(search="delay", traces=None, delay=Delay(scheduler=name, delays=most))
        for name, most in (("rtc", 0), ("rr", None), ("random", None))
    }
    report = search_by_all(make, make(), GIVEN, chosen, Here)
    assert report.violations and report.delayed.scheduler == "rr"
    assert "by `rr`, of `rtc`, `rr`, `random`" in report.notes


@pytest.mark.parametrize(("ends", "stopped_by"), [(WorkerLost, "lost"), (None, "interrupt")])
def test_where_no_search_comes_to_an_end_nothing_held(ends, stopped_by):
    class Doomed(Here):
        def wait(self, handles, seconds):
            if ends is None:
                raise KeyboardInterrupt
            return super().wait(handles, seconds)

        def answer(self, handle):
            raise ends

    report = by_all(two_phase_commit.system, ["delay", "bfs"], Doomed)
    assert (report.stopped_by, report.search) == (stopped_by, "delay")
    assert set(report.properties.values()) == {"unknown"} and not report.exhausted
    assert report.notes[0] == "none of the searches came to an end"
    assert len(report.notes) == (3 if ends else 1)


def test_a_search_that_does_not_exist_is_refused_before_anything_starts():
    with pytest.raises(BadSystem, match="no search `bsf`"):
        by_all(two_phase_commit.system, ["bsf"], pool=None)
