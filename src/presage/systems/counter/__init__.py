"""Threads that add one to a shared counter, with and without a lock.

Reading and writing back are two steps, so two threads may read the same value and one increment
is lost: the classic race. One node with guarded actions, one per thread, is enough: this is how a
specification is written without messages. Same model as Stateright's increment examples.
"""

from __future__ import annotations

from presage import Property, System
from presage.systems.counter.properties import mutual_exclusion, no_lost_increment
from presage.systems.counter.service import Counter

__all__ = ["Counter", "mutual_exclusion", "no_lost_increment", "system"]


def system(*, threads: int = 2, locked: bool = False) -> System:
    """Threads that each increment a counter once.

    threads: how many.
    locked: whether each takes a lock around its increment; without it, increments are lost.
    """
    properties: list[Property] = [no_lost_increment]
    if locked:
        properties.append(mutual_exclusion)
    return System(
        nodes={"counter": Counter(threads=threads, locked=locked)},
        properties=properties,
        name="counter",
    )
