"""The network `lanes` on random systems: state for state, and in every search that knows networks.

Where no message has a lane it is `unordered`; where all between two nodes have the same one, and
none is lost, it is `ordered`. Both have the same fingerprints, too.
"""

from functools import partial
from itertools import count, islice

import pytest
from reference import (
    test_alike,
    test_checkpoint,
    test_cycles,
    test_delaying,
    test_endless,
    test_live_classes,
    test_predict,
    test_queued_reversals,
    test_symmetry,
)
from reference.batches import batches
from reference.explorer import TooLarge, explore
from reference.live_classes import LiveClasses
from reference.origins import walked
from reference.random_events import lively_system, struck_system
from reference.random_features import featured_system
from reference.random_fields import fielded_system
from reference.random_lanes import LOSSES, NO_LOSSES, alike, mixed
from reference.random_notices import noticed_lively_system, noticed_system
from reference.random_streams import streamed_system
from reference.random_systems import random_system
from reference.symmetric_systems import symmetric_system
from reference.test_event_reductions import (
    REDUCTIONS,
    compare_many,
    kernel_of,
    told_alone,
    whole,
)
from reference.test_kernel import agrees
from reference.test_live_world import counted
from reference.test_reduction import compare as compare_sleep
from reference.test_reduction import outcome

from presage import check
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.limits import DelayPlan, Limits
from presage.model.world.origin import begun_in
from presage.model.world.world import World

STATES_MIN, STATES_MAX = 5, 100
FIRST, NEXT = 5, 12  # systems of the first batch, and of each later one
KINDS_MAX = 200  # systems, until each kind of fairness was met


def made(make, **how):
    """Systems of the family `make`, with lanes, by seed."""
    return partial(mixed, partial(make, **how))


FAMILIES = {
    "lively": made(lively_system),
    "struck": made(struck_system),
    "fielded": partial(fielded_system, network="lanes"),
    "noticed": made(noticed_lively_system),
    "streamed": made(streamed_system),
}


