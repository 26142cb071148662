"""Searches that begin in a saved state against the reference explorer, on random systems."""

from itertools import count
from weakref import WeakKeyDictionary

import pytest
from reference.batches import batches
from reference.origins import OriginExplorer, some_filters, walked
from reference.plain import TooLarge
from reference.random_features import featured_system
from reference.random_systems import random_system
from reference.test_live_world import level_counts

from presage.execution.confirm import confirm
from presage.execution.sandbox import Sandbox
from presage.limits import Limits, PredictionPlan
from presage.model.world.origin import begun_in
from presage.model.world.world import World
from presage.search import predict

STATES_MAX = 150
SYSTEMS_PER_TEST = 5  # on every run
SYSTEMS_PER_BATCH = 30  # 330 from saved states, 90 with filters, 90 with nodes outside
EVERYTHING = Limits(keep_going=True)
SANDBOX = Sandbox()  # another for each time that these tests are begun
KERNELS = WeakKeyDictionary()


@pytest.fixture(autouse=True, scope="module")
def watched():
    global SANDBOX
    with Sandbox() as SANDBOX:
        yield
    KERNELS.clear()


def drawn(seed):
    """A system with streams, features or neither, by its seed."""
    if seed % 4 == 3:
        return featured_system(seed, wired=seed % 8 == 3)
    return random_system(seed, wired=seed % 2 == 1)


def searched(begun, own_events=None, limits=EVERYTHING):
    """What the kernel says: its outcome, and the properties decided, with the lengths."""
    bridge, kernel = KERNELS.setdefault(begun, predict.Predictor(begun, SANDBOX)).kernel(begun)
    filters = [predict.kernel_filter(begun, each) for each in begun.origin.filters]
    plan = PredictionPlan(own_events, filters, predict.unjudged(begun, set()))
    outcome = kernel.predict(predict.kernel_origin(begun), plan, limits)
    assert not bridge.errors
    for finding in outcome.found:
        confirm(begun, SANDBOX, finding)  # or raises
    names = ["no_exception", *(prop.name for prop in begun.properties)]
    lengths = {names[finding.at]: len(finding.events) for finding in outcome.found}
    return outcome, lengths, (outcome.unique, outcome.generated)


def compare(begun, filters=(), outside=()):
    """Compare with the reference; true if the system is small enough."""
    try:
        explorer = OriginExplorer(begun, filters, outside)
        expected = explorer.explore(STATES_MAX)
    except TooLarge:
        return False
    outcome, decided, _ = searched(begun)
    assert (outcome.unique, outcome.generated) == (expected.states, expected.generated)
    assert (outcome.depth, decided) == (expected.depth, expected.decided)
    assert not outcome.left_out
    for own_events in (1, 2, 4, 1 << 20):
        bounded, found, _ = searched(begun, own_events)
        assert bounded.unique <= expected.states
        assert set(found) <= set(decided)
        assert all(length >= decided[name] for name, length in found.items())
        if not bounded.left_out:
            assert (bounded.unique, found) == (expected.states, decided)
    assert not bounded.left_out
    return True


def compare_some(batch, make):
    compared = 0
    for seed in count(batch * 10_000):
        system = drawn(seed)
        made = make(system, seed)
        try:
            compared += made is not None and compare(*made)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        if compared == (SYSTEMS_PER_BATCH if batch % 100 else SYSTEMS_PER_TEST):
            return


def filtered(system, seed):
    filters = some_filters(system, seed)
    saved = walked(system, seed)
    return begun_in(system, saved, faults=system.faults, filters=filters), filters


def matters(begun, system, seed):
    """Whether the filters of `begun` change what can happen."""
    plain = begun_in(system, walked(system, seed), faults=system.faults)
    limits = Limits(states=4 * STATES_MAX, keep_going=True)
    return searched(plain, limits=limits)[1:] != searched(begun, limits=limits)[1:]


@pytest.mark.parametrize("batch", batches(1, 5))
def test_a_search_from_a_saved_state_agrees_with_the_reference(batch):
    def make(system, seed):
        faults = system.faults if seed % 3 else None
        return (begun_in(system, walked(system, seed), faults=faults),)

    compare_some(batch, make)


@pytest.mark.parametrize("batch", batches(1, 2))
def test_filters_replace_what_the_reference_replaces(batch):
    def make(system, seed):
        begun, filters = filtered(system, seed)
        return (begun, filters) if matters(begun, system, seed) else None

    compare_some(100 + batch, make)


@pytest.mark.parametrize("batch", batches(1, 2))
def test_nodes_outside_swallow_and_leave_properties_unknown(batch):
    def make(system, seed):
        outside = system.names[seed % len(system.names) :][:1]
        saved = walked(system, seed)
        begun = begun_in(system, saved, faults=system.faults, outside=outside)
        return begun, (), outside

    compare_some(200 + batch, make)


def test_live_worlds_with_filters_go_through_the_same_states():
    compared = 0
    for seed in count(3_000_000):
        system = drawn(seed)
        begun, filters = filtered(system, seed)
        try:
            expected = OriginExplorer(begun, filters).explore(40)
        except TooLarge:
            continue
        if not matters(begun, system, seed):
            continue
        assert level_counts(World.initial(begun)) == expected[:3], seed
        compared += 1
        if compared == 5:
            return
