"""Calls of the workload that wait for their guards: all explorers agree on random systems."""

import pytest
from reference import random_events, random_systems, symmetric_systems, test_event_reductions
from reference.explorer import TooLarge, explore
from reference.test_kernel import compare
from reference.test_live_world import counted
from reference.test_symmetry import compare_many

from presage import Call

STATES_MAX = 120
SYSTEMS_PER_TEST = 12
GUARDS = (
    lambda node: node.a == 0,
    lambda node: node.a != 1,
    lambda node: bool(node.timers),
)


def guarded(method, value):
    return Call(method, value, when=GUARDS[value % len(GUARDS)])


def watched(method, value):
    """Of nodes that may change places: a guard that treats them alike."""
    return Call(method, value, when=lambda node: len(node.known) > value)


def held_back(system):
    """Whether a guard keeps a call from being the first thing that happens."""
    nodes = (node for node in system.automata if node.workload)
    return any(("call",) not in dict(node.stimuli(node.initial())) for node in nodes)


def test_kernel_live_world_and_reference_agree_on_guarded_calls(monkeypatch):
    monkeypatch.setattr(random_systems, "Call", guarded)
    compared = waited = 0
    for seed in range(800_000, 801_000):
        system = random_systems.random_system(seed)
        if not system.calls:
            continue
        try:
            expected = explore(system, STATES_MAX)
        except TooLarge:
            continue
        compare(system, expected)
        if expected.states <= 30:
            assert counted(system) == (expected.states, expected.generated, expected.depth), seed
        compared += 1
        waited += held_back(system)
        if compared == SYSTEMS_PER_TEST:
            break
    assert waited >= SYSTEMS_PER_TEST // 3


def test_executions_and_states_tell_the_same_of_guarded_calls(monkeypatch):
    monkeypatch.setattr(random_events, "Call", guarded)
    test_event_reductions.compare_many(810_000, SYSTEMS_PER_TEST, random_events.lively_system)


@pytest.mark.slow
def test_nodes_with_guarded_calls_change_places(monkeypatch):
    monkeypatch.setattr(symmetric_systems, "Call", watched)
    compare_many(820_000, symmetric_systems.symmetric_system, SYSTEMS_PER_TEST)
