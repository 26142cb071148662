"""Futures of a rank. Nothing goes on behind its back: who waits for a future lets its pool go on.

`concurrent.futures` waits in two places, the condition of a future and the event of a waiter. Both
are replaced, so that `wait`, `as_completed` and `result` are those of the standard library.
"""

from __future__ import annotations

import concurrent.futures as standard
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from presage.process.context import blocking, sleep, test_any, wait_any
from presage.process.ops import NONE, Response

LOOKS = 10  # how often a wait that may time out looks for results


class Pool(Protocol):
    """Who executes tasks."""

    @property
    def is_busy(self) -> bool:
        """Whether some task is not done."""

    def step(self) -> bool:
        """Do something here and now; whether there was something to do."""

    def listen(self) -> int:
        """The slot in which the next message of a worker arrives."""

    def arrived(self, response: Response) -> None:
        """It has arrived."""

    def withdraw(self, future: Any) -> bool:
        """Take a task back; False if it was begun."""


def drive(pools: Iterable[Pool], until: Callable[[], bool], timeout: float | None) -> None:
    """Let pools go on until something is true, they have nothing to do, or time is over."""
    looks = LOOKS
    while not until():
        busy = [pool for pool in pools if pool.is_busy]
        if any(pool.step() for pool in busy):
            continue
        slots = tuple(pool.listen() for pool in busy)
        if timeout is None and not slots:
            return
        asking = wait_any(slots) if timeout is None else test_any(slots)
        response = blocking(asking) if slots else Response(NONE)
        if response.choice != NONE:
            busy[response.choice].arrived(response)
        elif not looks:
            return
        else:
            looks -= 1
            blocking(sleep((timeout or 0.0) / LOOKS))


class Turn:
    """Stands where a future has its condition."""

    def __init__(self, future: Future) -> None:
        self._future = future

    def acquire(self) -> bool:
        return True

    def release(self) -> None:
        """Nobody else is there."""

    def notify_all(self) -> None:
        """Who waits looks by itself."""

    def wait(self, timeout: float | None = None) -> bool:
        drive(self._future.pools, self._future.done, timeout)
        return self._future.done()

    def __enter__(self) -> bool:
        return True

    def __exit__(self, *_: object) -> None:
        self.release()


class Arrival:
    """Stands where a waiter has its event."""

    def __init__(self, is_set: bool) -> None:
        self.pools: list[Pool] = []
        self._is_set = is_set

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True

    def clear(self) -> None:
        self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        drive(self.pools, self.is_set, timeout)
        return self._is_set


class Waiters(list[Any]):
    """Those who wait for a future among others."""

    def __init__(self, pools: tuple[Pool, ...]) -> None:
        super().__init__()
        self._pools = pools

    def append(self, waiter: Any) -> None:
        if not isinstance(waiter.event, Arrival):
            waiter.event = Arrival(waiter.event.is_set())
        waiter.event.pools += [each for each in self._pools if each not in waiter.event.pools]
        super().append(waiter)


class Future(standard.Future[Any]):
    """The result of a task, once it is there; without pools, as in the standard library."""

    def __init__(self, *pools: Pool) -> None:
        super().__init__()
        self.pools = pools
        if pools:
            self._condition: Any = Turn(self)
            self._waiters: Any = Waiters(pools)

    def cancel(self) -> bool:
        """Take the task back, if nobody has begun it."""
        if self.done() or not self.pools:
            return super().cancel()
        if not all(pool.withdraw(self) for pool in self.pools):
            return False
        super().cancel()
        self.set_running_or_notify_cancel()
        return True
