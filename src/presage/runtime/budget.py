"""A budget of bytes per second: a bucket that fills slowly and is emptied by what is sent.

Something larger than what is left may still go, if anything is left: the bucket is then in debt,
and the next thing waits. So nothing is too large for ever, and the rate holds in the long run.
"""

from __future__ import annotations

import math


class Bucket:
    """`rate` bytes per second, of which at most one second's worth is saved up."""

    def __init__(self, rate: float = math.inf) -> None:
        self.rate = rate
        self.spent = 0  # bytes in all
        self._left = rate
        self._time = -math.inf

    def take(self, size: int, now: float) -> bool:
        """Whether something may be sent now; if so, it is paid for."""
        if not self.ready(now):
            return False
        self._left -= size
        self.spent += size
        return True

    def ready(self, now: float) -> bool:
        """Whether anything is left."""
        if self._time < now:
            elapsed = now - self._time
            self._left = min(self.rate, self._left + elapsed * self.rate)
            self._time = now
        return self._left > 0

    def ready_at(self, now: float) -> float:
        """When something may be sent next."""
        return now if self.ready(now) else now - self._left / self.rate + 1e-6
