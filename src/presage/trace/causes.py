"""What led to what: the direct causes of each step, its causal past, vector clocks and rows.

A step follows the one before it at the same node; handling a message follows sending it; hearing
that a connection is gone follows what broke it. What else a step of a process follows is in the
trace. What the network does by itself (loses a message, cuts a connection, falls apart) is a step
of nobody, and shown in a lane of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from presage.model.world.event import MISHAPS
from presage.trace.flow import START, Flow
from presage.trace.trace import Sent, Trace, TraceStep

NETWORK = "network"  # the lane of what no node does
HEARD = frozenset({"broken", "refused", "keepalive"})
ENDED = frozenset({"crash", "reset", "silent"})  # a process ends, and its connections with it

Clock = dict[str, int]  # lane -> how many of its steps are known


class Causes:
    """The order of the steps of one trace that is due to cause and effect, not to chance."""

    def __init__(self, trace: Trace, opening: Iterable[Sent] = ()) -> None:
        self.trace = trace
        self.flow = Flow(trace, opening)
        self.lanes = {step.index: lane_of(step) for step in trace.steps}
        self._latest: dict[str, int] = {}
        self._rifts: dict[frozenset[str], int] = {}  # the step that last broke a connection
        self._copied: dict[tuple[str | None, str, str], int] = {}
        self.direct: dict[int, tuple[int, ...]] = {}  # step -> the steps it follows at once
        for step in trace.steps:
            found = {cause for cause in self._causes(step) if cause is not None and cause != START}
            self.direct[step.index] = tuple(sorted(found))
            self._note(step)

    def past(self, step: int) -> tuple[int, ...]:
        """All steps without which `step` would not have been what it was, itself included."""
        return reachable(self.direct, step)

    @cached_property
    def clocks(self) -> dict[int, Clock]:
        """Vector clocks: one step is in the past of another if its clock is nowhere larger."""
        clocks: dict[int, Clock] = {}
        latest: dict[str, Clock] = {}
        for step in self.trace.steps:
            lane = self.lanes[step.index]
            clock = dict(latest.get(lane, {}))
            for cause in self.direct[step.index]:
                for other, count in clocks[cause].items():
                    clock[other] = max(count, clock.get(other, 0))
            clock[lane] = clock.get(lane, 0) + 1
            clocks[step.index] = latest[lane] = clock
        return clocks

    @cached_property
    def rows(self) -> dict[int, int]:
        """The row of each step, from 1, if it is drawn as high up as its causes allow."""
        rows: dict[int, int] = {}
        for step in self.trace.steps:
            rows[step.index] = 1 + max((rows[c] for c in self.direct[step.index]), default=0)
        return rows

    def _causes(self, step: TraceStep) -> list[int | None]:
        causes: list[int | None] = list(step.follows)
        if step.kind not in MISHAPS or step.kind in ("partition", "heal"):
            causes.append(self._latest.get(self.lanes[step.index]))
        if (flight := self.flow.handled.get(step.index)) is not None:
            causes.append(flight.sent)
            causes.append(self._copied.get((step.source, step.node, step.detail)))
        if step.kind in HEARD:
            pair = frozenset((step.node, step.detail))
            causes.append(self._rifts.get(pair) or self._latest.get(step.detail))
        if step.kind in ("cut", "idle"):
            causes += [self._latest.get(step.node), self._latest.get(step.detail)]
        return causes

    def _note(self, step: TraceStep) -> None:
        if step.kind not in MISHAPS or step.kind in ("partition", "heal"):
            self._latest[self.lanes[step.index]] = step.index
        if step.kind == "duplicate":
            self._copied[step.source, step.node, step.detail] = step.index
        if step.kind == "cut":
            self._rifts[frozenset((step.node, step.detail))] = step.index
        if step.kind in ENDED:
            for other in self.trace.nodes:
                self._rifts[frozenset((step.node, other))] = step.index


def reachable(direct: Mapping[int, Iterable[int]], step: int) -> tuple[int, ...]:
    """`step`, its causes, their causes and so on; `direct`: the steps that each follows at once."""
    found, left = {step}, [step]
    while left:
        fresh = [cause for cause in direct.get(left.pop(), ()) if cause not in found]
        found.update(fresh)
        left += fresh
    return tuple(sorted(found))


def lane_of(step: TraceStep) -> str:
    """Where a step is drawn: at its node, or at the network if no node took part."""
    return NETWORK if step.kind in MISHAPS else step.node
