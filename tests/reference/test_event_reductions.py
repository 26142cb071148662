"""Executions of random services one by one: the same verdicts as all states, and no class missed.

`none` explores every execution. The kernel tells the class of each: which events there were, each
with those that it depends on. `odpor` must meet the same classes, and each once.
"""

from collections import Counter
from itertools import count

import pytest
from reference.batches import batches
from reference.event_classes import count_classes
from reference.random_events import lively_system, struck_system
from reference.random_features import featured_system
from reference.random_fields import fielded_system
from reference.random_streams import linked_system, streamed_system
from reference.random_systems import random_system

from presage.errors import BadSystem
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.limits import Limits
from presage.search.check import build
from presage.search.kernel.bridge import Bridge
from presage.search.tree import check_tree

DEPTH = 40
STATES_MAX = 2_000
RUNS_MAX = 600
EVERY_MAX = 5_000  # of the search that leaves out none
SYSTEMS_PER_TEST = 40  # of lively systems as many on every run, by each reduction
MANY_PER_TEST = 80
REDUCTIONS = ("odpor", "sdpor", "dpor")
EVERY = "none"  # explores every execution


def kernel_of(system, sandbox):
    return build(system, Bridge(system, sandbox, weighs=False))


def told(kernel, reduction=None, **more):
    """What the kernel tells: of all states, or of executions."""
    if reduction is None:
        raw = kernel.search("bfs", Limits(states=STATES_MAX, keep_going=True))
    else:
        most = EVERY_MAX if reduction == EVERY else RUNS_MAX
        limits = Limits(depth=DEPTH, walks=most, keep_going=True)
        raw = kernel.explore(reduction, limits, classes=True, **more)
    return raw, {finding.at for finding in raw.found}


def told_alone(system, reduction):
    """What a kernel tells that has told nothing before."""
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        return told(kernel_of(system, sandbox), reduction)[0]


def whole(raw):
    return raw.stopped_by is None and not raw.cut


def compare(kernel, reducing):
    """By which reductions there was anything to compare, and which of them saved anything.

    `none` is one of the former where every execution was explored, so that classes were compared.

    `reducing` is the kernel that reduces: the same, or one that knows nothing yet.
    """
    reduced, found = told(reducing, "odpor")  # first, as it leaves aside most of what is large
    if not whole(reduced) or reduced.traces < 2:
        return (), ()
    states, broken = told(kernel)
    if not whole(states):
        return (), ()
    assert found == broken, "odpor"
    explored = {"odpor": reduced}
    for reduction in REDUCTIONS[1:]:
        weaker, found = told(reducing, reduction)
        if whole(weaker):
            assert found == broken, reduction
            explored[reduction] = weaker
    every, found = told(kernel, EVERY)
    if not whole(every):
        return tuple(explored), tuple(explored)
    assert found == broken, EVERY
    for reduction, raw in explored.items():
        assert set(raw.rests) == set(every.rests), reduction
    assert set(reduced.classes) == set(every.classes)
    assert reduced.traces == len(reduced.classes)
    saving = (each for each, raw in explored.items() if raw.traces < every.traces)
    return (*explored, EVERY), tuple(saving)


def compare_many(first, number, make):
    """Compare `number` systems by every reduction; of how many each saves something."""
    compared, saved = Counter(), Counter()
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        for seed in count(first):
            system = make(seed)
            try:
                check_tree(system)
            except BadSystem:
                continue
            kernel = kernel_of(system, sandbox)
            # What is told must not depend on what a kernel met before, and in which order.
            reducing = kernel_of(system, sandbox) if seed % 4 == 0 else kernel
            try:
                reductions, saves = compare(kernel, reducing)
            except AssertionError as error:
                raise AssertionError(f"{make.__name__}({seed}): {error}") from error
            compared.update(reductions)
            saved.update(saves)
            if all(compared[reduction] >= number for reduction in (*REDUCTIONS, EVERY)):
                return saved


