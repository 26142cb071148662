"""Exact liveness of whole random systems, against plain Python on the graph of live worlds."""

from functools import partial
from itertools import count

import pytest
from reference import endless
from reference.batches import batches, portion
from reference.plain import TooLarge
from reference.random_features import featured_system
from reference.random_systems import random_system

from presage import Timed, World, check, eventually

STATES_MAX = 120
UNITS_MAX = 9
SYSTEMS_PER_TEST = 80  # a quarter of them on every run, each under three kinds of fairness
FEATURED_PER_TEST = 8  # with disks, times and slow nodes, and the same with clocks
FAIRNESSES = ("weak", "strong", "none")
EVERY_KIND = {(True, True), (False, True), (False, False)}  # of violation: at rest, dead


def prepared(system, seed):
    """A random system whose only claim is one `eventually`, under each kind of fairness."""
    predicate = next(prop for prop in system.properties if prop.kind == "eventually").predicate
    claims = (predicate, lambda world: not predicate(world), lambda world: False)
    claim = claims[seed % 3]
    system.properties = tuple(
        eventually(claim, fairness=fairness, name=fairness) for fairness in FAIRNESSES
    )
    return claim


def check_violation(system, found, claim):
    """What the report says of it is so: it ends at rest, or in a real loop, without the claim."""
    trace = found.trace
    world = World.initial(system, trace.choices)
    for step in trace.steps:
        assert found.loop is None or step.index < found.loop or not claim(world.view())
        event = next(event for event in world.enabled() if step.matches(event))
        world.apply(event, [k for k, _ in step.choices])
        assert world.fingerprint == step.fingerprint
    assert not claim(world.view())
    if found.loop is None:
        assert world.at_rest()
    else:
        before = trace.steps[found.loop - 2].fingerprint if found.loop > 1 else trace.initial
        assert world.fingerprint == before
        assert found.fairness == found.prop


def compare(seed, make=random_system):
    """Whether it was compared, and what was found: rest or loop, dead or not."""
    system = make(seed)
    claim = prepared(system, seed)
    sized = check(system, states=STATES_MAX + 1, keep_going=True, liveness="rest", traces=None)
    if sized.unique > STATES_MAX:
        return None  # the kernel knows at once
    try:
        edges, views, _ = endless.graph(system, STATES_MAX)
    except TooLarge:
        return None
    if len({unit for here in edges for _, unit, _ in here}) > UNITS_MAX:
        return None
    holds = [bool(claim(view)) for view in views]
    expected = {name for name in FAIRNESSES if endless.violated(edges, holds, name)}
    report = check(system, keep_going=True, traces=None)
    assert (report.unique, report.errors) == (len(edges), ())
    found = {each.prop: each for each in report.violations if each.kind == "liveness"}
    assert set(found) == expected, seed
    pairs = [(s, t) for s, here in enumerate(edges) for t, _, _ in here]
    live = endless.leading(range(len(edges)), pairs, [s for s, good in enumerate(holds) if good])
    critical = sum(s in live and t not in live for s, t in pairs)
    for name in FAIRNESSES:
        told = report.liveness[name]
        assert (told.live, told.unknown) == (len(live), 0), seed
        assert (told.dead, told.critical) == (len(edges) - len(live), critical), seed
    for each in found.values():
        check_violation(system, each, claim)
    return {(each.loop is None, each.dead) for each in found.values()}


def compare_many(first, make=random_system, systems=SYSTEMS_PER_TEST):
    compared, met = 0, set()
    for seed in count(first):
        outcome = compare(seed, make)
        if outcome is not None:
            compared += 1
            met |= outcome
        if compared == systems:
            return met


@pytest.mark.parametrize("batch", batches(1, 3))
def test_exact_liveness_agrees_with_plain_python_on_random_systems(batch):
    systems = portion(batch, SYSTEMS_PER_TEST)
    assert compare_many(batch * 10_000 + 500_070, systems=systems) >= EVERY_KIND


@pytest.mark.parametrize("batch", batches(1, 3))
def test_exact_liveness_agrees_with_plain_python_on_systems_with_streams(batch):
    make = partial(random_system, wired=True)
    systems = portion(batch, SYSTEMS_PER_TEST)
    first = 700_000 + batch * 10_000 if batch else 700_080  # one of each kind is near it
    assert compare_many(first, make, systems) >= EVERY_KIND


FEATURED = {
    "plain": {},
    "timed": {"clock": Timed(drift=1)},
    "with streams": {"wired": True},
    "timed with streams": {"wired": True, "clock": Timed()},
}


@pytest.mark.parametrize("settings", FEATURED.values(), ids=FEATURED)
def test_exact_liveness_agrees_where_there_are_disks_times_and_slow_nodes(settings):
    make = partial(featured_system, **settings)
    assert compare_many(830_000, make, FEATURED_PER_TEST) >= {(True, True), (False, True)}


def test_disks_and_slow_nodes_are_owed_their_turn_in_those_systems():
    units = set()
    for seed in count(830_000):
        system = featured_system(seed)
        sized = check(system, states=STATES_MAX + 1, keep_going=True, liveness="rest", traces=None)
        if sized.unique <= STATES_MAX:
            edges, *_ = endless.graph(system, STATES_MAX)
            units |= {unit[0] for here in edges for _, unit, _ in here if unit is not None}
        if {"write", "wake", "timer"} <= units:
            return
