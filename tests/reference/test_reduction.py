"""Sleep sets against the plain search, on random systems: fewer transitions, nothing else."""

from functools import partial
from itertools import count

import pytest
from reference.batches import batches
from reference.random_features import featured_system
from reference.random_systems import random_system

from presage import Timed, check

STATES_MAX = 500
SYSTEMS_PER_TEST = 20
FEATURED_PER_TEST = 8  # with disks, times and slow nodes, and the same with clocks


def outcome(system, **how):
    """States met, violations with their lengths, and every property's verdict."""
    report = check(system, keep_going=True, traces=None, liveness="rest", **how)
    broken = {found.prop: found.steps for found in report.violations if found.kind != "unreached"}
    return report, broken


def compare(system, plain, shortest):
    for threads in (1, 3):
        report, broken = outcome(system, reduction="sleep", threads=threads)
        assert report.exhausted
        assert (report.unique, report.depth) == (plain.unique, plain.depth)
        assert report.properties == plain.properties
        assert broken == shortest
        assert report.generated <= plain.generated
    report, broken = outcome(system, reduction="sleep", search="dfs", threads=2)
    assert report.unique == plain.unique
    assert report.properties == plain.properties
    assert set(broken) == set(shortest)
    return report.generated < plain.generated


def compare_many(first, make, systems):
    compared = saved = 0
    for seed in count(first):
        system = make(seed, wired=seed % 3 == 0)
        plain, shortest = outcome(system, states=STATES_MAX)
        if not plain.exhausted:
            continue
        try:
            saved += compare(system, plain, shortest)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        compared += 1
        if compared == systems:
            break
    return saved


@pytest.mark.parametrize("batch", batches(1, 5))
def test_sleep_sets_keep_every_state_and_verdict(batch):
    saved = compare_many(500_000 + batch * 10_000, random_system, SYSTEMS_PER_TEST)
    assert saved > SYSTEMS_PER_TEST // 4  # the reduction reduces


@pytest.mark.parametrize("clock", [None, Timed(), Timed(drift=1)], ids=["no", "exact", "drift"])
def test_sleep_sets_keep_what_disks_times_clocks_and_slow_nodes_lead_to(clock):
    make = partial(featured_system, clock=clock)
    saved = compare_many(900_000, make, FEATURED_PER_TEST)
    assert saved > FEATURED_PER_TEST // 8


def test_a_bounded_search_with_sleep_sets_covers_what_the_plain_one_covers():
    compared = 0
    for seed in count(600_000):
        system = random_system(seed, wired=seed % 3 == 0)
        whole, _ = outcome(system, states=STATES_MAX)
        if not whole.exhausted or whole.depth < 4:
            continue
        depth = whole.depth // 2 + 1
        plain, shortest = outcome(system, depth=depth)
        for how in ({}, {"threads": 3}, {"search": "dfs"}, {"search": "dfs", "threads": 2}):
            report, broken = outcome(system, depth=depth, reduction="sleep", **how)
            assert report.unique == plain.unique, (seed, how)
            assert set(broken) == set(shortest), (seed, how)
            assert report.properties == plain.properties, (seed, how)
            assert not report.exhausted
        compared += 1
        if compared == 15:
            return
