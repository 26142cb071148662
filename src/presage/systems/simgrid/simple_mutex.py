"""Threads that take two locks, always in the same order: never stuck, in n! orders.

After `simple_mutex_with_threads_ok` and `_deadlock` of the McMini programs in SimGrid's tests.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import Actor, Mutex


def thread(outer: Mutex, inner: Mutex) -> None:
    """Takes one lock inside the other."""
    outer.lock()
    inner.lock()
    inner.unlock()
    outer.unlock()


def main(threads: int, deadlock: bool) -> None:
    """Starts the threads and waits for them."""
    one, two = Mutex("one"), Mutex("two")
    actors = []
    for number in range(1, threads + 1):
        order = (two, one) if deadlock and number == threads else (one, two)
        actors.append(Actor.create(f"thread {number}", None, thread, *order))
    for actor in actors:
        actor.join()


def program(*, threads: int = 4, deadlock: bool = False) -> Program:
    """A main process, which creates the threads.

    threads: how many.
    deadlock: the last one takes the locks in the other order.
    """
    return Program({"main": Process(main, threads, deadlock)}, name="simple_mutex")
