"""Philosophers that take two forks each, and may all hold one and wait for the other.

After the McMini programs `philosophers_*` in SimGrid's tests.
"""

from __future__ import annotations

from typing import Literal

from presage import Process, Program
from presage.mailbox import Actor, Mutex, Semaphore

Variant = Literal["mutex_ok", "mutex_deadlock", "semaphores_ok", "semaphores_deadlock"]


def philosopher(left: Mutex, right: Mutex, table: Mutex | Semaphore | None) -> None:
    """Eats once. With a mutex for the table, only one reaches for forks at a time."""
    if isinstance(table, Mutex):
        table.lock()
    elif isinstance(table, Semaphore):
        table.acquire()
    left.lock()
    right.lock()
    if isinstance(table, Mutex):
        table.unlock()
    left.unlock()
    right.unlock()
    if isinstance(table, Semaphore):
        table.release()


def main(count: int, variant: Variant) -> None:
    """Lays the table, and waits until everybody has eaten."""
    forks = [Mutex(f"fork {number}") for number in range(count)]
    table: Mutex | Semaphore | None = None
    if variant == "mutex_ok":
        table = Mutex("table")
    elif variant.startswith("semaphores"):
        table = Semaphore(count - (variant == "semaphores_ok"), "table")
    actors = [
        Actor.create(f"philosopher {n}", None, philosopher, forks[n], forks[(n + 1) % count], table)
        for n in range(count)
    ]
    for actor in actors:
        actor.join()


def program(*, count: int = 3, variant: Variant = "mutex_ok") -> Program:
    """A main process, which creates the philosophers.

    count: how many philosophers, and forks.
    variant: what keeps them from reaching all at once: `mutex_ok` a lock, `semaphores_ok` a
        semaphore with one seat less, the others nothing that helps.
    """
    return Program({"main": Process(main, count, variant)}, name="philosophers")
