"""The nearest good run of a violation, on random systems: it replays, and breaks nothing."""

from itertools import count

import pytest
from reference.batches import batches
from reference.random_features import featured_system
from reference.random_systems import random_system

from presage import check, replay

STATES_MAX = 300
FOUND_PER_TEST = 3


@pytest.mark.parametrize("make", [random_system, featured_system])
@pytest.mark.parametrize("batch", batches(1, 4))
def test_the_good_run_of_a_random_violation_replays_and_leaves_it_late(batch, make):
    found = 0
    for seed in count(1_100_000 + batch * 10_000):
        system = make(seed)
        for broken in check(system, states=STATES_MAX, traces=None).violations:
            if broken.live is None:
                continue
            place = broken.differs_at - 1
            assert broken.live.steps[:place] == broken.trace.steps[:place], seed
            assert broken.live.steps[place:] != broken.trace.steps[place:], seed
            assert replay(system, broken.live).message == broken.live.message, seed
            found += 1
        if found >= FOUND_PER_TEST:
            return
