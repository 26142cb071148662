"""A search over shards is the search: the same counts, however states are shared."""

import functools

import pytest
from reference.batches import batches
from reference.random_systems import random_system

from presage import Service, System, action, always
from presage.distribute import stateful, task
from presage.distribute.levels import Together
from presage.distribute.pool import WorkerLost
from presage.distribute.stateful import search_states
from presage.errors import PresageError
from presage.search import findings
from presage.search.check import check
from presage.search.settings import Settings

SEEDS, FEW = batches(20, 120), batches(6, 30)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Leave out what costs most and is no part of the search: tests of both are elsewhere."""
    monkeypatch.setattr(findings, "_good_run", lambda *_: (None, []))
    for module in (stateful, task):
        monkeypatch.setattr(module, "identity_of", lambda system: task.Identity("", "", ""))


def outcome(run):
    try:
        return run()
    except PresageError as error:
        return type(error), str(error)


def counts(report):
    numbers = (report.unique, report.generated, report.depth, report.exhausted)
    return numbers, report.stopped_by, report.faults, report.properties


def traces(report):
    steps = [each.trace.steps if each.trace else () for each in report.violations]
    found = [(each.prop, each.step, each.message) for each in report.violations]
    return found, [[step.fingerprint for step in each] for each in steps]


def sharded(make, shards, company=Together, **how):
    settings = Settings(**{"traces": None, "liveness": "rest"} | how)
    return search_states(make, make(), settings, shards, company)


@pytest.mark.parametrize("seed", SEEDS)
def test_any_number_of_shards_counts_what_one_process_counts(seed):
    make = functools.partial(random_system, seed)
    how = {"keep_going": True, "depth": 9, "liveness": "rest", "traces": None}
    whole = outcome(lambda: check(make(), threads=1, **how))
    found = [outcome(lambda n=n: sharded(make, n, **how)) for n in (1, 2, 5)]
    if isinstance(whole, tuple):
        assert [each[0] for each in found] == [whole[0]] * 3
        return
    assert [counts(each) for each in found] == [counts(whole)] * 3
    assert traces(found[0]) == traces(found[1]) == traces(found[2])
    lengths = {each.prop: each.step for each in whole.violations}
    assert {each.prop: each.step for each in found[0].violations} == lengths


@pytest.mark.parametrize("seed", FEW)
def test_a_violation_is_the_same_for_any_number_of_shards(seed):
    make = functools.partial(random_system, seed)
    found = [outcome(lambda n=n: sharded(make, n, depth=9)) for n in (1, 2, 5)]
    if isinstance(found[0], tuple):
        assert found[0][0] == found[1][0] == found[2][0]
        return
    assert counts(found[0]) == counts(found[1]) == counts(found[2])
    assert traces(found[0]) == traces(found[1]) == traces(found[2])


class Mortal(Together):
    """Shards of which one dies at the n-th exchange, however often they are made."""

    deaths: list[int] = []
    made = 0

    def __init__(self, tasks):
        super().__init__(tasks)
        type(self).made += 1
        self._left = self.deaths.pop(0) if self.deaths else -1

    def exchange(self, count):
        self._left -= 1
        if self._left == 0:
            raise WorkerLost("it died")
        return super().exchange(count)


@pytest.mark.parametrize("seed", FEW)
@pytest.mark.parametrize("save_seconds", [1e-9, 1e9])
def test_a_shard_that_dies_changes_no_count(seed, save_seconds):
    make = functools.partial(random_system, seed)
    how = {"keep_going": True, "depth": 9, "checkpoint_seconds": save_seconds}
    calm = outcome(lambda: sharded(make, 3, **how))
    Mortal.deaths, Mortal.made = [3, 2, 4], 0
    found = outcome(lambda: sharded(make, 3, Mortal, **how))
    if isinstance(calm, tuple):
        assert found[0] == calm[0]
        return
    assert counts(found) == counts(calm)
    assert traces(found) == traces(calm)


def test_shards_that_always_die_are_lost_and_nothing_held():
    class Doomed(Together):
        def exchange(self, count):
            raise WorkerLost("it died")

    report = sharded(functools.partial(random_system, 0), 2, Doomed)
    assert report.stopped_by == "lost"
    assert not report.exhausted
    assert "held" not in report.properties.values()
    assert report.exit_status == 2


def failing():
    @always
    def asked(world):
        if any(node.count == 1 for node in world.nodes):
            raise ValueError("it cannot say")
        return True

    return System({"a": Ticking(), "b": Ticking()}, properties=[asked])


class Ticking(Service):
    count: int = 0

    @action
    def tick(self):
        self.count = min(self.count + 1, 6)


def test_that_a_property_could_not_be_judged_is_known_after_a_shard_died():
    """What went wrong before the level that all go back to is not met again."""
    Mortal.deaths, Mortal.made = [6], 0
    report = sharded(failing, 2, Mortal, checkpoint_seconds=1e-9, keep_going=True)
    assert Mortal.made == 2
    assert report.properties == {"asked": "error"}
    assert report.exit_status == 2
