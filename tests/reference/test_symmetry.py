"""Symmetry against the plain search and a brute-force count of orbits, on random systems."""

from collections import Counter
from itertools import count, permutations, product

import pytest
from reference.batches import batches
from reference.explorer import Explorer
from reference.plain import key_of
from reference.symmetric_features import keeping_system
from reference.symmetric_systems import renamed, symmetric_system

from presage import check

STATES_MIN, STATES_MAX = 4, 120
SYSTEMS_PER_TEST = 12


class Orbits(Explorer):
    """The reference explorer, counting states up to every exchange of interchangeable nodes."""

    def __init__(self, system):
        super().__init__(system)
        self.orbits = set()
        self.places = list(arrangements(system))

    def meet(self, state, length):
        known = len(self.seen)
        key = super().meet(state, length)
        if len(self.seen) > known:
            images = (self.arranged(state, each) for each in self.places)
            self.orbits.add(min(key_of(self.system, image) for image in images))
        return key

    def arranged(self, state, places):
        """The state with each node at the place that `places` says."""
        automata = self.system.automata
        names = {automata[at].name: automata[to].name for at, to in enumerate(places)}
        nodes = [None] * len(places)
        for at, (status, calls, timers, failure) in enumerate(v[0] for v in state.nodes):
            image = automata[places[at]]
            control = (status, calls, renamed(timers, names), failure and "failed")
            values = [control, *renamed(state.nodes[at][1:], names)]
            values[image.positions["peers"]] = image.initial()[image.positions["peers"]]
            nodes[places[at]] = values
        flying = ((places[s], places[to], renamed(m, names)) for s, to, m in state.flying)
        observers = renamed(state.observers, names)
        return state._replace(nodes=tuple(nodes), observers=observers, flying=tuple(flying))


def arrangements(system):
    """Every way to exchange nodes within their groups."""
    groups = system.symmetric.groups
    for orders in product(*map(permutations, groups)):
        places = list(range(len(system.names)))
        for group, order in zip(groups, orders, strict=True):
            for node, place in zip(group, order, strict=True):
                places[node] = place
        yield places


def outcome(system, **how):
    report = check(system, keep_going=True, traces=None, liveness="rest", **how)
    assert report.errors == ()
    broken = {found.prop: found.steps for found in report.violations if found.kind != "unreached"}
    return report, broken


def compare(system, plain, shortest):
    explorer = Orbits(system)
    explorer.explore(STATES_MAX)
    assert len(explorer.seen) == plain.unique
    orbits = len(explorer.orbits)
    for threads in (1, 2):
        report, broken = outcome(system, symmetry=True, threads=threads)
        assert report.exhausted
        assert (report.unique, report.depth) == (orbits, plain.depth)
        assert report.properties == plain.properties
        assert broken == shortest
    report, broken = outcome(system, symmetry=True, search="dfs")
    assert report.unique == orbits
    assert report.properties == plain.properties
    assert set(broken) == set(shortest)
    walked, broken = outcome(system, symmetry=True, search="walk", walks=30, depth=40)
    assert walked.unique <= orbits
    assert set(broken) <= set(shortest)
    return orbits < plain.unique


def compare_many(first, make, systems):
    compared = smaller = 0
    happened = Counter()
    for seed in count(first):
        system = make(seed)
        plain, shortest = outcome(system, states=STATES_MAX)
        if not plain.exhausted or plain.unique < STATES_MIN:
            continue
        try:
            smaller += compare(system, plain, shortest)
        except AssertionError as error:
            raise AssertionError(f"{make.__name__}({seed}): {error}") from error
        compared += 1
        happened.update(plain.faults)
        if compared == systems:
            break
    assert smaller > systems // 2
    return happened


@pytest.mark.parametrize("batch", batches(1, 4))
def test_orbits_and_verdicts_are_those_of_brute_force(batch):
    compare_many(batch * 10_000, symmetric_system, SYSTEMS_PER_TEST)


def test_disks_times_and_slow_nodes_are_exchanged_like_the_rest():
    assert compare_many(100_000, keeping_system, SYSTEMS_PER_TEST)["slow"] > 0
