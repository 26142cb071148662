"""Go on by chance: what can happen next, how likely it is, and calm walks until all is well.

The rules are the hunt's: what changes nothing does not happen, a calm walk leaves out faults but
not their ends, and it is live as soon as every `eventually` holds at once. Here they are followed
on live code, a step at a time, so that somebody can look on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from presage.debug.execution import Taken
from presage.model.choice import NOT_THEIRS
from presage.model.event import FAULT_KINDS, FAULT_OF, Event
from presage.model.system import FAULTS, System
from presage.model.weights import RECOVERIES, Weights
from presage.model.world import World
from presage.props.property import Property
from presage.search.watch import Watch

T = TypeVar("T")

WORD = 2**64
WALKS = 20
LENGTH = 1_000


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


@dataclass(frozen=True)
class Option:
    """One thing that can happen next."""

    event: Any  # an `Event`; of processes a `Due`
    choices: tuple[int, ...]
    fault: bool
    idle: bool  # it leads back to the same state
    weight: float  # in walks, by the session's mode

    @property
    def taken(self) -> Taken:
        return Taken(self.event, self.choices)


@dataclass(frozen=True)
class Walked:
    """What came of walking until live."""

    steps: tuple[Taken, ...] | None  # of the walk that got there; None: none did
    walks: int  # that were tried
    length: int  # each, at most
    rest: int = 0  # of them came to rest before


def options(world: World, watch: Watch, *, calm: bool) -> list[Option]:
    """Everything that can happen next in `world`, which is left as it is."""
    here, saved = world.fingerprint, world.save()
    found = []
    events: list[Event] = watch.run(world.enabled)
    for event in events:
        weight = weight_of(world.system, event, calm=calm)
        odds: list[tuple[tuple[int, ...], float]] = watch.run(world.odds, event)
        for choices, share in odds:
            watch.run(world.apply, event, choices)
            idle = world.fingerprint == here
            world.restore(saved)
            part = share if calm else 1 / len(odds)
            fault = event.kind in FAULT_KINDS
            found.append(Option(event, choices, fault, idle, weight * part))
    return found


def draw(found: Iterable[Option], dice: Dice) -> Option | None:
    """One of `found` by weight, of those that lead elsewhere; None if there is none."""
    likely = [option for option in found if option.weight > 0 and not option.idle]
    left = dice.below(sum(option.weight for option in likely))
    for option in likely:
        if left < option.weight:
            return option
        left -= option.weight
    return likely[-1] if likely else None


def weight_of(system: System, event: Event, *, calm: bool) -> float:
    """How likely `event` is in walks."""
    weights = system.weights or Weights()
    shape = (
        system.automata[system.index(event.node)].shape if event.node in system.indices else None
    )
    if event.kind in FAULT_OF:
        fault = FAULTS[FAULT_OF[event.kind]]
        return 0.0 if calm and fault not in RECOVERIES else weights.of(fault)
    own = None
    if event.kind == "timer" and shape is not None:
        own = shape.timers[event.timer].weight  # type: ignore[union-attr]
    elif event.kind == "action" and shape is not None:
        own = shape.actions[event.action].weight  # type: ignore[union-attr]
    kind = "deliver" if event.kind == "receive" else event.kind
    return weights.of(kind) if own is None else own


def step(world: World, watch: Watch, dice: Dice) -> Taken | None:
    """Take one calm step in `world`; None where nothing likely leads elsewhere."""
    here, saved = world.fingerprint, world.save()
    events: list[Event] = watch.run(world.enabled)
    weighed = [(event, weight_of(world.system, event, calm=True)) for event in events]
    left = [(event, weight) for event, weight in weighed if weight > 0]
    while left:
        event, weight = _pick(left, dice)
        odds = [each for each in watch.run(world.odds, event) if each[1] > 0]
        while odds:
            choices, share = _pick(odds, dice)
            watch.run(world.apply, event, choices)
            if world.fingerprint != here:
                return Taken(event, choices)
            world.restore(saved)
            odds.remove((choices, share))
        left.remove((event, weight))
    return None


def holds(prop: Property, watch: Watch, *seen: Any) -> bool:
    """Whether `prop` says that what is `seen` is as it should be."""
    try:
        return bool(watch.run(prop.judge, *seen).holds)
    except NOT_THEIRS:
        raise
    except BaseException:
        if watch.error is not None:
            raise
        return False


def until_live(
    world: World, watch: Watch, dice: Dice, props: Iterable[Property], walks: int, length: int
) -> Walked:
    """Walk calmly from `world` until all of `props` hold at once; `world` is left as it is."""
    saved, rest, judged = world.save(), 0, list(props)
    try:
        for number in range(1, walks + 1):
            world.restore(saved)
            steps: list[Taken] = []
            while len(steps) <= length:
                if all(holds(prop, watch, world.view()) for prop in judged):
                    return Walked(tuple(steps), number, length, rest)
                taken = step(world, watch, dice)
                if taken is None:
                    rest += 1
                    break
                steps.append(taken)
    finally:
        world.restore(saved)
    return Walked(None, walks, length, rest)


def _pick(weighed: list[tuple[T, float]], dice: Dice) -> tuple[T, float]:
    left = dice.below(sum(weight for _, weight in weighed))
    for each in weighed:
        if left < each[1]:
            return each
        left -= each[1]
    return weighed[-1]
