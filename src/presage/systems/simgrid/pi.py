"""Threads that sum up parts of a series for pi, and add them up under a lock: in n! orders.

After the DPU program `pi` in SimGrid's tests.
"""

from __future__ import annotations

from presage import Process, Program
from presage.mailbox import Actor, Mutex


def part(rank: int, terms: int, total: Mutex) -> None:
    """Adds its share of the terms."""
    share = sum((-1.0) ** k / (2 * k + 1) for k in range(rank * terms, (rank + 1) * terms))
    total.unlock(total.lock() + share)


def main(threads: int, terms: int) -> None:
    """Starts the threads and looks at the result."""
    total = Mutex("total", 0.0)
    actors = [
        Actor.create(f"thread {rank}", None, part, rank, terms // threads, total)
        for rank in range(threads)
    ]
    for actor in actors:
        actor.join()
    exact = sum((-1.0) ** k / (2 * k + 1) for k in range(terms // threads * threads))
    assert abs(total.lock() - exact) < 1e-9


def program(*, threads: int = 3, terms: int = 60) -> Program:
    """A main process, which creates the threads.

    threads: how many.
    terms: how many terms of the series, shared among the threads.
    """
    return Program({"main": Process(main, threads, terms)}, name="pi")
