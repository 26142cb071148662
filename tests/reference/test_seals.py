"""Sealed random systems: the kernel and live worlds against the reference explorer."""

from functools import partial
from itertools import count, islice

import pytest
from reference import test_endless
from reference.batches import batches
from reference.plain import TooLarge
from reference.random_events import lively_system
from reference.random_features import featured_system
from reference.random_lanes import mixed
from reference.random_seals import sealed
from reference.random_systems import random_system
from reference.test_live_world import counted

from presage import Timed, World, check
from presage.errors import BadChoice, BadSeal
from presage.execution.sandbox import Sandbox
from presage.limits import DelayPlan, Limits
from presage.search.check import build
from presage.search.kernel.bridge import Bridge

STATES_MAX = 60
SYSTEMS_PER_TEST = {"plain": 10, "streams": 10, "features": 4, "lanes": 4}  # 364 in all
STEPS_MAX = 30  # of an execution that is followed to its end
SCHEDULERS = ("rtc", "rr", "random")


def clocks(seed):
    """Every third of them is timed."""
    return {"clock": Timed(drift=1)} if seed % 3 == 2 else {}


KINDS = {
    "plain": random_system,
    "streams": lambda seed: random_system(seed, wired=True),
    "features": lambda seed: featured_system(seed, wired=seed % 2 == 1, **clocks(seed)),
    "lanes": partial(mixed, random_system),
}


def small(make, first, states=STATES_MAX, **how):
    """(seed, system, what the reference says) of sealed systems that are small enough."""
    for seed in count(first):
        try:
            system, expected = sealed(make(seed), seed, states, **how)
        except TooLarge:
            continue
        yield seed, system, expected


def lifted(make, first, states=STATES_MAX):
    """The same, of those systems whose seals are always lifted."""
    found = small(make, first, states)
    return ((*known, result) for *known, result in found if not isinstance(result, str))


def searched(system, seed):
    """Breadth first, depth first, by delays: on one kernel."""
    with Sandbox() as sandbox:
        kernel = build(system, Bridge(system, sandbox))
        limits = Limits(keep_going=True, seed=seed)
        yield kernel.search("bfs", Limits(keep_going=True, threads=1 + seed % 3))
        yield kernel.search("dfs", limits)
        yield kernel.delay(DelayPlan(SCHEDULERS[seed % 3]), limits)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", batches(1, 5))
def test_every_search_that_remembers_states_meets_those_of_the_reference(kind, batch):
    found = lifted(KINDS[kind], 1_000_000 + batch * 10_000)
    for seed, system, expected in islice(found, SYSTEMS_PER_TEST[kind]):
        names = ["no_exception", *(prop.name for prop in system.properties)]
        for outcome in searched(system, seed):
            counts = (outcome.unique, outcome.generated)
            assert counts == (expected.states, expected.generated), seed
            assert {names[found.at] for found in outcome.found} == set(expected.decided), seed


@pytest.mark.parametrize("kind", KINDS)
def test_live_worlds_go_through_the_states_of_the_reference(kind):
    for seed, system, expected in islice(lifted(KINDS[kind], 2_000_000, 40), 4):
        assert counted(system) == (expected.states, expected.generated, expected.depth), seed


@pytest.mark.parametrize("batch", batches(1, 3))
def test_a_seal_that_is_never_lifted_is_named_by_every_search_that_meets_all_states(batch):
    stuck = 0
    for seed, system, expected in small(random_system, 3_000_000 + batch * 10_000, repair=False):
        if not isinstance(expected, str):
            continue
        for how in ({"threads": 1 + seed % 3}, {"search": "dfs"}, {"search": "delay"}):
            with pytest.raises(BadSeal, match="is never lifted"):
                check(system, traces=None, keep_going=True, liveness="rest", **how)
        stuck += 1
        if stuck == 5:
            return


def sealed_and_lifted(make, seed, states):
    """A sealed system, or the same without seals where one is never lifted."""
    try:
        system, expected = sealed(make(seed), seed, states)
    except TooLarge:
        return make(seed)
    return make(seed) if isinstance(expected, str) else system


@pytest.mark.parametrize("batch", batches(1, 3))
def test_liveness_of_sealed_systems_agrees_with_plain_python(batch):
    """Fairness speaks of what the seals leave possible: the graph is that of live worlds."""
    make = partial(sealed_and_lifted, random_system, states=test_endless.STATES_MAX)
    found = test_endless.compare_many(4_000_000 + batch * 10_000, make, 16)
    assert {(True, True), (False, True)} <= found


def test_searches_for_cycles_in_sealed_systems_say_what_bfs_says():
    found = lifted(random_system, 6_000_000)
    for seed, system, _expected in islice(found, 8):
        test_endless.prepared(system, seed)
        breadth = check(system, keep_going=True, traces=None)
        cycles = check(system, keep_going=True, traces=None, search="cycles")
        assert cycles.unique == breadth.unique, seed
        assert (cycles.properties, cycles.liveness) == (breadth.properties, breadth.liveness), seed


def executions(world, most):
    """How many executions there are of steps that lead elsewhere, faults aside."""
    if world.steps > STEPS_MAX:
        raise TooLarge
    saved, here, found = world.save(), world.fingerprint, 0
    for event in world.enabled():
        for choices in world.runs(event):
            step = world.apply(event, choices)
            if step.fingerprint != here or step.records:
                found += executions(world, most - found)
            world.restore(saved)
            if found > most:
                raise TooLarge
    return found or 1


def test_the_tree_without_reduction_has_the_executions_of_live_worlds():
    compared = differ = 0
    for seed in count(5_000_000):
        system = lively_system(seed)
        if any(system.faults.budgets):
            continue
        try:
            free = executions(World.initial(system), 300)
            system, expected = sealed(system, seed, STATES_MAX)
            if isinstance(expected, str):
                continue
            number = executions(World.initial(system), 300)
        except (TooLarge, BadChoice):
            continue
        report = check(system, search="tree", reduction="none", keep_going=True, traces=None)
        assert report.exhausted and report.traces == number, seed
        compared, differ = compared + 1, differ + (number != free)
        if compared >= 12 and differ >= 4:
            return
