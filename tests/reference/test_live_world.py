"""The live world and the reference explorer go through the same states, in the same way."""

import pytest
from reference.explorer import TooLarge, explore
from reference.random_systems import random_system

from presage.model.world.world import World


def counted(system):
    """States, generated transitions and depth, by going through live worlds."""
    branches = [()]
    for automaton in system.automata:
        runs = automaton.branches(automaton.initial, ("start",), held={})
        branches = [(*b, *(k for k, _ in run.choices)) for b in branches for run in runs]
    return level_counts(*(World.initial(system, choices) for choices in branches))


def level_counts(*worlds):
    """The same, from these worlds on."""
    seen, level, generated, depth = set(), [], 0, 0
    for world in worlds:
        generated += 1
        if world.fingerprint not in seen:
            seen.add(world.fingerprint)
            level.append(world.save())
    while level:
        depth += 1
        level, previous = [], level
        for saved in previous:
            world.restore(saved)
            for event in world.enabled():
                for choices in world.runs(event):
                    generated += 1
                    step = world.apply(event, choices)
                    if step.fingerprint not in seen:
                        seen.add(step.fingerprint)
                        level.append(world.save())
                    world.restore(saved)
    return len(seen), generated, depth


@pytest.mark.parametrize("block", range(4))
def test_worlds_and_the_reference_agree_on_random_systems(block):
    compared = 0
    for seed in range(block * 15, block * 15 + 15):
        system = random_system(seed)
        try:
            result = explore(system, most=60)
        except TooLarge:
            continue
        assert counted(system) == (result.states, result.generated, result.depth), seed
        compared += 1
    assert compared >= 3
