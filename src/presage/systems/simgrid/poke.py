"""A pool of workers is poked, here and there, to find out who is free.

After the DPU program `poke` in SimGrid's tests.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import Actor, Mutex


def work(worker: Mutex) -> None:
    """Says that it is free."""
    _is_free, pokes = worker.lock()
    worker.unlock((True, pokes))


def choose_one(chosen: Mutex, workers: int) -> None:
    """Chooses one worker after the other."""
    for number in range(1, workers):
        chosen.lock()
        chosen.unlock(number)


def poke(chosen: Mutex, pool: list[Mutex]) -> None:
    """Takes the worker that is chosen just now, if it is free."""
    number = chosen.lock()
    chosen.unlock()
    is_free, pokes = pool[number].lock()
    pool[number].unlock((False, pokes + is_free))


def main(workers: int, rounds: int) -> None:
    """Starts the workers, pokes them, and counts that each was free once."""
    pool = [Mutex(f"worker {number}", (False, 0)) for number in range(workers)]
    chosen = Mutex("chosen", 0)
    actors = [
        Actor.create(f"worker {number}", None, work, mutex) for number, mutex in enumerate(pool)
    ]
    for turn in range(rounds):
        pair = [
            Actor.create(f"choice {turn}", None, choose_one, chosen, workers),
            Actor.create(f"poke {turn}", None, poke, chosen, pool),
        ]
        for actor in pair:
            actor.join()
    for actor in actors:
        actor.join()
    seen = [mutex.lock() for mutex in pool]
    assert sum(is_free + pokes for is_free, pokes in seen) == workers, seen


def program(*, workers: int = 3, rounds: int = 3) -> Program:
    """A main process, which creates the others.

    workers: how many are in the pool.
    rounds: how often one of them is poked.
    """
    return Program({"main": Process(main, workers, rounds)}, name="poke")
