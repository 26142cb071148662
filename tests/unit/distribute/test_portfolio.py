"""Several searches at once: what one of them decides first is the result."""

import functools

import pytest

from presage.distribute.pool import Here, WorkerLost
from presage.distribute.portfolio import search_by_all
from presage.errors import BadSystem
from presage.search.settings import Settings
from presage.systems import paxos, two_phase_commit

GIVEN = Settings(traces=None)


def by_all(make, names, pool=Here, given=GIVEN):
    return search_by_all(make, make(), given, names, pool)


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


def test_a_search_that_does_not_exist_is_refused_before_anything_starts():
    with pytest.raises(BadSystem, match="no search `bsf`"):
        by_all(two_phase_commit.system, ["bsf"], pool=None)
