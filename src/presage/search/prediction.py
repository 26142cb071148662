"""What a prediction says: the path it found, how far it looked, and what it does not know.

Invariant: nothing here claims more than was looked at; `exhausted` is true only if nothing was left
out and nothing is unknown.
"""

from __future__ import annotations

from presage._results import StopReason
from presage.execution.confirm import Confirmed
from presage.model.world.system import System
from presage.records import record

UNBOUNDED = "no bound"


@record(frozen=True)
class Lane:
    """One search of a prediction."""

    own_events: int | None  # how often each event that nobody caused was tried; None: no bound
    states: int
    generated: int
    depth: int  # steps
    seconds: float
    size: int  # bytes of its states, beside tables of values and steps
    stopped_by: StopReason | None
    left_out: bool  # it ended, but not all was tried

    @property
    def name(self) -> str:
        return UNBOUNDED if self.own_events is None else f"k = {self.own_events}"

    @property
    def complete(self) -> bool:
        """Whether it looked at all that can follow."""
        return self.stopped_by is None and not self.left_out


@record(frozen=True)
class Prediction:
    """What may go wrong from a state, as far as was looked."""

    system: System  # begun in that state
    path: Confirmed | None = None  # one that breaks a property; None: none was found
    found_by: str = ""  # the lane, or a known path
    lanes: tuple[Lane, ...] = ()
    broken: tuple[str, ...] = ()  # properties that do not hold where it begins; not looked for
    unjudged: tuple[str, ...] = ()  # properties that nothing was said about
    errors: tuple[str, ...] = ()  # why some could not be judged
    seconds: float = 0.0
    remembered: bool = False  # nothing was searched: this very state was found clean before

    @property
    def exhausted(self) -> bool:
        """Whether all that can follow, with the faults and filters given, was looked at.

        Never where something is not known: what nodes outside send, or what a property says. One
        that is broken already is not looked for.
        """
        known = self.system.observed_known and not self.system.outside and not self.unjudged
        known = known and not self.broken
        return known and self.path is None and self.complete

    @property
    def complete(self) -> bool:
        """Whether a lane left nothing out of what was to be looked at."""
        return any(lane.complete for lane in self.lanes)

    @property
    def interrupted(self) -> bool:
        """Whether a lane was stopped from outside, be it by another lane."""
        return any(lane.stopped_by is StopReason.INTERRUPT for lane in self.lanes)

    @property
    def states(self) -> int:
        return sum(lane.states for lane in self.lanes)

    @property
    def depth(self) -> int:
        """How many steps it looked ahead, at most."""
        return max((lane.depth for lane in self.lanes), default=0)

    @property
    def bound(self) -> int | None:
        """The largest number of times for which no path breaks anything; None: not even one."""
        bounded = {each.own_events: each for each in self.lanes if each.own_events is not None}
        found = None
        for own_events in sorted(bounded):
            if bounded[own_events].stopped_by is not None:
                break
            found = own_events
        return found