@pytest.mark.parametrize("batch", batches(1, 3))
def test_executions_and_states_tell_the_same_of_lively_systems(batch):
    saved = compare_many(batch * 10_000, SYSTEMS_PER_TEST, lively_system)
    assert all(saved[each] > SYSTEMS_PER_TEST // 4 for each in REDUCTIONS)  # they reduce


@pytest.mark.parametrize("batch", batches(1, 4))
def test_executions_and_states_tell_the_same_of_systems_with_faults(batch):
    compare_many(batch * 10_000, MANY_PER_TEST if batch else SYSTEMS_PER_TEST // 4, struck_system)


@pytest.mark.parametrize("batch", batches(1, 2))
@pytest.mark.parametrize("make", [lively_system, struck_system])
def test_order_is_kept_of_what_a_property_notices_where_there_are_many_cuts(make, batch):
    compared, noted, wanted = 0, 0, MANY_PER_TEST if batch else SYSTEMS_PER_TEST // 10
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        for seed in count(300_000 + batch * 10_000):
            system = make(seed)
            kernel = kernel_of(system, sandbox)
            reduced, found = told(kernel, "odpor", cuts=1)
            states, broken = told(kernel)
            if whole(reduced) and whole(states):
                assert found == broken, seed
                compared += 1
                noted += bool(reduced.notes)
            if compared >= wanted and noted:
                return


# Each of these loses classes if a fault is tried only where the first thing that keeps it from
# happening is undone: a spent budget hides a node that failed, and the other way round.
@pytest.mark.parametrize("seed", [82, 85, 172, 673, 1_000_058, 1_000_608])
def test_a_fault_that_two_things_keep_from_happening_is_tried(seed):
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        kernel = kernel_of(struck_system(seed), sandbox)
        assert compare(kernel, kernel)[0]


@pytest.mark.parametrize("batch", batches(1, 3))
def test_executions_and_states_tell_the_same_where_deliveries_do_not_meet(batch):
    compare_many(batch * 10_000, MANY_PER_TEST if batch else SYSTEMS_PER_TEST // 4, fielded_system)


@pytest.mark.parametrize("batch", batches(1, 3))
@pytest.mark.parametrize(("make", "first"), [(streamed_system, 8), (linked_system, 4)])
def test_executions_and_states_tell_the_same_of_systems_with_streams(make, first, batch):
    number = MANY_PER_TEST if batch else first
    saved = compare_many(batch * 10_000, number, make)
    assert all(saved[each] > number // 2 for each in REDUCTIONS)  # they reduce


# The first two lose classes if a guard that closes to a stream goes unseen, the others if a cut
# that can no longer happen does.
@pytest.mark.parametrize(
    ("make", "seed"),
    [
        (streamed_system, 12_225),
        (streamed_system, 12_490),
        (linked_system, 140),
        (linked_system, 148),
    ],
)
def test_what_a_connection_no_longer_offers_is_tried(make, seed):
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        kernel = kernel_of(make(seed), sandbox)
        assert compare(kernel, kernel)[0]


def test_what_a_message_in_flight_already_makes_idle_is_tried_before_it_is_sent():
    """Where messages stay, a step that sends what another one would send disables that one."""
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        kernel = kernel_of(fielded_system(1_000_365), sandbox)
        assert compare(kernel, kernel)[0]


@pytest.mark.parametrize("make", [random_system, featured_system])
def test_executions_and_states_tell_the_same_of_other_systems(make):
    compare_many(100_000, SYSTEMS_PER_TEST // 10, make)


def is_plain(system):
    """Whether its classes can be counted by the plain reference."""
    return system.network == "unordered" and not any(system.faults.budgets)


@pytest.mark.parametrize("seeds", [range(220_431, 220_432), range(160, 180)])
def test_each_class_counted_one_by_one_is_met_once(seeds):
    compared = 0
    for system in filter(is_plain, map(lively_system, seeds)):
        every, reduced = (told_alone(system, reduction) for reduction in ("none", "odpor"))
        if not whole(every) or every.traces > RUNS_MAX:
            continue
        executions, classes = count_classes(system, RUNS_MAX)
        assert (every.traces, len(every.classes)) == (executions, classes)
        assert (reduced.traces, len(reduced.classes)) == (classes, classes)
        compared += 1
    assert compared


@pytest.mark.parametrize("seed", [220_431, 4, 12])
def test_a_class_has_one_name_whichever_message_is_met_first(seed):
    """Explorers meet the messages of 220431 in different orders, so ids must not name them."""
    system = lively_system(seed)
    named = [set(told_alone(system, reduction).classes) for reduction in ("none", "odpor")]
    assert named[0] == named[1]


@pytest.mark.parametrize("batch", batches(0, 4))
def test_executions_and_states_tell_the_same_of_many_systems(batch):
    compare_many(200_000 + batch * 2_500, MANY_PER_TEST, lively_system)
