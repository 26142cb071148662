"""Timers of one live node, by deadline; on a real clock or on a virtual one.

An armed timer is `(name, *args)`, as in the model, and is armed at most once: arming it again sets
a new deadline, as in timed mode. A periodic timer that has fired begins anew from then.

Invariant: a timer leaves by `pop`, `disarm` or `clear` only. One that is late fires all the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from heapq import heapify, heappop, heappush
from typing import Any

from presage.model.service.clocks import TICKS
from presage.model.service.local_state import Timers
from presage.model.service.shape import Timer

DELAY_DEFAULT = 1.0  # seconds, of a timer that nobody gave a delay
LATE = 0.1  # seconds after its deadline, from which on a timer counts as late
SPARE = 64  # entries of the heap that may be in force no more, besides one for each armed timer

Key = tuple[Any, ...]


class Clock:
    """Which timers are armed, and which of them is due. `now` gives seconds, and never goes back.

    `late` counts timers that fired more than `LATE` after their deadlines; `fired` counts all.
    """

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.now = now
        self.wall = wall  # what `self.now()` of a handler reads
        self.fired = 0
        self.late = 0
        self._serial = 0
        self._heap: list[tuple[float, int, Key]] = []  # has entries that are in force no more
        self._armed: dict[Key, tuple[int, float]] = {}  # serial number of its entry, and delay
        self._popped: dict[Key, float] = {}  # delays of timers that have fired

    def arm(self, timer: Key, delay: float) -> None:
        """Let `timer` be due `delay` seconds from now, whatever was set before."""
        self._serial += 1
        self._armed[timer] = (self._serial, delay)
        heappush(self._heap, (self.now() + delay, self._serial, timer))
        if len(self._heap) > 2 * len(self._armed) + SPARE:  # armed anew before it fires, always
            self._heap = [each for each in self._heap if self._in_force(each)]
            heapify(self._heap)

    def again(self, timer: Key) -> None:
        """Let a timer that has fired be due once more, after the delay it had; unless it is."""
        if timer not in self._armed:
            self.arm(timer, self._popped.get(timer, DELAY_DEFAULT))

    def disarm(self, timer: Key) -> None:
        """Take a timer out, if it is armed."""
        self._armed.pop(timer, None)
        self._popped.pop(timer, None)

    def armed(self) -> Timers:
        """The timers that have not fired yet."""
        return frozenset(self._armed)

    def follow(self, armed: Timers, delays: Mapping[Key, float], fired: Key | None) -> None:
        """Do what a step did: `armed` are armed now, those of `delays` anew; `fired` was popped."""
        for timer in self.armed() - armed:
            self.disarm(timer)
        for timer, delay in delays.items():
            self.arm(timer, delay)
        if fired in armed and fired is not None:
            self.again(fired)

    def __len__(self) -> int:
        """How many timers are armed."""
        return len(self._armed)

    def clear(self) -> None:
        """Take all timers out."""
        self._heap.clear()
        self._armed.clear()
        self._popped.clear()

    def next(self) -> float | None:
        """When the next timer is due; None if none is armed."""
        heap = self._heap
        while heap and not self._in_force(heap[0]):
            heappop(heap)
        return heap[0][0] if heap else None

    def _in_force(self, entry: tuple[float, int, Key]) -> bool:
        return self._armed.get(entry[2], (0,))[0] == entry[1]

    def pop(self) -> Key | None:
        """Take out the first timer that is due; None if none is."""
        due, now = self.next(), self.now()
        if due is None or due > now:
            return None
        timer = heappop(self._heap)[2]
        self._popped[timer] = self._armed.pop(timer)[1]
        self.fired += 1
        self.late += now - due > LATE
        return timer


def seconds_until(
    declared: Timer, name: str, delay: int | None, overrides: Mapping[str, float]
) -> float:
    """The delay of a timer: as it was armed, else as configured, else as declared."""
    if delay is not None:
        return delay / TICKS
    if name in overrides:
        return overrides[name]
    return DELAY_DEFAULT if declared.after is None else declared.after
