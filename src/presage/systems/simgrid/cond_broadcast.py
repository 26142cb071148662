"""Threads say that they are ready, and go on one after the other once all are.

After `simple_cond_broadcast_ok` of the McMini programs in SimGrid's tests, which uses semaphores,
and with `condition` the same with a condition variable.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import Actor, ConditionVariable, Mutex, Semaphore


def thread(mutex: Mutex, ready: Semaphore, go: Semaphore) -> None:
    """Waits for its turn with a semaphore."""
    ready.release()
    mutex.lock()
    go.acquire()
    mutex.unlock()


def waiter(mutex: Mutex, changed: ConditionVariable, careless: bool) -> None:
    """Waits for its turn with a condition. A careless one does not look whether it has come."""
    is_open = mutex.lock()
    while careless or not is_open:
        is_open = changed.wait(mutex)
        careless = False
    mutex.unlock()


def main(threads: int, condition: bool, careless: bool) -> None:
    """Starts the threads, lets them go, and waits for them."""
    mutex, ready, go = Mutex("mutex", False), Semaphore(0, "ready"), Semaphore(0, "go")
    changed = ConditionVariable("changed")
    body = (waiter, mutex, changed, careless) if condition else (thread, mutex, ready, go)
    actors = [Actor.create(f"thread {n}", None, *body) for n in range(1, threads + 1)]
    if condition:
        mutex.lock()
        changed.notify_all()
        mutex.unlock(True)
    else:
        for _ in range(threads):
            ready.acquire()
        for _ in range(threads):
            go.release()
    for actor in actors:
        actor.join()


def program(*, threads: int = 2, condition: bool = False, careless: bool = False) -> Program:
    """A main process, which creates the threads.

    threads: how many.
    condition: wait for a condition, not for a semaphore.
    careless: with a condition, wait without looking whether it holds, perhaps for ever.
    """
    return Program({"main": Process(main, threads, condition, careless)}, name="cond_broadcast")