def drawn(seed):
    """One with streams, notices, disks, times and slow nodes, or none of these."""
    if seed % 4:
        return mixed((lively_system, lively_system, struck_system)[seed % 4 - 1], seed)
    family = (random_system, noticed_system, featured_system)[seed // 4 % 3]
    return mixed(partial(family, wired=seed % 5 == 4), seed)


def wanted(batch, first=FIRST):
    return NEXT if batch else first


def some(batch, compare, make=drawn, first=FIRST):
    """Compare as many systems as a batch has; `compare` says whether one was small enough."""
    compared = 0
    for seed in count(batch * 10_000):
        system = make(seed)
        try:
            compared += is_small(system) and bool(compare(system))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        if compared == wanted(batch, first):
            return


def is_small(system):
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        outcome = kernel_of(system, sandbox).search(
            "bfs", Limits(keep_going=True, states=STATES_MAX)
        )
        return outcome.stopped_by is None and outcome.unique >= STATES_MIN


@pytest.mark.parametrize("batch", batches(1, 9))
def test_kernel_and_reference_agree_where_there_are_lanes(batch):
    some(batch, agrees)


@pytest.mark.parametrize("batch", batches(1, 3))
def test_live_worlds_and_the_reference_agree_where_there_are_lanes(batch):
    def compare(system):
        try:
            result = explore(system, most=STATES_MAX)
        except TooLarge:
            return False
        assert counted(system) == (result.states, result.generated, result.depth)
        return True

    some(batch, compare, first=4)


# -- the networks that it is the same as --------------------------------------------------------


def told(system):
    """All that a kernel tells of states and executions, fingerprints included."""
    with Sandbox(SECONDS_DEFAULT) as sandbox:
        kernel = kernel_of(system, sandbox)
        limits = Limits(keep_going=True, states=2_000)
        states = kernel.search("bfs", limits)
        delayed = kernel.delay(DelayPlan("rr"), limits)
        runs = kernel.explore("odpor", Limits(depth=40, walks=200, keep_going=True), classes=True)
    found = [
        (finding.at, [event.fingerprint for event in finding.events]) for finding in states.found
    ]
    totals = (states.unique, states.generated, states.depth, delayed.unique)
    return totals, sorted(found), sorted(runs.rests), (sorted(runs.classes), delayed.bounds)


@pytest.mark.parametrize("batch", batches(1, 9))
@pytest.mark.parametrize(
    ("lane", "other", "faults"), [(None, "unordered", LOSSES), ("a", "ordered", NO_LOSSES)]
)
def test_lanes_that_all_or_no_messages_have_are_another_network(lane, other, faults, batch):
    families = (lively_system, random_system, struck_system)
    for seed in range(batch * 10_000, batch * 10_000 + wanted(batch, 6)):
        make = families[seed % 3]
        (*one, classes), (*two, named) = map(told, alike(make, seed, lane, other, faults))
        assert one == two, seed
        assert len(classes[0]) == len(named[0]), seed
        assert classes == named or other == "ordered", seed  # it names channels by their ends


# -- reductions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", batches(1, 3))
@pytest.mark.parametrize("family", FAMILIES)
def test_executions_and_states_tell_the_same_where_there_are_lanes(family, batch):
    make, number = FAMILIES[family], wanted(batch, 6 if family == "lively" else 3)
    make.__name__ = family
    saved = compare_many(batch * 10_000, number, make)
    assert all(saved[each] > number // 3 for each in REDUCTIONS)


@pytest.mark.parametrize("batch", batches(1, 3))
def test_executions_that_lose_datagrams_come_to_rest_where_live_worlds_do(batch):
    def compare(system):
        reduced = told_alone(system, "odpor")
        if whole(reduced):
            assert set(reduced.rests) == resting(system)
        return whole(reduced)

    for family in (lively_system, struck_system):
        some(batch, compare, partial(mixed, family, loses=True), first=2)


def resting(system):
    """The fingerprints of all live worlds at rest."""
    met, level, found = set(), [], set()
    for choices in LiveClasses(system, 0).beginnings():
        level.append(World.initial(system, choices).save())
    world = World(system)
    while level:
        world.restore(saved := level.pop())
        if world.fingerprint in met:
            continue
        met.add(world.fingerprint)
        found |= {world.fingerprint} if world.at_rest() else set()
        for event in world.enabled():
            for choices in world.runs(event):
                world.apply(event, choices)
                level.append(world.save())
                world.restore(saved)
    return found


@pytest.mark.parametrize("batch", batches(1, 3))
def test_classes_of_executions_with_lanes_counted_one_by_one_are_met_once(batch):
    def compare(system):
        loses = system.faults.drop or system.faults.duplicate
        return not loses and test_live_classes.compare(system, uses(system))

    def uses(system):
        return test_live_classes.uses(system) if "starter" in system.names else None

    some(batch, compare, FAMILIES["struck"], first=2)
    some(batch, compare, FAMILIES["fielded"], first=2)


@pytest.mark.parametrize("batch", batches(1, 2))
def test_a_queue_of_reversals_meets_the_classes_of_odpor_where_there_are_lanes(batch):
    def compare(system):
        return test_queued_reversals.compare(system, sandbox, alone=False)

    with Sandbox(SECONDS_DEFAULT) as sandbox:
        for make in FAMILIES.values():
            some(batch, compare, make, first=1)


@pytest.mark.parametrize("batch", batches(1, 5))
def test_sleep_sets_keep_every_state_where_there_are_lanes(batch):
    def compare(system):
        plain, shortest = outcome(system, states=300)
        if plain.exhausted:
            compare_sleep(system, plain, shortest)
        return plain.exhausted

    some(batch, compare, first=4)


# -- other searches -----------------------------------------------------------------------------


@pytest.mark.parametrize("batch", batches(1, 3))
def test_searches_by_delays_meet_what_live_worlds_meet_where_there_are_lanes(batch):
    test_delaying.meet_each_bound(drawn, batch * 10_000, wanted(batch, 2))
    test_delaying.meet_states_of_bfs(drawn, batch * 10_000, wanted(batch, 5))


@pytest.mark.parametrize("batch", batches(1, 3))
def test_what_is_fair_to_each_lane_is_so_on_live_worlds(batch):
    met, systems = set(), 0
    for seed in count(batch * 10_000):
        found = test_endless.compare(seed, drawn)
        if found is not None:
            met, systems = met | found, systems + 1
        if systems >= wanted(batch, 5) and (not batch or test_endless.EVERY_KIND <= met):
            break
        assert systems < KINDS_MAX, met


@pytest.mark.parametrize("batch", batches(1, 3))
def test_searches_for_cycles_that_end_say_what_bfs_says_where_there_are_lanes(batch):
    systems = test_cycles.small(batch * 10_000, drawn)
    for seed, system, claim, breadth in islice(systems, wanted(batch, 2)):
        expected = test_cycles.broken(system, breadth, claim)
        report = test_cycles.searched(system, test_cycles.SCHEDULERS[seed % 3])
        assert report.exhausted and report.unique == breadth.unique, seed
        assert test_cycles.broken(system, report, claim) == expected, seed


@pytest.mark.parametrize("batch", batches(1, 3))
def test_orbits_are_those_of_brute_force_where_there_are_lanes(batch):
    make = partial(symmetric_system, lanes=True)
    make.__name__ = "laned"
    test_symmetry.compare_many(batch * 10_000, make, wanted(batch, 3))


@pytest.mark.parametrize("batch", batches(1, 3))
def test_a_search_from_a_saved_state_with_lanes_agrees_with_the_reference(batch, monkeypatch):
    monkeypatch.setattr(test_predict, "SANDBOX", Sandbox())  # one is entered once only
    with test_predict.SANDBOX:
        for seed, begun, outside in begun_systems(batch):
            assert test_predict.compare(begun, (), outside) in (True, False), seed


def begun_systems(batch):
    """Systems with lanes begun in a saved state, some with a node outside."""
    for seed in range(batch * 10_000, batch * 10_000 + wanted(batch, 6)):
        system = drawn(seed)
        outside = system.names[:1] if seed % 3 == 0 else ()
        saved = walked(system, seed)
        yield seed, begun_in(system, saved, faults=system.faults, outside=outside), outside


@pytest.mark.parametrize("batch", batches(1, 3))
def test_a_search_with_lanes_that_is_stopped_loses_nothing(tmp_path, batch):
    systems = test_checkpoint.large_enough(batch * 10_000, drawn, wanted(batch, 2))
    for seed, plain in systems:
        options = {"keep_going": True, "checkpoint": tmp_path / str(seed), "make": drawn}
        test_checkpoint.searched(seed, states=plain.unique // 3 + 1, **options)
        last = test_checkpoint.searched(seed, resume=True, threads=1 + seed % 2, **options)
        assert test_checkpoint.told(last) == test_checkpoint.told(plain), seed


@pytest.mark.parametrize("batch", batches(1, 3))
def test_walks_hunts_and_moves_meet_no_state_that_is_not_there(batch):
    systems = test_alike.small(drawn, batch * 10_000, ("crash", "drop", "reset"))
    for seed, system, breadth, states in islice(systems, wanted(batch, 1)):
        for search in ("walk", "semantic", "hunt"):
            report, met = test_alike.searched(system, search=search, walks=30, seed=seed)
            assert met <= states, (seed, search)
            expected = test_alike.broken(breadth)
            if search == "hunt":  # sees executions that never come to rest, too
                expected = test_alike.broken(check(system, keep_going=True, traces=None))
            assert test_alike.broken(report) <= expected, (seed, search)
