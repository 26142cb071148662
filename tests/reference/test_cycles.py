"""Searches for cycles on random systems: what they find if they end is what `bfs` finds."""

from itertools import count, islice

import pytest
from reference.batches import batches
from reference.random_features import featured_system
from reference.random_systems import random_system
from reference.test_endless import check_violation, prepared

from presage import Delay, check

SCHEDULERS = ("rtc", "rr", "random")
STATES_MAX = 120
SYSTEMS_PER_TEST = 10  # each with every scheduler


def drawn(seed):
    kinds = (
        random_system,
        lambda seed: random_system(seed, wired=True),
        lambda seed: featured_system(seed, wired=seed % 2 == 1),
    )
    return kinds[seed % 3](seed)


def small(first, make=drawn):
    """(seed, system, its claim, what `bfs` says) of systems that end."""
    for seed in count(first):
        system = make(seed)
        claim = prepared(system, seed // 3)
        sized = check(system, states=STATES_MAX + 1, keep_going=True, liveness="rest", traces=None)
        if sized.unique <= STATES_MAX:
            yield seed, system, claim, check(system, keep_going=True, traces=None)


def searched(system, scheduler, **how):
    delay = Delay(scheduler, **how.pop("delay", {}))
    return check(system, search="cycles", delay=delay, keep_going=True, traces=None, **how)


def broken(system, report, claim):
    """The claims that endless executions and rest break, each of which is looked at."""
    found = [each for each in report.violations if each.kind == "liveness"]
    for each in found:
        check_violation(system, each, claim)
    return {each.prop for each in found}


@pytest.mark.parametrize("batch", batches(1, 7))
def test_a_search_that_ends_says_what_bfs_says(batch):
    met = set()
    for seed, system, claim, breadth in islice(small(batch * 10_000), SYSTEMS_PER_TEST):
        expected = broken(system, breadth, claim)
        for at, scheduler in enumerate(SCHEDULERS):
            report = searched(system, scheduler, threads=1 + (seed + at) % 2)
            assert report.exhausted and report.unique == breadth.unique, (seed, scheduler)
            assert broken(system, report, claim) == expected, (seed, scheduler)
            assert report.liveness == breadth.liveness, (seed, scheduler)
            assert report.properties == breadth.properties
        met.add(frozenset(expected))
    assert len(met) > 1


@pytest.mark.parametrize("batch", batches(1, 7))
def test_what_a_bound_finds_is_there_and_a_larger_bound_finds_it_too(batch):
    partial = 0
    for seed, system, claim, breadth in islice(small(500_000 + batch * 10_000), SYSTEMS_PER_TEST):
        scheduler, before = SCHEDULERS[seed // 3 % 3], frozenset()
        expected = broken(system, breadth, claim)
        for delays in range(4):
            report = searched(system, scheduler, delay={"delays": delays})
            found = broken(system, report, claim)
            assert before <= found <= expected, (seed, scheduler, delays)
            assert all(each.delays <= delays for each in report.violations if each.trace)
            assert found == expected or not report.exhausted
            partial += not report.exhausted
            before = found
    assert partial


ALGORITHMS = [("scc", 1), ("map", 1), ("map", 3), ("ndfs", 1), ("indfs", 1)]


@pytest.mark.parametrize("fairness", ["none", "weak"])
@pytest.mark.parametrize("batch", batches(1, 7))
def test_all_algorithms_agree_where_fairness_is_not_strong(batch, fairness):
    met = set()
    first = (800_000 if fairness == "none" else 1_100_000) + batch * 10_000
    systems = (each for each in small(first) if no_exception(each[3]))
    for seed, system, claim, breadth in islice(systems, SYSTEMS_PER_TEST):
        expected = fairness in broken(system, breadth, claim)
        system.properties = tuple(prop for prop in system.properties if prop.name == fairness)
        for at, (algorithm, threads) in enumerate(ALGORITHMS):
            delay = Delay(SCHEDULERS[(seed + at) % 3])
            how = {"search": "cycles", "algorithm": algorithm, "threads": threads, "delay": delay}
            report = check(system, traces=None, **how)
            assert bool(broken(system, report, claim)) == expected, (seed, algorithm, threads)
            assert (report.stopped_by == "violation") == expected, (seed, algorithm, threads)
            if not expected:
                assert report.exhausted and report.unique == breadth.unique, (seed, algorithm)
        met.add(expected)
    assert batch or met == {True, False}


def no_exception(report):
    return report.properties.get("no_exception") != "violated"
