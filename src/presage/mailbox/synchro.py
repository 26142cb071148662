"""Locks for plain functions. Making one is an operation of the process that makes it."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from presage.mailbox import locks
from presage.mailbox.locks import SAME, Named
from presage.process.context import blocking


class Mutex(Named):
    """Held by one process at a time; carries the value it guards."""

    def __init__(self, name: str | None = None, value: Any = None) -> None:
        super().__init__(locks.fresh_name("mutex", name))
        blocking(locks.create_mutex(self.name, value))

    def lock(self) -> Any:
        """Wait until nobody holds it; the value it guards."""
        return blocking(locks.lock(self.name))

    def try_lock(self) -> bool:
        """Lock it if nobody holds it."""
        return blocking(locks.try_lock(self.name))

    def unlock(self, value: Any = SAME) -> None:
        """Let the next one have it; with `value`, that is what it guards from now on."""
        blocking(locks.unlock(self.name, value))

    def __enter__(self) -> Any:
        return self.lock()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.unlock()


class Semaphore(Named):
    """Lets `capacity` in at a time."""

    def __init__(self, capacity: int, name: str | None = None) -> None:
        super().__init__(locks.fresh_name("semaphore", name))
        blocking(locks.create_semaphore(self.name, capacity))

    def acquire(self) -> None:
        """Wait until there is room."""
        blocking(locks.acquire(self.name))

    def acquire_timeout(self, timeout: float) -> bool:
        """As `acquire`; True if that took longer than `timeout`."""
        return blocking(locks.acquire_for(self.name, timeout))

    def try_acquire(self) -> bool:
        """Acquire it if there is room."""
        return blocking(locks.try_acquire(self.name))

    def release(self) -> None:
        """Make room for one more."""
        blocking(locks.release(self.name))

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()


class Barrier(Named):
    """Lets nobody pass until all have come.

    `parties`: how many, or their names. Named parties do not have to be counted one after the
    other, so a search has fewer orders to try.
    """

    parties: int | tuple[str, ...]

    def __init__(self, parties: int | Sequence[str], name: str | None = None) -> None:
        super().__init__(locks.fresh_name("barrier", name))
        self.parties = parties if isinstance(parties, int) else tuple(parties)
        blocking(locks.create_barrier(self.name, self.parties))

    def wait(self) -> bool:
        """Wait for the others; whether this one came last, where they are counted."""
        return blocking(locks.pass_barrier(self.name, self.parties))

    @classmethod
    def by_name(cls, name: str, parties: int | Sequence[str] = 0) -> Barrier:
        """The one of that name, with the same parties as where it was made."""
        barrier = super().by_name(name)
        barrier.parties = parties if isinstance(parties, int) else tuple(parties)
        return barrier


class ConditionVariable(Named):
    """Lets a process that holds a mutex wait until another says that something has changed."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(locks.fresh_name("condition", name))

    def wait(self, mutex: Mutex) -> Any:
        """Unlock `mutex`, wait to be notified, lock it again; the value it guards."""
        return blocking(locks.await_condition(self.name, mutex.name))

    def wait_for(self, mutex: Mutex, timeout: float) -> bool:
        """As `wait`; True if that took longer than `timeout`."""
        return blocking(locks.await_condition_for(self.name, mutex.name, timeout))

    def notify_one(self) -> None:
        """Wake the one that has waited longest, if there is one."""
        blocking(locks.notify_one(self.name))

    def notify_all(self) -> None:
        """Wake all that wait."""
        blocking(locks.notify_all(self.name))
