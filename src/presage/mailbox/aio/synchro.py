"""Locks for coroutines. Making one is to be awaited: `await Mutex.create()`."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from presage.mailbox import locks
from presage.mailbox.locks import SAME, Named
from presage.process.context import awaiting


class Mutex(Named):
    """Held by one process at a time; carries the value it guards."""

    @classmethod
    async def create(cls, name: str | None = None, value: Any = None) -> Mutex:
        """A new one, that guards `value`."""
        mutex = cls.by_name(locks.fresh_name("mutex", name))
        await awaiting(locks.create_mutex(mutex.name, value))
        return mutex

    async def lock(self) -> Any:
        """Wait until nobody holds it; the value it guards."""
        return await awaiting(locks.lock(self.name))

    async def try_lock(self) -> bool:
        """Lock it if nobody holds it."""
        return await awaiting(locks.try_lock(self.name))

    async def unlock(self, value: Any = SAME) -> None:
        """Let the next one have it; with `value`, that is what it guards from now on."""
        await awaiting(locks.unlock(self.name, value))

    async def __aenter__(self) -> Any:
        return await self.lock()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.unlock()


class Semaphore(Named):
    """Lets `capacity` in at a time."""

    @classmethod
    async def create(cls, capacity: int, name: str | None = None) -> Semaphore:
        """A new one, with room for `capacity`."""
        semaphore = cls.by_name(locks.fresh_name("semaphore", name))
        await awaiting(locks.create_semaphore(semaphore.name, capacity))
        return semaphore

    async def acquire(self) -> None:
        """Wait until there is room."""
        await awaiting(locks.acquire(self.name))

    async def acquire_timeout(self, timeout: float) -> bool:
        """As `acquire`; True if that took longer than `timeout`."""
        return await awaiting(locks.acquire_for(self.name, timeout))

    async def try_acquire(self) -> bool:
        """Acquire it if there is room."""
        return await awaiting(locks.try_acquire(self.name))

    async def release(self) -> None:
        """Make room for one more."""
        await awaiting(locks.release(self.name))

    async def __aenter__(self) -> None:
        await self.acquire()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.release()


class Barrier(Named):
    """Lets nobody pass until all have come.

    `parties`: how many, or their names. Named parties do not have to be counted one after the
    other, so a search has fewer orders to try.
    """

    parties: int | tuple[str, ...]

    @classmethod
    async def create(cls, parties: int | Sequence[str], name: str | None = None) -> Barrier:
        """A new one, for so many or for those."""
        barrier = cls.by_name(locks.fresh_name("barrier", name))
        barrier.parties = parties if isinstance(parties, int) else tuple(parties)
        await awaiting(locks.create_barrier(barrier.name, barrier.parties))
        return barrier

    async def wait(self) -> bool:
        """Wait for the others; whether this one came last, where they are counted."""
        return await awaiting(locks.pass_barrier(self.name, self.parties))

    @classmethod
    def by_name(cls, name: str, parties: int | Sequence[str] = 0) -> Barrier:
        """The one of that name, with the same parties as where it was made."""
        barrier = super().by_name(name)
        barrier.parties = parties if isinstance(parties, int) else tuple(parties)
        return barrier


class ConditionVariable(Named):
    """Lets a process that holds a mutex wait until another says that something has changed."""

    @classmethod
    async def create(cls, name: str | None = None) -> ConditionVariable:
        """A new one."""
        return cls.by_name(locks.fresh_name("condition", name))

    async def wait(self, mutex: Mutex) -> Any:
        """Unlock `mutex`, wait to be notified, lock it again; the value it guards."""
        return await awaiting(locks.await_condition(self.name, mutex.name))

    async def wait_for(self, mutex: Mutex, timeout: float) -> bool:
        """As `wait`; True if that took longer than `timeout`."""
        return await awaiting(locks.await_condition_for(self.name, mutex.name, timeout))

    async def notify_one(self) -> None:
        """Wake the one that has waited longest, if there is one."""
        await awaiting(locks.notify_one(self.name))

    async def notify_all(self) -> None:
        """Wake all that wait."""
        await awaiting(locks.notify_all(self.name))
