"""Locks for plain functions. Making one is an operation of the process that makes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.mailbox import locks
from presage.mailbox.forms import plain
from presage.mailbox.locks import Gate, Named
from presage.process.context import blocking


class Mutex(Named):
    """Held by one process at a time; carries the value it guards."""

    def __init__(self, name: str | None = None, value: Any = None) -> None:
        super().__init__(locks.fresh_name("mutex", name))
        blocking(locks.create_mutex(self, value))

    lock = plain(locks.lock)
    try_lock = plain(locks.try_lock)
    unlock = plain(locks.unlock)
    __enter__ = lock

    def __exit__(self, *_: object) -> None:
        self.unlock()


class Semaphore(Named):
    """Lets `capacity` in at a time."""

    def __init__(self, capacity: int, name: str | None = None) -> None:
        super().__init__(locks.fresh_name("semaphore", name))
        blocking(locks.create_semaphore(self, capacity))

    acquire = plain(locks.acquire)
    acquire_timeout = plain(locks.acquire_timeout)
    try_acquire = plain(locks.try_acquire)
    release = plain(locks.release)
    __enter__ = acquire

    def __exit__(self, *_: object) -> None:
        self.release()


class Barrier(Gate):
    """Lets nobody pass until all have come.

    `parties`: how many, or their names. Named parties do not have to be counted one after the
    other, so a search has fewer orders to try.
    """

    def __init__(self, parties: int | Sequence[str], name: str | None = None) -> None:
        super().__init__(locks.fresh_name("barrier", name))
        self.parties = parties if isinstance(parties, int) else tuple(parties)
        blocking(locks.create_barrier(self))

    wait = plain(locks.pass_barrier)


class ConditionVariable(Named):
    """Lets a process that holds a mutex wait until another says that something has changed."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(locks.fresh_name("condition", name))

    wait = plain(locks.await_condition)
    wait_for = plain(locks.await_condition_for)
    notify_one = plain(locks.notify_one)
    notify_all = plain(locks.notify_all)
