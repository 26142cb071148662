"""No increment is lost; with a lock, one thread at a time is inside."""

from __future__ import annotations

from presage import Verdict, WorldView, always


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
