"""Locks for coroutines. Making one is to be awaited: `await Mutex.create()`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.mailbox import locks
from presage.mailbox.forms import awaited
from presage.mailbox.locks import Gate, Named
from presage.process.context import awaiting


class Mutex(Named):
    """Held by one process at a time; carries the value it guards."""

    @classmethod
    async def create(cls, name: str | None = None, value: Any = None) -> Mutex:
        """A new one, that guards `value`."""
        mutex = cls.by_name(locks.fresh_name("mutex", name))
        await awaiting(locks.create_mutex(mutex, value))
        return mutex

    lock = awaited(locks.lock)
    try_lock = awaited(locks.try_lock)
    unlock = awaited(locks.unlock)
    __aenter__ = lock

    async def __aexit__(self, *_: object) -> None:
        await self.unlock()


class Semaphore(Named):
    """Lets `capacity` in at a time."""

    @classmethod
    async def create(cls, capacity: int, name: str | None = None) -> Semaphore:
        """A new one, with room for `capacity`."""
        semaphore = cls.by_name(locks.fresh_name("semaphore", name))
        await awaiting(locks.create_semaphore(semaphore, capacity))
        return semaphore

    acquire = awaited(locks.acquire)
    acquire_timeout = awaited(locks.acquire_timeout)
    try_acquire = awaited(locks.try_acquire)
    release = awaited(locks.release)
    __aenter__ = acquire

    async def __aexit__(self, *_: object) -> None:
        await self.release()


class Barrier(Gate):
    """Lets nobody pass until all have come.

    `parties`: how many, or their names. Named parties do not have to be counted one after the
    other, so a search has fewer orders to try.
    """

    @classmethod
    async def create(cls, parties: int | Sequence[str], name: str | None = None) -> Barrier:
        """A new one, for so many or for those."""
        barrier = cls.by_name(locks.fresh_name("barrier", name), parties)
        await awaiting(locks.create_barrier(barrier))
        return barrier

    wait = awaited(locks.pass_barrier)


class ConditionVariable(Named):
    """Lets a process that holds a mutex wait until another says that something has changed."""

    @classmethod
    async def create(cls, name: str | None = None) -> ConditionVariable:
        """A new one."""
        return cls.by_name(locks.fresh_name("condition", name))

    wait = awaited(locks.await_condition)
    wait_for = awaited(locks.await_condition_for)
    notify_one = awaited(locks.notify_one)
    notify_all = awaited(locks.notify_all)
