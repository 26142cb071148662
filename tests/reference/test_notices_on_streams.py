"""Streams and notices of crashes together: one crash breaks connections, and nodes hear of it."""

from collections import Counter
from itertools import islice
from random import Random

import pytest
from reference.batches import batches
from reference.random_notices import noticed
from reference.random_streams import linked_system, streamed_system
from reference.test_alike import SKIP, broken, prices, searched, small
from reference.test_event_reductions import REDUCTIONS, compare_many

from presage import check


def noticed_streamed_system(seed):
    return noticed(streamed_system(seed), Random(seed).randrange)


def noticed_linked_system(seed):
    return noticed(linked_system(seed), Random(seed).randrange)


MAKERS = (noticed_streamed_system, noticed_linked_system)


@pytest.mark.parametrize("make", MAKERS)
def test_nodes_hear_of_crashes_and_of_broken_connections(make):
    seen = Counter()
    for seed in range(10):
        how = {"states": 300, "keep_going": True, "liveness": "rest"}
        report = check(make(seed), traces=None, **how)
        ran = [each for each in report.coverage.to_json()["ran"] if each["steps"]]
        seen["told"] += any(each["name"].endswith("peer_down") for each in ran)
        seen["cut"] += bool(report.faults.get("cut"))
    assert seen["told"] > 5
    assert seen["cut"] > 1


@pytest.mark.parametrize("batch", batches(1, 3))
@pytest.mark.parametrize("make", MAKERS)
def test_executions_and_states_tell_the_same(make, batch):
    saved = compare_many(batch * 10_000, 20 if batch else 2, make)
    assert set(saved) == set(REDUCTIONS)


@pytest.mark.parametrize("batch", batches(1, 3))
@pytest.mark.parametrize("make", MAKERS)
def test_faults_left_out_as_like_others_are_never_claimed_to_be_covered(make, batch):
    outcomes = Counter()
    systems = small(make, 400_000 + batch * 10_000, ("crash",))
    for number, (seed, system, breadth, states) in enumerate(islice(systems, 8 if batch else 3)):
        how = {"search": "delay", "delay": prices(seed, number), "audit": 20 * (number % 3)}
        report, met = searched(system, skip=SKIP, **how)
        assert met <= states and broken(report) <= broken(breadth), seed
        if report.exhausted:
            assert report.skipped.skipped == 0, seed
            assert (report.unique, met) == (breadth.unique, states), seed
            assert report.properties == breadth.properties, seed
        else:
            assert report.skipped.skipped > 0 and report.is_partial, seed
            assert "held" not in report.properties.values(), seed
        outcomes[report.exhausted] += 1
    assert outcomes[False]  # something was left out
