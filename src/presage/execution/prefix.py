"""Take a list of events as far as they can be taken, on live code, and remember the last course.

Shortening tries the same execution again and again with a piece missing. Up to that piece nothing
differs, so the world is not begun anew there but restored.

Where an event is not possible any more, because what was left out had numbered its messages, one
like it may stand in for it: of the same kind, at the same node, with a message of the same class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from msgspec import Struct

from presage.errors import BadChoice, BadSeal, NotEnabled
from presage.execution.sandbox import Sandbox
from presage.execution.services import ServiceExecution
from presage.model.world.event import Act, Event, Fire, Mail, Step
from presage.model.world.event import message_name as name_of
from presage.model.world.snapshot import Snapshot
from presage.model.world.system import System
from presage.model.world.world import World
from presage.props.property import Property

Taken = tuple[Event, tuple[int, ...]]


class Place(Struct, frozen=True):
    """One step of the last course, and the world before it."""

    taken: Taken
    saved: Snapshot
    step: Step
    why: str | None  # it was stopped there


class PrefixReplay:
    """Executions of one system that begin alike."""

    def __init__(
        self,
        system: System,
        sandbox: Sandbox,
        choices: Sequence[int],
        prop: Property | None,
        *,
        alike: bool = False,
    ) -> None:
        self.system = system
        self.sandbox = sandbox
        self.prop = prop
        self.alike = alike  # let like events stand in
        self.spent = 0  # live steps
        self.why: str | None = None  # the last course was stopped
        self._world: World = sandbox.run(World.initial, system, tuple(choices))
        self._places: list[Place] = []

    def take(
        self, events: Sequence[Taken], stop: Callable[[ServiceExecution], str | None]
    ) -> ServiceExecution:
        """Take what is possible of `events`, up to where `stop` gives a reason to stop.

        Of what the last course had in common with this one, `stop` was asked then.
        """
        common = self._common(events)
        world, run = (
            self._world,
            ServiceExecution(self.system, self.sandbox, self._world, self.prop),
        )
        if common < len(self._places):
            world.restore(self._places[common].saved)
            del self._places[common:]
        run.steps = [place.step for place in self._places]
        self.why = self._places[-1].why if self._places else self._asked(run, stop)
        for asked in events[common:] if self.why is None else ():
            saved = world.save()
            taken = self._one(run, asked)
            if taken is None:
                continue
            self.why = self._asked(run, stop)
            self._places.append(Place(taken, saved, run.steps[-1], self.why))
            if self.why is not None:
                break
        return run

    @property
    def taken(self) -> list[Taken]:
        return [place.taken for place in self._places]

    @staticmethod
    def _asked(run: ServiceExecution, stop: Callable[[ServiceExecution], str | None]) -> str | None:
        try:
            return stop(run)
        except BadSeal:  # sealed for ever: no execution goes on from here
            return None

    def _common(self, events: Sequence[Taken]) -> int:
        pairs = zip(self._places, events, strict=False)
        apart = (at for at, (place, event) in enumerate(pairs) if place.taken is not event)
        return next(apart, min(len(self._places), len(events)))

    def _one(self, run: ServiceExecution, asked: Taken) -> Taken | None:
        """Let `asked` happen, or one like it; gives what did."""
        self.spent += 1
        for taken in chain([asked], self._stand_ins(asked)):
            try:
                run.apply(*taken)
                return taken
            except (NotEnabled, BadChoice, BadSeal):
                continue
        return None

    def _stand_ins(self, asked: Taken) -> Iterator[Taken]:
        event, choices = asked
        wanted = likeness(event)
        if wanted is None or not self.alike:
            return
        try:
            enabled: list[Event] = self.sandbox.run(self._world.enabled)
        except BadSeal:
            return
        for other in enabled:
            if likeness(other) == wanted:
                runs = self.sandbox.run(self._world.runs, other)
                if choices in runs:
                    yield other, choices
                elif runs:
                    yield other, runs[0]


def likeness(event: Event) -> tuple[str, ...] | None:
    """What an event has in common with those that may stand in for it; None: nothing may."""
    if isinstance(event, Mail):
        return (event.kind, event.node, event.source, name_of(event.message))
    if isinstance(event, Fire | Act):
        return (event.kind, event.node, event.name)
    return None


def events_of(steps: Sequence[Step]) -> list[Taken]:
    return [(step.event, tuple(k for k, _ in step.choices)) for step in steps]
