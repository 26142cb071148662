"""What words about many nodes say is remembered node by node, and never makes a difference."""

from itertools import count

import pytest
from reference.batches import batches
from reference.random_events import lively_system, struck_system
from reference.random_systems import random_system
from reference.random_words import worded
from reference.test_event_reductions import compare_many as compare_executions
from reference.test_kernel import agrees
from reference.test_reduction import compare_many as compare_asleep

from presage import check
from presage.props import nodes

FIRST, NEXT = 6, 25  # systems of the first batch, and of each later one
HOW = {"keep_going": True, "traces": None, "liveness": "rest"}


def wanted(batch):
    return NEXT if batch else FIRST


def worded_system(seed, wired=False):
    return worded(random_system(seed, wired), seed)


def worded_lively_system(seed):
    return worded(lively_system(seed), seed)


def worded_struck_system(seed):
    return worded(struck_system(seed), seed)


@pytest.mark.parametrize("batch", batches(1, 6))
def test_kernel_and_reference_agree_on_words(batch):
    compared = 0
    for seed in count(batch * 10_000):
        try:
            compared += agrees(worded_system(seed, wired=seed % 4 == 0))
        except AssertionError as error:
            raise AssertionError(f"worded_system({seed}): {error}") from error
        if compared == wanted(batch):
            return


@pytest.mark.parametrize("batch", batches(1, 4))
@pytest.mark.parametrize("make", [worded_lively_system, worded_struck_system])
def test_executions_and_states_tell_the_same_in_words(make, batch):
    compare_executions(batch * 10_000, wanted(batch) // 3, make)


@pytest.mark.parametrize("batch", batches(1, 4))
def test_sleep_sets_keep_what_words_say(batch):
    compare_asleep(500_000 + batch * 10_000, worded_system, wanted(batch))


def test_predicates_run_less_often_than_without(monkeypatch):
    often = {}
    for parts in (True, False):
        if not parts:
            monkeypatch.setattr(nodes, "_recorder", lambda predicate, node: None)
        reports = [check(worded_system(seed), states=400, **HOW) for seed in range(24)]
        often[parts] = sum(report.property_runs for report in reports)
    assert often[True] < often[False]
