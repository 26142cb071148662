"""One execution on live code, which can be looked at anywhere and gone on with.

Every so many steps the world is saved. To be somewhere, the nearest saved world before it is
restored and the steps from there are taken again, each compared with the fingerprint it had: code
that does something else this time is caught here as well.

Invariant: `steps[i - 1]` is step i; a step once there never changes, what comes after it may.
"""

from __future__ import annotations

from copy import copy
from math import isqrt
from typing import Any

from presage.debug.branch import Branch, Option, Taken, module_names
from presage.debug.refusals import forgiving
from presage.debug.walk import options
from presage.errors import Diverged, Nondeterminism, NotEnabled
from presage.execution.protocol import PropertyStatus
from presage.execution.sandbox import Sandbox
from presage.execution.services import ServiceExecution, event_of
from presage.execution.state import State, States
from presage.model.world.event import Step
from presage.model.world.extra_fault import granting
from presage.model.world.network import QUEUED
from presage.model.world.snapshot import Snapshot
from presage.model.world.stimulus import place_of_handler
from presage.model.world.system import System
from presage.model.world.view import WorldView
from presage.model.world.world import World
from presage.shrink.essential import EssentialSteps, needed
from presage.trace.causes import Causes
from presage.trace.trace import Sent, Trace, TraceStep

STRIDE_MIN = 8


