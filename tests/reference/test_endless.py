"""Exact liveness of whole random systems, against plain Python on the graph of live worlds."""

from itertools import count

import pytest
from reference import endless
from reference.plain import TooLarge
from reference.random_systems import random_system

from presage import World, check, eventually

STATES_MAX = 120
UNITS_MAX = 9
SYSTEMS_PER_TEST = 80  # 240 in all, each under three kinds of fairness
FAIRNESSES = ("weak", "strong", "none")


def prepared(seed, wired):
    """A random system whose only claim is one `eventually`, under each kind of fairness."""
    system = random_system(seed, wired=wired)
    predicate = next(prop for prop in system.properties if prop.kind == "eventually").predicate
    claims = (predicate, lambda world: not predicate(world), lambda world: False)
    claim = claims[seed % 3]
    system.properties = tuple(
        eventually(claim, fairness=fairness, name=fairness) for fairness in FAIRNESSES
    )
    return system, claim


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


def compare(seed, wired):
    """Whether it was compared, and what was found: rest or loop, dead or not."""
    system, claim = prepared(seed, wired)
    try:
        edges, views = endless.graph(system, STATES_MAX)
    except TooLarge:
        return None
    if len({unit for here in edges for _, unit, _ in here}) > UNITS_MAX:
        return None
    holds = [bool(claim(view)) for view in views]
    expected = {name for name in FAIRNESSES if endless.violated(edges, holds, name)}
    report = check(system, keep_going=True, traces=None)
    assert (report.unique, report.errors) == (len(edges), [])
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


def compare_many(first, *, wired=False):
    compared, met = 0, set()
    for seed in count(first):
        outcome = compare(seed, wired)
        if outcome is not None:
            compared += 1
            met |= outcome
        if compared == SYSTEMS_PER_TEST:
            break
    assert {(True, True), (False, True), (False, False)} <= met


@pytest.mark.parametrize("batch", range(3))
def test_exact_liveness_agrees_with_plain_python_on_random_systems(batch):
    compare_many(batch * 10_000 + 500_000)


@pytest.mark.parametrize("batch", range(3))
def test_exact_liveness_agrees_with_plain_python_on_systems_with_streams(batch):
    compare_many(batch * 10_000 + 700_000, wired=True)
