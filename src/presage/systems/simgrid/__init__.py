"""Programs of processes, after SimGrid's own tests of its model checker and the paper about it.

Each module has a function `program(...)` whose keyword arguments are its parameters, and is written
with public names only. They are written anew: the algorithms are SimGrid's, McMini's and DPU's, the
code is not.
"""

from __future__ import annotations

PROGRAMS: tuple[str, ...] = (
    "barber_shop",
    "bugged1",
    "bugged2",
    "centralized_mutex",
    "chord",
    "cond_broadcast",
    "dispatcher",
    "electric_fence",
    "failing_assert",
    "groups_of_three",
    "mpat",
    "multiprodcon",
    "only_send_deterministic",
    "philosophers",
    "pi",
    "poke",
    "producer_consumer",
    "random_bug",
    "simple_mutex",
    "waitany",
)
