"""Threads that add one to a shared counter, with and without a lock.

Reading and writing back are two steps, so two threads may read the same value and one increment
is lost: the classic race. One node with guarded actions, one per thread, is enough: this is how a
specification is written without messages. Same model as Stateright's increment examples.
"""

from __future__ import annotations

from presage import Property, Service, System, Verdict, WorldView, action, always, state


class Counter(Service):
    """Shared memory and the place each thread has reached in its code."""

    threads: int
    locked: bool = False
    value: int = 0
    lock_held: bool = False
    next_step: list[str] = state(list)  # per thread: lock, read, write, release or done
    copies: list[int] = state(list)  # per thread: the value it read

    def start(self) -> None:
        self.next_step = ["lock" if self.locked else "read"] * self.threads
        self.copies = [0] * self.threads

    @action(
        over=lambda self: range(self.threads),
        when=lambda self, thread: self.next_step[thread] == "lock" and not self.lock_held,
    )
    def lock(self, thread: int) -> None:
        self.lock_held = True
        self.next_step[thread] = "read"

    @action(
        over=lambda self: range(self.threads),
        when=lambda self, thread: self.next_step[thread] == "read",
    )
    def read(self, thread: int) -> None:
        self.copies[thread] = self.value
        self.next_step[thread] = "write"

    @action(
        over=lambda self: range(self.threads),
        when=lambda self, thread: self.next_step[thread] == "write",
    )
    def write(self, thread: int) -> None:
        self.value = self.copies[thread] + 1
        self.next_step[thread] = "release" if self.locked else "done"

    @action(
        over=lambda self: range(self.threads),
        when=lambda self, thread: self.next_step[thread] == "release",
    )
    def release(self, thread: int) -> None:
        self.lock_held = False
        self.next_step[thread] = "done"


@always
def no_lost_increment(world: WorldView) -> Verdict:
    """The counter equals the number of threads that have written."""
    counter = world["counter"]
    written = sum(step in ("release", "done") for step in counter.next_step)
    return Verdict(
        counter.value == written,
        f"{written} threads have incremented, the counter is {counter.value}",
    )


@always
def mutual_exclusion(world: WorldView) -> bool:
    """At most one thread is between taking and giving back the lock."""
    inside = ("read", "write", "release")
    return sum(step in inside for step in world["counter"].next_step) <= 1


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
