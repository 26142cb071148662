"""The nearest good run of a safety violation: how long can the property still be kept, and how?

From the last state before the bad step, and then from ever earlier ones, executions go on by
chance, without further faults. The first place from which one keeps the property is where the
violation is decided; the step taken there instead of the violation's is the one to look at.

An execution is good if it comes to rest, or has gone on for `LENGTH` steps and has meanwhile taken
all that could happen where it began: merely putting off the bad step is not keeping a property.

Invariant: what is returned was executed from the start on live code, and no `always` property and
no handler failed in it. That nothing is kept from later places rests on random runs alone, and
reports say so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct

from presage._core import stop_requested
from presage.errors import Nondeterminism
from presage.execution.chance import Dice, Weighed
from presage.execution.confirm import Confirmed
from presage.execution.prefix import events_of
from presage.execution.replay import retraced
from presage.execution.sandbox import NOW, Sandbox
from presage.execution.services import ServiceExecution
from presage.model.world.snapshot import Snapshot
from presage.model.world.system import System
from presage.model.world.world import World
from presage.trace.trace import Trace

WALKS = 12  # from each place
LENGTH = 60  # steps that stand for ever
STEPS_MAX = 4_000  # live steps spent on one violation
SECONDS_MAX = 3.0

T = TypeVar("T")


class Kept(Struct, frozen=True):
    steps: int  # of it all
    more: int  # of them after the place where it went another way
    at_rest: bool

    @property
    def text(self) -> str:
        if self.at_rest:
            return f"is kept to the end, step {self.steps:,}"
        return f"is kept for {self.more:,} more steps, as far as was looked"


def longest(last: int, attempt: Callable[[int], T | None]) -> tuple[int, T] | None:
    """The last place up to `last` from which `attempt` gives something, and what; None: none.

    Looks in ever longer strides, then between them: what cannot be kept from a place is not kept
    from later ones either.
    """
    failed, place, stride = last + 1, last, 1
    while (best := attempt(place)) is None:
        if place == 0:
            return None
        failed, place, stride = place, max(0, place - stride), 2 * stride
    while place + 1 < failed:
        middle = (place + failed) // 2
        better = attempt(middle)
        if better is None:
            failed = middle
        else:
            place, best = middle, better
    return place, best


def evidence(place: int, walks: Counter[int]) -> str:
    """What is known of the place after the one where good runs begin."""
    if tried := walks[place + 1]:
        return f"after step {place + 1:,} none of {tried} random runs kept it"
    return "exact"


class Attempts:
    """Random walks from the places of an execution, as long as there is time."""

    def __init__(self, seconds: float, steps: int) -> None:
        self.walks: Counter[int] = Counter()  # from each place
        self.spent = 0  # steps
        self._steps = steps  # at most
        self._deadline = NOW() + seconds

    def at(self, place: int, walk: Callable[[int, Dice], T | None]) -> T | None:
        """What the first of the walks from `place` gives that gives anything."""
        for number in range(WALKS):
            if self.spent >= self._steps or NOW() >= self._deadline or stop_requested():
                return None
            self.walks[place] += 1
            found = walk(place, Dice(place * WALKS + number))
            if found is not None:
                return found
        return None


class Nearest:
    """Attempts to keep a property that an execution breaks."""

    def __init__(self, system: System, sandbox: Sandbox, found: Confirmed, seconds: float) -> None:
        self._attempts = Attempts(seconds, STEPS_MAX)
        self._system = system
        self._sandbox = sandbox
        self._found = found
        # Of states, by fingerprint, since walks meet the same ones again.
        self._broken: dict[int, bool] = {}  # whether what is always to hold does not
        self._events: dict[int, Weighed] = {}  # that are likely next
        self._world: World = sandbox.run(World.initial, system, found.choices)
        self._saved: list[Snapshot] = [self._world.save()]
        for each in events_of(found.steps)[:-1]:
            sandbox.run(self._world.apply, *each)
            self._saved.append(self._world.save())

    def find(self) -> tuple[Confirmed, str] | None:
        """The good run that has most in common with the violation, and on what evidence."""
        attempts = self._attempts
        found = longest(len(self._found.steps) - 1, lambda at: attempts.at(at, self._walk))
        if found is None:
            return None
        place, (steps, kept) = found
        run = self._again(steps)
        known = self._found
        good = Confirmed(known.prop, kept.text, known.choices, known.initial, tuple(run.steps))
        return good, evidence(place, attempts.walks)

    def _walk(self, place: int, dice: Dice) -> tuple[ServiceExecution, Kept] | None:
        world = self._world
        world.restore(self._saved[place])
        run = ServiceExecution(self._system, self._sandbox, world, self._found.prop)
        run.steps = list(self._found.steps[:place])
        while len(run.steps) - place < LENGTH:
            moved = run.wander(dice, self._likely(run))
            self._attempts.spent, run.tried = self._attempts.spent + run.tried, 0
            if not moved:
                stuck = len(run.steps) > place and self._fails(run)
                return None if stuck else (run, self._kept(run, place, at_rest=True))
            if self._fails(run):
                return None
        left, end = _names(self._likely(run)), world.save()
        world.restore(self._saved[place])
        due = _names(run.likely(calm=True)) - {repr(step.event) for step in run.steps[place:]}
        world.restore(end)
        if left & due:
            return None
        return run, self._kept(run, place, at_rest=False)

    def _likely(self, run: ServiceExecution) -> Weighed:
        """What may happen next without further faults."""
        if run.here not in self._events:
            self._events[run.here] = run.likely(calm=True)
        return self._events[run.here]

    def _fails(self, run: ServiceExecution) -> bool:
        """Whether the property is broken here, or anything else that is always to hold."""
        if run.prop is None or run.prop.kind == "step":
            return self._fails_here(run)
        if run.steps and run.steps[-1].failure is not None:
            return True
        if run.here not in self._broken:
            self._broken[run.here] = self._fails_here(run)
        return self._broken[run.here]

    def _fails_here(self, run: ServiceExecution) -> bool:
        if run.steps and run.steps[-1].failure is not None:
            return True
        others = (prop for prop in self._system.properties if prop.kind == "always")
        return run.verdict() is not None or any(
            run.breaks(prop) for prop in others if prop is not run.prop
        )

    @staticmethod
    def _kept(run: ServiceExecution, place: int, *, at_rest: bool) -> Kept:
        return Kept(len(run.steps), len(run.steps) - place, at_rest)

    def _again(self, walked: ServiceExecution) -> ServiceExecution:
        """The same execution from the start, every state compared."""
        world: World = self._sandbox.run(World.initial, self._system, self._found.choices)
        run = ServiceExecution(self._system, self._sandbox, world, self._found.prop)
        for step, each in zip(list(walked.steps), events_of(walked.steps), strict=True):
            run.apply(*each)
            if world.fingerprint != step.fingerprint or self._fails_here(run):
                raise Nondeterminism("a run that kept a property went another way the second time")
        return run


def _names(events: Weighed) -> set[str]:
    return {repr(event) for event, _ in events}


def nearest(
    system: System, sandbox: Sandbox, found: Confirmed, seconds: float | None = None
) -> tuple[Confirmed, str] | None:
    """The good run nearest to a violation, and on what evidence; None if none was met."""
    if not found.steps:
        return None
    limit = SECONDS_MAX if seconds is None else min(seconds, SECONDS_MAX)
    return Nearest(system, sandbox, found, limit).find()


def nearest_to(system: System, sandbox: Sandbox, trace: Trace) -> Confirmed | None:
    """The good run nearest to a saved violation."""
    run = retraced(system, trace, sandbox)
    message, steps = trace.message, tuple(run.steps)
    found = Confirmed(run.prop, message, tuple(trace.choices), trace.initial, steps)
    good = nearest(system, sandbox, found)
    return None if good is None else good[0]