class ServiceBranch(Branch):
    """The steps of one branch of a session on services."""

    of_services = True

    def __init__(self, system: System, sandbox: Sandbox, trace: Trace) -> None:
        super().__init__(sandbox, trace)
        self.system = system
        self.properties = tuple(system.properties)
        self.choices = tuple(trace.choices)
        self._states = States(system)
        self._taken: list[Taken | None] = [None] * len(self.steps)
        self._world: World = sandbox.run(World.initial, system, self.choices)
        self._scratch: World = type(self._world)(system)  # to try things out in
        self._at = 0
        self._check(0)
        self._saves: dict[int, Snapshot] = {0: self._world.save()}
        self._stride = max(STRIDE_MIN, isqrt(len(self.steps)))

    def begin(self, trace: Trace) -> ServiceBranch:
        return ServiceBranch(self.system, self.sandbox, trace)

    @property
    def saves(self) -> tuple[int, ...]:
        """After which steps the world is kept."""
        return tuple(sorted(self._saves))

    def world(self, step: int) -> World:
        assert 0 <= step <= len(self.steps), step
        nearest = max(at for at in self._saves if at <= step)
        if not nearest <= self._at <= step:
            self._world.restore(self._saves[nearest])
            self._at = nearest
        while self._at < step:
            self._advance()
        return self._world

    def view(self, step: int) -> WorldView:
        return self.world(step).view()

    def saved(self, step: int) -> Snapshot:
        """The world after `step`, to make another one of."""
        return self.world(step).save()

    def taken(self, step: int) -> Taken:
        self.world(step)
        if self._taken[step - 1] is None:  # it was known by a saved world behind it
            before = self.world(step - 1)
            self._taken[step - 1] = self._resolve(before, self.steps[step - 1])
        taken = self._taken[step - 1]
        assert taken is not None
        return taken

    def extend(self, taken: Taken) -> TraceStep:
        world = self.world(len(self.steps))
        saved = world.save()
        try:
            step = self._applied(world, taken)
        except BaseException:
            world.restore(saved)
            raise
        recorded = TraceStep.of(step, len(self.steps) + 1)
        self.steps.append(recorded)
        self._taken.append(taken)
        self._at += 1
        self._keep()
        return recorded

    def fork(self, step: int) -> ServiceBranch:
        self.world(step)
        other = copy(self)
        other.steps, other._taken = self.steps[:step], self._taken[:step]
        other._saves = {at: saved for at, saved in self._saves.items() if at <= step}
        other._saves[step] = self._world.save()
        other._world, other._at = type(self._world)(self.system), step
        other._world.restore(other._saves[step])
        return other

    def redo(self, step: int, origin: int) -> None:
        taken = self.taken(step)
        world = self.world(origin)
        saved = world.save()
        try:
            self.sandbox.run(world.apply, taken.event, taken.choices)
            if world.fingerprint != self.fingerprint(step):
                where = f"step {step}, taken once more,"
                raise Diverged(where, self.fingerprint(step), world.fingerprint)
        finally:
            world.restore(saved)

    # -- what is so there --------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.system.names)

    def state(self, step: int) -> State:
        return self._states.of(self.world(step))

    def values(self, step: int) -> dict[str, dict[str, Any]]:
        found = {}
        for automaton, local in zip(self.system.automata, self.saved(step).locals, strict=True):
            decoded = [automaton.codec.decode(each) for each in local]
            found[automaton.name] = {name: decoded[at] for name, at in automaton.shown.items()}
        return found

    def channels(self, step: int) -> list[tuple[str, str, list[Any]]]:
        between = self.saved(step).transport
        return [
            *self._datagrams(between.network),
            *self._queued(between.streams[0], "stream"),
        ]

    def _datagrams(self, network: Any) -> list[tuple[str, str, list[Any]]]:
        """What is under way outside streams."""
        if self.system.network not in QUEUED:
            return self._sorted(network, "datagrams")
        if self.system.network == "ordered":
            return self._queued(network, "queue")
        alone = [queue[0] for ends, queue in network if not ends[2]]
        lanes = [(ends, queue) for ends, queue in network if ends[2]]
        return [*self._sorted(alone, "datagrams"), *self._queued(lanes, "lane")]

    def _queued(self, queues: Any, kind: str) -> list[tuple[str, str, list[Any]]]:
        decode, names = self.system.codec.decode, self.system.names
        return [
            (f"{names[a]} -> {names[b]}", kind, [decode(each.encoded)[2] for each in queue])
            for (a, b, *_), queue in queues
        ]

    def _sorted(self, flying: Any, kind: str) -> list[tuple[str, str, list[Any]]]:
        """Messages that come in any order, by who sent them to whom."""
        by_channel: dict[tuple[int, int], list[Any]] = {}
        for each in flying:
            by_channel.setdefault((each.source, each.to), []).append(each)
        return self._queued(sorted(by_channel.items()), kind)

    def judge(self, step: int) -> dict[str, PropertyStatus]:
        if step == 0:
            world = self.world(step)
            return ServiceExecution(self.system, self.sandbox, world).statuses(at_end=True)
        before = self.copy(step - 1)
        recorded, world = self.steps[step - 1], self.world(step)
        execution = ServiceExecution.after(self.system, self.sandbox, world, recorded, before)
        return execution.statuses(at_end=True)

    def options(self, step: int, *, calm: bool) -> list[Option]:
        return options(self.copy(step), self.sandbox, calm=calm)

    def copy(self, step: int) -> World:
        """A world like the one after a step, to do anything with."""
        self._scratch.restore(self.saved(step))
        return self._scratch

    def place(self, step: int) -> str:
        return place_of_handler(self.system, self.taken(step).event)

    def opening(self) -> list[tuple[str, str]]:
        return [(node, text) for node, text in self.world(0).opening.logs]

    def posted(self) -> tuple[Sent, ...]:
        return tuple(map(TraceStep.sent, self.world(0).opening.sends))

    def known(self, step: int) -> dict[str, Any]:
        names: dict[str, Any] = {}
        for automaton in self.system.automata:
            names |= module_names(automaton.service)
        return names

    def past(self, trace: Trace, step: int) -> tuple[int, ...]:
        return Causes(trace).past(step)

    def needed(self, trace: Trace, seconds: float) -> EssentialSteps:
        taken = [self.taken(at) for at in range(1, len(self) + 1)]
        events = [(each.event, each.choices) for each in taken]
        return needed(self.system, self.sandbox, trace, events, seconds)

    # -- going there -------------------------------------------------------------------------

    def _advance(self) -> None:
        recorded = self.steps[self._at]
        taken = self._taken[self._at]
        if taken is None:
            taken = self._taken[self._at] = self._resolve(self._world, recorded)
        before = self._world.save()
        try:
            self._apply(taken)
            self._at += 1
            self._check(self._at)
        except Diverged as first:
            self._differ(before, taken, first)
        except BaseException:
            self._back(before)
            raise
        self._keep()

    def _differ(self, before: Snapshot, taken: Taken, first: Diverged) -> None:
        """Tell code that was edited from code that does something else each time."""
        self._back(before)
        try:
            self._apply(taken)
            again = self._world.fingerprint
        finally:
            self._back(before)
        if again == first.got:
            raise first
        raise Nondeterminism(f"two replays of one step went different ways: {first}") from None

    def _back(self, before: Snapshot) -> None:
        self._world.restore(before)
        self._at = before.steps

    def _apply(self, taken: Taken) -> None:
        self._applied(self._world, taken)

    def _applied(self, world: World, taken: Taken) -> Step:
        """Let it happen, whatever other guards refuse."""
        with granting(world, taken.event if taken.beyond else None):
            with forgiving(self.sandbox, lists=False) as refusals:
                try:
                    step: Step = self.sandbox.run(world.apply, taken.event, taken.choices)
                except NotEnabled as error:
                    raise refusals.of(world.system, taken.event) or error from None
        return step

    def _resolve(self, world: World, recorded: TraceStep) -> Taken:
        event = event_of(world, recorded, self.sandbox)
        return Taken(event, tuple(k for k, _ in recorded.choices))

    def _keep(self) -> None:
        if self._at % self._stride == 0 and self._at not in self._saves:
            self._saves[self._at] = self._world.save()

    def _check(self, step: int) -> None:
        wanted, found = self.fingerprint(step), self._world.fingerprint
        if wanted != found:
            recorded = self.steps[step - 1] if step else None
            where = (
                f"step {step} (`{recorded.label}` at {recorded.node})"
                if recorded
                else "the initial state"
            )
            raise Diverged(where, wanted, found)
