"""Notices of crashes on random systems: every search against the reference, and each reduction."""

from collections import Counter
from itertools import count

import pytest
from reference.batches import batches
from reference.explorer import TooLarge, explore
from reference.random_notices import (
    noticed_lively_system,
    noticed_symmetric_system,
    noticed_system,
)
from reference.test_event_reductions import REDUCTIONS
from reference.test_event_reductions import compare_many as compare_executions
from reference.test_kernel import agrees
from reference.test_live_world import counted
from reference.test_reduction import compare_many as compare_asleep
from reference.test_symmetry import compare_many as compare_orbits

from presage import check

FIRST, NEXT = 2, 4  # systems of the first batch, and of each later one
HOW = {"traces": None, "keep_going": True, "liveness": "rest"}


def wanted(batch):
    return NEXT if batch else FIRST


def test_the_random_systems_have_notices_in_flight_and_heard():
    seen = Counter()
    for seed in range(12):
        report = check(noticed_system(seed), states=500, **HOW)
        ran = [each for each in report.coverage.to_json()["ran"] if each["steps"]]
        seen["heard"] += any(each["name"].endswith("peer_down") for each in ran)
        seen["lossy"] += bool(report.faults.get("drop") or report.faults.get("duplicate"))
    assert seen["heard"] > 5
    assert seen["lossy"] > 2


@pytest.mark.parametrize("batch", batches(1, 8))
def test_kernel_and_reference_agree_on_notices(batch):
    compared = 0
    for seed in count(batch * 10_000):
        try:
            compared += agrees(noticed_system(seed, wired=seed % 4 == 0))
        except AssertionError as error:
            raise AssertionError(f"noticed_system({seed}): {error}") from error
        if compared == wanted(batch):
            return


@pytest.mark.parametrize("batch", batches(1, 4))
def test_worlds_and_the_reference_agree_on_notices(batch):
    compared = 0
    for seed in count(batch * 10_000):
        system = noticed_system(seed)
        try:
            result = explore(system, most=60)
        except TooLarge:
            continue
        assert counted(system) == (result.states, result.generated, result.depth), seed
        compared += 1
        if compared == wanted(batch):
            return


@pytest.mark.parametrize("batch", batches(1, 8))
def test_sleep_sets_keep_every_state_with_notices(batch):
    compare_asleep(500_000 + batch * 10_000, noticed_system, wanted(batch))


@pytest.mark.parametrize("batch", batches(1, 8))
def test_executions_and_states_tell_the_same_with_notices(batch):
    saved = compare_executions(batch * 10_000, wanted(batch), noticed_lively_system)
    assert set(saved) == set(REDUCTIONS)


@pytest.mark.parametrize("batch", batches(1, 8))
def test_orbits_are_those_of_brute_force_with_notices(batch):
    happened = compare_orbits(batch * 10_000, noticed_symmetric_system, wanted(batch))
    assert happened["crash"]


@pytest.mark.parametrize("batch", batches(1, 4))
def test_the_order_of_delays_meets_the_same_states_with_notices(batch):
    compared = 0
    for seed in range(batch * 10, batch * 10 + 10):
        plain = check(noticed_system(seed), states=200, **HOW)
        if plain.exhausted:
            delayed = check(noticed_system(seed), search="delay", **HOW)
            assert (delayed.exhausted, delayed.unique) == (True, plain.unique), seed
            assert delayed.properties == plain.properties, seed
            compared += 1
    assert compared
