"""Go on by chance, on live code: which events are likely, and in what order they are tried.

The rules are those of the kernel's walks: what changes nothing does not happen, and a calm walk
leaves out faults but not their ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from presage._core import FAULTS
from presage.execution.sandbox import Sandbox
from presage.model.weights import RECOVERIES, USUAL
from presage.model.world.event import FAULT_OF, Event
from presage.model.world.system import System
from presage.model.world.world import World

T = TypeVar("T")
Weighed = list[tuple[Event, float]]

WORD = 2**64


class Dice:
    """SplitMix64: the same throws for the same seed, in every process."""

    def __init__(self, seed: int) -> None:
        self._state = seed % WORD

    def below(self, total: float) -> float:
        """A number from 0 to, but not including, `total`."""
        self._state = (self._state + 0x9E3779B97F4A7C15) % WORD
        mixed = self._state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % WORD
        mixed ^= mixed >> 31
        return total * (mixed >> 11) / 2**53

    def pick(self, weighed: list[tuple[T, float]]) -> tuple[T, float]:
        left = self.below(sum(weight for _, weight in weighed))
        for each in weighed:
            if left < each[1]:
                return each
            left -= each[1]
        return weighed[-1]


def weight_of(system: System, event: Event, *, calm: bool) -> float:
    weights = system.weights or USUAL
    shape = (
        system.automata[system.index(event.node)].shape if event.node in system.indices else None
    )
    if event.kind in FAULT_OF:
        fault = FAULTS[FAULT_OF[event.kind]]
        return 0.0 if calm and fault not in RECOVERIES else weights.of(fault)
    own = None
    if event.kind == "timer" and shape is not None:
        own = shape.timers[event.name].weight  # type: ignore[union-attr]
    elif event.kind == "action" and shape is not None:
        own = shape.actions[event.name].weight  # type: ignore[union-attr]
    kind = "deliver" if event.kind == "receive" else event.kind
    return weights.of(kind) if own is None else own


def likely(world: World, sandbox: Sandbox, *, calm: bool) -> Weighed:
    """The events that walks may take from here, each with its weight."""
    events: list[Event] = sandbox.run(world.enabled)
    weighed = [(event, weight_of(world.system, event, calm=calm)) for event in events]
    return [(event, weight) for event, weight in weighed if weight > 0]


def drawn(
    world: World, sandbox: Sandbox, dice: Dice, events: Weighed
) -> Iterator[tuple[Event, tuple[int, ...]]]:
    """All of `events`, the likely ones, with their choices, in an order drawn by weight.

    Whoever tries one that does not do restores `world` before asking for the next.
    """
    left = list(events)
    while left:
        event, weight = dice.pick(left)
        odds = [each for each in sandbox.run(world.odds, event) if each[1] > 0]
        while odds:
            choices, share = dice.pick(odds)
            yield event, choices
            odds.remove((choices, share))
        left.remove((event, weight))
