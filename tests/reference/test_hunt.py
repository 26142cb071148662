"""What a hunt says of random systems, against the graph of live worlds: what is dead, and where."""

from dataclasses import replace
from itertools import count

import pytest
from reference import endless
from reference.batches import batches
from reference.plain import TooLarge
from reference.random_features import featured_system
from reference.random_systems import random_system

from presage import Hunt, Timed, check, eventually

STATES_MAX = 150
SYSTEMS_PER_TEST = 25
RECOVERIES = ("restart", "heal")
SETTINGS = Hunt(walk_length=2_000, recovery_walks=20, region=10_000, samples=4, depth_step=3)


def prepared(seed):
    """A random system whose only claim is one `eventually`."""
    if seed % 5 == 0:
        system = featured_system(seed, clock=Timed(drift=1) if seed % 3 == 0 else None)
    else:
        system = random_system(seed, wired=seed % 2 == 0)
    predicate = next(prop for prop in system.properties if prop.kind == "eventually").predicate
    claims = (predicate, lambda world: not predicate(world), lambda world: False)
    system.properties = (eventually(claims[seed % 7 % 3], name="claim"),)
    return system, claims[seed % 7 % 3]


def calm(edges):
    """The edges by which a system may go on without further faults."""
    return [
        (state, target)
        for state, here in enumerate(edges)
        for target, _, fault in here
        if not fault or fault in RECOVERIES
    ]


def compare(seed, executions):
    """Whether it was compared, and whether something was found."""
    system, claim = prepared(seed)
    try:
        edges, views, prints = endless.graph(system, STATES_MAX)
    except TooLarge:
        return None
    holds = [state for state, view in enumerate(views) if claim(view)]
    live = endless.leading(range(len(edges)), calm(edges), holds)
    hunt = replace(SETTINGS, executions=executions)
    report = check(
        system, search="hunt", hunt=hunt, walks=400, seed=seed, traces=None, keep_going=True
    )
    assert report.errors == (), seed
    dead = [state for state in range(len(edges)) if state not in live]
    violations = [found for found in report.violations if found.prop == "claim"]
    assert bool(violations) == bool(dead), (seed, len(dead))
    for found in violations:
        number = {fingerprint: state for state, fingerprint in enumerate(prints)}
        path = [found.trace.initial, *(step.fingerprint for step in found.trace.steps)]
        states = [number[fingerprint] for fingerprint in path]
        assert found.evidence.startswith("exact"), (seed, found.evidence)
        assert states[found.critical] in dead, seed
        if found.critical:
            assert states[found.critical - 1] in live, seed
            assert number[found.live.steps[-1].fingerprint] in holds if found.live.steps else True
    return bool(violations)


@pytest.mark.parametrize("executions", ["all", pytest.param("delay", marks=pytest.mark.slow)])
@pytest.mark.parametrize("batch", batches(1, 4))
def test_a_hunt_finds_dead_states_where_there_are_some_and_only_there(batch, executions):
    compared, found = 0, 0
    for seed in count(batch * 10_000 + 900_000):
        outcome = compare(seed, executions)
        compared += outcome is not None
        found += bool(outcome)
        if compared == SYSTEMS_PER_TEST:
            break
    assert SYSTEMS_PER_TEST // 10 < found < SYSTEMS_PER_TEST * 9 // 10
