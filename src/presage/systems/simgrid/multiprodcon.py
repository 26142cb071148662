"""Producers build a number together, which says which worker gets the work.

After the DPU program `multiprodcon` in SimGrid's tests.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import Actor, Mutex

DIGITS = 2  # that each producer adds
LOOKS = 2  # how often a worker looks for work


def worker(mine: Mutex) -> None:
    """Does the work it finds."""
    for _ in range(LOOKS):
        mine.unlock(max(0, mine.lock() - 1))


def producer(number: int, producers: int, built: Mutex, workers: list[Mutex]) -> None:
    """Adds digits, then gives work to the worker that the number says."""
    value = 0
    for _ in range(DIGITS):
        value = built.lock() * producers + number
        built.unlock(value)
    assert value <= producers ** (DIGITS * producers)
    chosen = workers[value % len(workers)]
    chosen.unlock(chosen.lock() + 1)


def main(workers: int, producers: int) -> None:
    """Starts them all and waits for them."""
    mutexes = [Mutex(f"worker {number}", 0) for number in range(workers)]
    actors = [
        Actor.create(f"worker {number}", None, worker, mutex)
        for number, mutex in enumerate(mutexes)
    ]
    built = Mutex("built", 0)
    actors += [
        Actor.create(f"producer {number}", None, producer, number, producers, built, mutexes)
        for number in range(producers)
    ]
    for actor in actors:
        actor.join()


def program(*, workers: int = 5, producers: int = 2) -> Program:
    """A main process, which creates the others.

    workers: how many, at least two.
    producers: how many.
    """
    return Program({"main": Process(main, workers, producers)}, name="multiprodcon")
