"""Reactive programs: the benchmarks of "Iterative Cycle Detection via Delaying Explorers".

Desai, Qadeer and Rajamani (2015) compared schedulers on fifteen programs, written in P. Here are
the same protocols, written anew, one file each. Where the paper's own source is not public, the
module says what its version rests on. `system(...)` has keyword arguments as parameters; each bug
is a value of `bug`, and `bug="none"` is correct.

Two files serve the others: `machine`, state machines as P has them, and `timer`, its timer.
"""

from __future__ import annotations

MODELS: tuple[str, ...] = (
    "cscale",
    "cts",
    "elevator_door",
    "elevator_planning",
    "german",
    "lann",
    "lcr",
    "msmie",
    "orset",
    "osr",
    "sync_bfs",
    "tree_identification",
    "truck_lift",
    "tsp",
    "usb",
)
