"""Faults made by hand: one more than the system allows, for somebody who wants to see what then.

A search never goes there, and a fingerprint does not tell: an execution with such a fault is a
thought experiment, and whoever shows it has to say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from presage.model.service.node import Exposed
from presage.model.world.event import FAULT_OF, Event
from presage.model.world.world import World

BARED = Exposed(*(True for _ in Exposed._fields))


@contextmanager
def granting(world: World, event: Event | None) -> Iterator[None]:
    """Within it `event`, a fault, may happen once more than the budgets say; None: no change.

    Not more than that: what the node or the network is not in a state for stays impossible.
    """
    if event is None:
        yield
        return
    fault, budgets = FAULT_OF[event.kind], list(world.budgets)
    exposed = [(automaton, automaton.exposed) for automaton in world.system.automata]
    steps = world.steps
    world.budgets[fault] = budgets[fault] + 1
    for automaton, _ in exposed:
        automaton.exposed = BARED
    try:
        yield
    finally:
        for automaton, before in exposed:
            automaton.exposed = before
        if world.steps == steps:  # it did not happen
            world.budgets[:] = budgets
