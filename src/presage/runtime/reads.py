"""Which fields properties read: a node pushes its checkpoint when one of these has changed.

Found by judging the properties in the states of a calm walk, with a reader that notes what it was
asked. A property may read a field only in states that the walk does not come to. Then its change
waits for the next gathering: pushes make checkpoints fresh, and nothing rests on them.
"""

from __future__ import annotations

import contextlib
from typing import Any

from presage.errors import BadChoice
from presage.model.world.event import FAULT_KINDS
from presage.model.world.snapshot import Snapshot, SnapshotReader
from presage.model.world.system import System
from presage.model.world.view import WorldView
from presage.model.world.world import World

STEPS = 100  # of the walk


class _Noting(SnapshotReader):
    """Notes node and position of every value that is asked for."""

    def __init__(self, system: System, saved: Snapshot, noted: set[tuple[int, int]]) -> None:
        super().__init__(system, saved)
        self._noted = noted

    def value(self, node: int, position: int, /) -> Any:
        self._noted.add((node, position))
        return super().value(node, position)


def fields_read(system: System, steps: int = STEPS) -> dict[str, frozenset[str]]:
    """Per class of service, by its name, the fields that properties were seen to read."""
    noted: set[tuple[int, int]] = set()
    world = _first(system)
    for _ in range(steps):
        _judge(system, world.save(), noted)
        if not _advance(world):
            break
    found: dict[str, set[str]] = {}
    for node, position in noted:
        automaton = system.automata[node]
        if position:
            fields = found.setdefault(automaton.service.__name__, set())
            fields.add(automaton.fields[position - 1])
    return {service: frozenset(fields) for service, fields in found.items()}


def _first(system: System) -> World:
    """The world in which every `start` chose its first option."""
    choices: tuple[int, ...] = ()
    while True:
        try:
            return World.initial(system, choices)
        except BadChoice:
            choices = (*choices, 0)


def _judge(system: System, saved: Snapshot, noted: set[tuple[int, int]]) -> None:
    for claim in system.properties:
        if claim.kind == "step":
            continue
        view = WorldView(system, _Noting(system, saved, noted))
        with contextlib.suppress(Exception):  # what is wrong with it is for a search to say
            claim.judge(view)


def _advance(world: World) -> bool:
    """Take the first event of a class that is not a fault, those of streams and mail first."""
    ordinary = [event for event in world.enabled() if event.kind not in FAULT_KINDS]
    mail = [event for event in ordinary if event.kind in ("deliver", "receive")]
    for event in [*mail, *ordinary]:
        for choices in world.runs(event)[:1]:
            return not world.apply(event, choices).failure
    return False
