"""A search in parts is the search: the same counts and the same trace, over random systems."""

from dataclasses import replace

import pytest
from reference.random_systems import random_system

from presage.distribute import divide
from presage.distribute.pool import Here
from presage.distribute.ray import Where
from presage.distribute.search import search
from presage.errors import PresageError
from presage.search.check import check
from presage.search.part import Part
from presage.search.settings import Settings

SEEDS = range(60)


def steps(report):
    return [
        (each.prop, [step.fingerprint for step in each.trace.steps] if each.trace else None)
        for each in report.violations
    ]


def outcome(run):
    try:
        return run()
    except PresageError as error:
        return type(error), str(error)


def walked(report):
    counts = (report.executions, report.generated, report.depth, report.stopped_by)
    return counts, report.faults, report.properties, steps(report)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(divide, "WALKS_IN_PART", 7)


@pytest.mark.parametrize("seed", SEEDS)
def test_walks_in_parts_are_the_walks(seed):
    how = {"search": "walk", "walks": 40, "depth": 12, "seed": seed, "traces": None}
    whole = outcome(lambda: walked(check(random_system(seed), **how)))
    load = random_system(seed)
    parts = outcome(
        lambda: walked(search(lambda: random_system(seed), load, Settings(**how), None))
    )
    assert parts == whole


class Several(Here):
    """This process as several workers: tasks are done in another order than they are given."""

    def __init__(self, workers):
        super().__init__()
        self.workers = workers
        self.is_alone = True

    def wait(self, handles, seconds):
        return super().wait(list(handles)[::-1], seconds)


@pytest.mark.parametrize("seed", range(12))
def test_hunts_are_the_same_on_any_number_of_workers(seed, monkeypatch):
    def hunted(workers):
        pools = "presage.distribute.workers.Ray"
        monkeypatch.setattr(pools, lambda where: Several(workers))
        given = Settings(search="hunt", walks=40, seed=seed, traces=None)
        report = search(lambda: random_system(seed), random_system(seed), given, Where())
        hunted = report.hunted and replace(report.hunted, locating=0)
        return walked(report), hunted, report.handler_runs

    assert outcome(lambda: hunted(1)) == outcome(lambda: hunted(2)) == outcome(lambda: hunted(5))


@pytest.mark.parametrize("walks", [1, 7, 8, 100])
@pytest.mark.parametrize("workers", [1, 3])
def test_parts_are_all_executions_once(walks, workers):
    parts = list(divide.parts(walks, workers))
    numbers = [n for part in parts for n in range(part.first, part.first + part.walks)]
    assert numbers == list(range(walks))
    assert [part.share for part in parts] == list(range(len(parts)))
    assert {part.shares for part in parts} == {len(parts)}


def test_without_a_number_of_executions_each_worker_has_its_own():
    first, second = divide.parts(None, 2)
    assert (first.walks, second.first) == (None, divide.APART)
    assert (first, second.share) == (Part(0, None, 0, 2), 1)
