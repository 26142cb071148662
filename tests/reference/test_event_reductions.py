"""Executions of random services one by one: the same verdicts as all states, and no class missed.

`none` explores every execution. The kernel tells the class of each: which events there were, each
with those that it depends on. `odpor` must meet the same classes, and each once.
"""

from itertools import count

import pytest
from reference.event_classes import count_classes
from reference.plain import TooLarge
from reference.random_events import lively_system
from reference.random_features import featured_system
from reference.random_systems import random_system

from presage.errors import BadSystem
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.search.check import build
from presage.search.kernel.bridge import Bridge
from presage.search.tree import check_tree

DEPTH = 40
STATES_MAX = 2_000
RUNS_MAX = 600
SYSTEMS_PER_TEST = 40  # of lively systems 160, and 40 by each of the weaker reductions
BATCHES = [("odpor", batch) for batch in range(4)]
BATCHES += [("sdpor", 8), ("dpor", 9)]


def told(system, reduction=None):
    """What the kernel tells: of all states, or of executions."""
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        kernel = build(system, Bridge(system, sandbox, weighs=False))
        limits = {"seconds": None, "memory_mib": None, "keep_going": True, "progress": None}
        if reduction is None:
            walks = {"threads": 1, "seed": 0, "walks": 1}
            raw = kernel.search("bfs", depth=None, states=STATES_MAX, **limits, **walks)
        else:
            raw = kernel.explore(reduction, depth=DEPTH, runs=RUNS_MAX, classes=True, **limits)
    return raw, {finding[0] for finding in raw["found"]}


def whole(raw):
    return raw["stopped_by"] is None and not raw["cut"]


def compare(system, reduction):
    """Whether there was anything to compare, and whether anything was saved."""
    states, broken = told(system)
    if not whole(states):
        return False, False
    reduced, found = told(system, reduction)
    if not whole(reduced) or reduced["traces"] < 2:
        return False, False
    assert found == broken
    every, found = told(system, "none")
    if not whole(every):
        return True, True
    assert found == broken
    assert set(reduced["rests"]) == set(every["rests"])
    if reduction == "odpor":
        assert set(reduced["classes"]) == set(every["classes"])
        assert reduced["traces"] == len(reduced["classes"])
    return True, reduced["traces"] < every["traces"]


def compare_many(first, number, make, reduction):
    compared = saved = 0
    for seed in count(first):
        system = make(seed)
        try:
            check_tree(system, reduction, {})
        except BadSystem:
            continue
        try:
            comparable, saves = compare(system, reduction)
        except AssertionError as error:
            raise AssertionError(f"{make.__name__}({seed}), {reduction}: {error}") from error
        compared += comparable
        saved += saves
        if compared == number:
            return saved


@pytest.mark.parametrize(("reduction", "batch"), BATCHES)
def test_executions_and_states_tell_the_same_of_lively_systems(reduction, batch):
    saved = compare_many(batch * 10_000, SYSTEMS_PER_TEST, lively_system, reduction)
    assert saved > SYSTEMS_PER_TEST // 4  # the reduction reduces


@pytest.mark.parametrize("make", [random_system, featured_system])
def test_executions_and_states_tell_the_same_of_other_systems(make):
    compare_many(100_000, SYSTEMS_PER_TEST // 4, make, "odpor")


def is_plain(system):
    """Whether its classes can be counted by the plain reference."""
    judged = any(prop.kind in ("always", "sometimes") for prop in system.properties)
    return system.network == "unordered" and not any(system.faults.budgets) and not judged


@pytest.mark.parametrize("seeds", [range(220_431, 220_432), range(160, 180)])
def test_each_class_counted_one_by_one_is_met_once(seeds):
    compared = 0
    for system in filter(is_plain, map(lively_system, seeds)):
        try:
            executions, classes = count_classes(system, RUNS_MAX)
        except TooLarge:
            continue
        every, reduced = (told(system, reduction)[0] for reduction in ("none", "odpor"))
        assert (every["traces"], len(every["classes"])) == (executions, classes)
        assert (reduced["traces"], len(reduced["classes"])) == (classes, classes)
        compared += 1
    assert compared


@pytest.mark.parametrize("seed", [220_431, 4, 12])
def test_a_class_has_one_name_whichever_message_is_met_first(seed):
    """Explorers meet the messages of 220431 in different orders, so ids must not name them."""
    system = lively_system(seed)
    named = [set(told(system, reduction)[0]["classes"]) for reduction in ("none", "odpor")]
    assert named[0] == named[1]


@pytest.mark.slow
@pytest.mark.parametrize("reduction", ["odpor", "sdpor", "dpor"])
@pytest.mark.parametrize("batch", range(8))
def test_executions_and_states_tell_the_same_of_many_systems(batch, reduction):
    compare_many(200_000 + batch * 10_000, 20 * SYSTEMS_PER_TEST, lively_system, reduction)
