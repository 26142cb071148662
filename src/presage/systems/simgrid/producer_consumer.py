"""Producers and consumers around a buffer with few places.

After `producer_consumer_*` of the McMini programs in SimGrid's tests, and its example
`pthread-producer-consumer`.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import Actor, Mutex, Semaphore


def producer(items: int, buffer: Mutex, empty: Semaphore, full: Semaphore) -> None:
    """Puts items where there is room."""
    for item in range(items):
        empty.acquire()
        buffer.unlock((*buffer.lock(), item))
        full.release()


def consumer(items: int, buffer: Mutex, empty: Semaphore, full: Semaphore, deadlock: bool) -> None:
    """Takes items where there are some."""
    for _ in range(items):
        if deadlock:
            buffer.lock()
            full.acquire()
            buffer.unlock()
        else:
            full.acquire()
            _first, *rest = buffer.lock()
            buffer.unlock(tuple(rest))
        empty.release()


def main(producers: int, consumers: int, items: int, places: int, deadlock: bool) -> None:
    """Starts them all and waits for them."""
    buffer, empty, full = Mutex("buffer", ()), Semaphore(places, "empty"), Semaphore(0, "full")
    actors = [
        Actor.create(f"producer {n}", None, producer, items, buffer, empty, full)
        for n in range(1, producers + 1)
    ]
    actors += [
        Actor.create(f"consumer {n}", None, consumer, items, buffer, empty, full, deadlock)
        for n in range(1, consumers + 1)
    ]
    for actor in actors:
        actor.join()


def program(
    *,
    producers: int = 1,
    consumers: int = 1,
    items: int = 2,
    places: int = 1,
    deadlock: bool = False,
) -> Program:
    """A main process, which creates the others.

    producers: how many.
    consumers: how many, at most as many as producers.
    items: how many each of them produces or consumes.
    places: the size of the buffer.
    deadlock: consumers wait for items while they hold the lock of the buffer.
    """
    body = Process(main, producers, consumers, items, places, deadlock)
    return Program({"main": body}, name="producer_consumer")
