"""Disks, times, counters, slow nodes: kernel, live world and reference agree on random systems.

Half of the systems have streams too.
"""

from itertools import count

import pytest
from reference.batches import batches
from reference.explorer import explore
from reference.random_features import featured_system
from reference.test_kernel import compare
from reference.test_live_world import counted

from presage import check, replay

STATES_MAX = 80
LIVE_MAX = 30
SYSTEMS_PER_TEST = 8  # 16 on every run; the slow tests compare twelve times as many


def within(first, most, **settings):
    """Systems of at most `most` states, with what the reference says of each, by seed.

    The kernel is asked first, because it knows at once. If it sees too few states and calls a
    large system small, the reference raises `TooLarge`, and a test fails, as it should.
    """
    for seed in count(first):
        system = featured_system(seed, **settings)
        kernel = check(system, states=most + 1, keep_going=True, traces=None, liveness="rest")
        if kernel.unique <= most:
            yield seed, system, explore(system, 10 * most)


def compare_some(number, first, most, wired):
    systems = within(first, most, wired=wired)
    for _, (seed, system, expected) in zip(range(number), systems, strict=False):
        try:
            compare(system, expected)
        except AssertionError as error:
            raise AssertionError(f"featured_system({seed}, {wired}): {error}") from error


@pytest.mark.parametrize("wired", [False, True])
@pytest.mark.parametrize("batch", batches(1, 3))
def test_kernel_and_reference_agree_on_systems_with_disks_times_and_slow_nodes(batch, wired):
    compare_some(SYSTEMS_PER_TEST, 500_000 + batch * 10_000, STATES_MAX, wired)


@pytest.mark.slow
@pytest.mark.parametrize("wired", [False, True])
@pytest.mark.parametrize("batch", range(4))
def test_kernel_and_reference_agree_on_many_such_systems(batch, wired):
    compare_some(2 * SYSTEMS_PER_TEST, 540_000 + batch * 2_000, 2 * STATES_MAX, wired)


def test_every_violation_of_such_systems_replays():
    replayed = 0
    for seed in count(600_000):
        system = featured_system(seed, wired=seed % 2 == 1)
        for found in check(system, states=300, keep_going=True, traces=None).violations:
            if found.trace is not None:
                assert replay(system, found.trace).message is not None, seed
                replayed += 1
        if replayed >= 40:
            return


@pytest.mark.slow
@pytest.mark.parametrize("wired", [False, True])
def test_live_worlds_and_the_reference_agree_on_such_systems(wired):
    systems = within(700_000, LIVE_MAX, wired=wired)
    for _, (seed, system, expected) in zip(range(4), systems, strict=False):
        wanted = (expected.states, expected.generated, expected.depth)
        assert counted(system) == wanted, seed


def test_the_generator_makes_what_these_tests_are_about():
    happened = dict.fromkeys(("slow", "crash", "reset", "silent_reset", "write", "choice"), 0)
    for seed in range(500_000, 500_060):
        system = featured_system(seed, wired=seed % 2 == 1)
        report = check(system, states=500, keep_going=True, traces=None)
        for fault in ("slow", "crash", "reset", "silent_reset"):
            happened[fault] += report.faults.get(fault, 0)
        for found in report.violations:
            steps = found.trace.steps if found.trace else ()
            happened["write"] += any(step.kind == "write" for step in steps)
            happened["choice"] += any(step.choices for step in steps)
    assert all(times >= 3 for times in happened.values()), happened
