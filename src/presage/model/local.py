"""The local record of a node, and what one step makes of it.

Values are a plain list: `control`, then the declared fields in order. Control is (status, calls,
timers, failure): `calls` counts the workload calls made; `timers` is a frozenset of (name, *args);
`failure` says briefly how a failed node failed. Timers, durable fields and status being part of
the record, firing, crash and restart are steps like any other.

A stimulus is a tuple of canonical values, one of
("start",), ("deliver", source_index, message), ("timer", name, *args), ("action", name),
("action", name, value), ("call",), ("crash",), ("restart",).
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

DOWN, UP, FAILED = 0, 1, 2  # status
CRASH, RESTART, DROP, DUPLICATE = 0, 1, 2, 3  # faults, in the order of `Faults.budgets`

Timers: TypeAlias = frozenset[tuple[Any, ...]]
Control: TypeAlias = tuple[int, int, Timers, str | None]
Values: TypeAlias = list[Any]
Stimulus: TypeAlias = tuple[Any, ...]

UNARMED: Timers = frozenset()
BORN: Control = (UP, 0, UNARMED, None)


class Outcome(NamedTuple):
    """What one run did."""

    choices: tuple[tuple[int, int], ...]  # (k, n) each: option k, from 0, of n
    values: Values  # the new local state
    sends: list[tuple[int, Any]]  # (index of the receiver, message), in order
    records: list[Any]
    failure: str | None  # the exception that left the handler, and where; None if none did
    logs: list[str]


def unchanged(values: Values) -> Outcome:
    """The outcome of a stimulus that nothing reacts to."""
    return Outcome((), values, [], [], None, [])
