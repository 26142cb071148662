"""Kernel, live world and reference on random systems with streams and faults of the network."""

from collections import Counter
from itertools import count

import pytest
from hypothesis import HealthCheck, assume, given, settings
from reference.batches import batches
from reference.explorer import TooLarge, explore
from reference.random_systems import random_system, systems
from reference.test_kernel import agrees
from reference.test_live_world import counted

from presage import check
from presage._core import FAULTS
from presage.model.world.faults import PROGRAM_FAULTS

SYSTEMS_PER_TEST = 15  # on every run, and what hypothesis thinks of


@pytest.mark.parametrize("batch", batches(1, 4))
def test_kernel_and_reference_agree_on_random_systems_with_streams(batch):
    compared = 0
    for seed in count(batch * 10_000):
        try:
            compared += agrees(random_system(seed, wired=True))
        except AssertionError as error:
            raise AssertionError(f"random_system({seed}, wired=True): {error}") from error
        if compared == SYSTEMS_PER_TEST:
            return


def test_worlds_and_the_reference_agree_on_random_systems_with_streams():
    compared = 0
    for seed in count(500):
        system = random_system(seed, wired=True)
        try:
            result = explore(system, most=60)
        except TooLarge:
            continue
        assert counted(system) == (result.states, result.generated, result.depth), seed
        compared += result.states > 5
        if compared == 25:
            return


def test_every_fault_happens_in_some_of_the_random_systems():
    happened = Counter()
    for seed in range(120):
        system = random_system(seed, wired=True)
        report = check(system, states=400, keep_going=True, traces=None)
        happened.update(fault for fault, times in report.faults.items() if times)
    assert set(happened) == set(FAULTS) - {"slow", *PROGRAM_FAULTS}  # those are in `test_features`


@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(systems(wired=True))
def test_kernel_and_reference_agree_on_what_hypothesis_thinks_of_streams(system):
    assume(agrees(system))
