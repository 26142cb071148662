"""One execution on live code, which can be looked at anywhere and gone on with.

Every so many steps the world is saved. To be somewhere, the nearest saved world before it is
restored and the steps from there are taken again, each compared with the fingerprint it had: code
that does something else this time is caught here as well.

Invariant: `steps[i - 1]` is step i; a step once there never changes, what comes after it may.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

from presage.debug.refusals import forgiving
from presage.errors import Diverged, Nondeterminism, NotEnabled
from presage.execution.sandbox import Sandbox
from presage.execution.services import event_of
from presage.model.byhand import granting
from presage.model.event import Step
from presage.model.saved import Saved
from presage.model.system import System
from presage.model.view import WorldView
from presage.model.world import World
from presage.trace.trace import TraceStep

STRIDE_MIN = 8


@dataclass(frozen=True)
class Taken:
    """What was made to happen."""

    event: Any  # an `Event`; of processes a `Due`
    choices: tuple[int, ...] = ()
    beyond: bool = False  # a fault that the system does not allow, or not any more


class Execution:
    """The steps of one branch of a session."""

    def __init__(
        self,
        system: System,
        sandbox: Sandbox,
        choices: Sequence[int],
        initial: int,
        steps: Sequence[TraceStep],
    ) -> None:
        self.system = system
        self.sandbox = sandbox
        self.choices = tuple(choices)
        self.initial = initial
        self.steps = list(steps)
        self._taken: list[Taken | None] = [None] * len(self.steps)
        self._world: World = sandbox.run(World.initial, system, self.choices)
        self._at = 0
        self._check(0)
        self._saves: dict[int, Saved] = {0: self._world.save()}
        self._stride = max(STRIDE_MIN, isqrt(len(self.steps)))

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def saves(self) -> tuple[int, ...]:
        """After which steps the world is kept."""
        return tuple(sorted(self._saves))

    def fingerprint(self, step: int) -> int:
        """That of the state after `step`; 0 is the initial state."""
        return self.steps[step - 1].fingerprint if step else self.initial

    def world(self, step: int) -> World:
        """The world after `step`: to look at, and to be left as it is."""
        assert 0 <= step <= len(self.steps), step
        nearest = max(at for at in self._saves if at <= step)
        if not nearest <= self._at <= step:
            self._world.restore(self._saves[nearest])
            self._at = nearest
        while self._at < step:
            self._advance()
        return self._world

    def view(self, step: int) -> WorldView:
        """The world after `step`, read-only; it stays as it is."""
        return self.world(step).view()

    def saved(self, step: int) -> Saved:
        """The world after `step`, to make another one of."""
        return self.world(step).save()

    def taken(self, step: int) -> Taken:
        """What `step` made happen, as live objects."""
        self.world(step)
        if self._taken[step - 1] is None:  # it was known by a saved world behind it
            before = self.world(step - 1)
            self._taken[step - 1] = self._resolve(before, self.steps[step - 1])
        taken = self._taken[step - 1]
        assert taken is not None
        return taken

    def extend(self, taken: Taken) -> TraceStep:
        """Let one more thing happen at the end."""
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

    def fork(self, step: int) -> Execution:
        """Another execution that has the steps up to `step` in common with this one."""
        self.world(step)
        other = object.__new__(Execution)
        other.system, other.sandbox = self.system, self.sandbox
        other.choices, other.initial = self.choices, self.initial
        other.steps, other._taken = self.steps[:step], self._taken[:step]
        other._saves = {at: saved for at, saved in self._saves.items() if at <= step}
        other._saves[step] = self._world.save()
        other._world, other._at = World(self.system), step
        other._world.restore(other._saves[step])
        other._stride = self._stride
        return other

    def redo(self, step: int, origin: int) -> None:
        """Take `step` once more from the state after `origin`; raise `Diverged` if it differs."""
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

    def _differ(self, before: Saved, taken: Taken, first: Diverged) -> None:
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

    def _back(self, before: Saved) -> None:
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
