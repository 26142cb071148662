"""Virtual time: it stands still while anything is left to do, then jumps to what comes next."""

from __future__ import annotations

import heapq
from collections.abc import Callable

from presage.simulate.fluid import SAME, Fluid
from presage.simulate.platform import Platform


class Clock:
    """The time, work under way, and calls that are planned."""

    def __init__(self, platform: Platform) -> None:
        self.now = 0.0
        self.fluid = Fluid(platform)
        self._plans: list[tuple[float, int, int, Callable[[], None]]] = []
        self._count = 0

    def plan(self, at: float, order: int, call: Callable[[], None]) -> None:
        """Call then; of plans for one moment the least `order` comes first, then the oldest."""
        self._count += 1
        heapq.heappush(self._plans, (at, order, self._count, call))

    def next(self) -> float:
        """When something happens next; infinity if nothing will."""
        ends = self.fluid.next_end(self.now)
        return min(ends, self._plans[0][0]) if self._plans else ends

    def advance(self, at: float) -> None:
        """Move on. What ends at that moment has ended when plans for it are carried out."""
        self.now = max(at, self.now)
        for work in self.fluid.ended(self.now):
            work.then()
        while self._plans and self._plans[0][0] <= self.now + self.now * SAME:
            heapq.heappop(self._plans)[3]()
