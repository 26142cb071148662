"""A live system under a reader's hands: pick what happens next, go back, take another way.

Every place that was visited is kept with its saved world, so going back costs nothing, and ways
that were left stay there as branches. Nothing here talks to anybody; a page shows it.
"""

from __future__ import annotations

from dataclasses import dataclass

from presage.errors import BadChoice
from presage.model.event import Event
from presage.model.handling import place_of_handler
from presage.model.saved import Saved
from presage.model.system import System
from presage.model.world import World
from presage.search.retell import Judge, Scene
from presage.search.states import States
from presage.search.watch import Watch
from presage.trace.trace import Trace, TraceStep

START_CHOICES_MAX = 1_000  # of all `start` handlers together; each takes its first option


@dataclass(frozen=True)
class Option:
    """One thing that can happen next."""

    event: Event
    choices: tuple[int, ...]
    alone: bool  # the event can happen in this way only
    idle: bool  # it leads to the same state

    @property
    def text(self) -> str:
        """What a reader picks."""
        kind, label = self.event.kind, str(self.event)
        named = f"{self.event.node} {kind}{'' if label == kind else f' {label}'}"
        return named if self.alone else f"{named}, choosing {', '.join(map(str, self.choices))}"


@dataclass(frozen=True)
class Place:
    """A state that was visited, and how one came there."""

    scene: Scene
    saved: Saved
    parent: int | None  # the number of the place before


class Explorer:
    """Where a reader is in the tree of executions of a system, and all that was visited of it."""

    def __init__(self, system: System, watch: Watch) -> None:
        self.system = system
        self._watch = watch
        self._world, self._choices = _begun(system, watch)
        self._states, self._judge = States(system), Judge(system, watch)
        world, opening = self._world, self._world.opening
        first = Scene(
            0,
            None,
            self._states.of(world),
            self._judge.all(world, None),
            logs=tuple(f"{node}: {text}" for node, text in opening.logs),
            sends=tuple(map(TraceStep.sent, opening.sends)),
        )
        self._initial = world.fingerprint
        self.places = [Place(first, world.save(), None)]
        self.here = 0
        self.options = self._possible()

    @property
    def path(self) -> tuple[int, ...]:
        """The numbers of the places from the first to this one."""
        return self._path(self.here)

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """The execution that led here."""
        return tuple(self.places[number].scene for number in self.path)

    @property
    def branches(self) -> dict[int, str]:
        """Where other ways end, by the number of the place, told by how they end."""
        parents = {place.parent for place in self.places}
        ends = [number for number in range(len(self.places)) if number not in parents]
        told = {}
        for number in ends:
            step = self.places[number].scene.step
            if number != self.here and step is not None:
                told[number] = f"step {step.index}: {step.node} {step.kind} {step.label}"
        return told

    def take(self, number: int) -> None:
        """Let the option `number` happen; where it happened before, go there."""
        option = self.options[number]
        for known, place in enumerate(self.places):
            step = place.scene.step
            taken = step and tuple(k for k, _ in step.choices)
            if place.parent == self.here and step and step.matches(option.event):
                if taken == option.choices:
                    self.go(known)
                    return
        try:
            scene = self._happen(option)
            options = self._possible()
        except BaseException:
            self._world.restore(self.places[self.here].saved)
            raise
        self.places.append(Place(scene, self._world.save(), self.here))
        self.here, self.options = len(self.places) - 1, options

    def _happen(self, option: Option) -> Scene:
        world, index = self._world, self.places[self.here].scene.index + 1
        self._judge.before(world, option.event.node)
        step = TraceStep.of(self._watch.run(world.apply, option.event, option.choices), index)
        return Scene(
            index,
            step,
            self._states.of(world),
            self._judge.all(world, step),
            place_of_handler(self.system, option.event),
            step.logs,
            step.sends,
        )

    def go(self, number: int) -> None:
        """Be at a place that was visited before."""
        self._world.restore(self.places[number].saved)
        self.here = number
        self.options = self._possible()

    def trace(self) -> Trace:
        """The execution that led here, as a trace that breaks nothing."""
        steps = tuple(scene.step for scene in self.scenes if scene.step is not None)
        return Trace(
            target=None,
            system=self.system.name,
            nodes=tuple(self.system.nodes),
            prop="exploring",
            kind="live",
            message=f"{len(steps)} steps taken",
            step=len(steps),
            choices=self._choices,
            initial=self._initial,
            steps=steps,
        )

    def _path(self, number: int | None) -> tuple[int, ...]:
        found: list[int] = []
        while number is not None:
            found.append(number)
            number = self.places[number].parent
        return tuple(reversed(found))

    def _possible(self) -> list[Option]:
        world, watch = self._world, self._watch
        here, saved = world.fingerprint, world.save()
        found = []
        for event in watch.run(world.enabled):
            ways = watch.run(world.runs, event)
            for choices in ways:
                watch.run(world.apply, event, choices)
                found.append(Option(event, choices, len(ways) == 1, world.fingerprint == here))
                world.restore(saved)
        return found


def _begun(system: System, watch: Watch) -> tuple[World, tuple[int, ...]]:
    """The initial world in which every `start` takes its first option."""
    choices: tuple[int, ...] = ()
    while True:
        try:
            world: World = watch.run(World.initial, system, choices)
            return world, choices
        except BadChoice:
            if len(choices) == START_CHOICES_MAX:
                raise
            choices = (*choices, 0)
