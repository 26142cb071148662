"""The local record of a node, and what one step makes of it.

Values are a plain list: `control`, then the declared fields in order. Control is (status, calls,
timers, failure): `calls` counts the workload calls made; `timers` is a frozenset of (name, *args);
`failure` says briefly how a failed node failed. Timers, durable fields and status being part of
the record, firing, crash and restart are steps like any other.

A stimulus is a tuple of canonical values, one of
("start",), ("deliver", source_index, message), ("timer", name, *args), ("action", name),
("action", name, value), ("call",), ("write", field, key), ("wake",), ("crash",), ("restart",),
("reset",), ("silent",), ("slow",); and in a live node ("call", method, *args), a call that the
workload does not make, and ("prediction", what was predicted).
That the connection to a peer is gone is told by delivering `LOST` from that peer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from presage._core import FAILED, SLOW, UP
from presage.records import NamedTuple

Timers: TypeAlias = frozenset[tuple[Any, ...]]
Control: TypeAlias = tuple[int, int, Timers, str | None]
Values: TypeAlias = list[Any]
Stimulus: TypeAlias = tuple[Any, ...]

UNARMED: Timers = frozenset()
BORN: Control = (UP, 0, UNARMED, None)


class Flow(NamedTuple):
    """What a handler did to a stream: one more message in the queue to `peer`, or closed it."""

    peer: int
    closes: bool
    message: Any = None


class Limit(NamedTuple):
    """A branch happens only where so many messages are queued to `peer` before the handler runs."""

    peer: int
    least: int
    most: int


class Outcome(NamedTuple):
    choices: tuple[tuple[int, int], ...]  # (k, n) each: option k, from 0, of n
    values: Values  # the new local state
    sends: list[tuple[int, Any]]  # (index of the receiver, message), in order
    records: list[Any]
    failure: str | None  # the exception that left the handler, and where; None if none did
    logs: list[str]
    flows: Sequence[Flow] = ()  # in order
    limits: Sequence[Limit] = ()
    share: float = 1.0  # how likely its choices are, by their weights
    delays: Mapping[tuple[Any, ...], int | None] | None = None  # of timers armed: see `timed`


def kept_inside(outside: Collection[int], answer: Callable[..., Any], *step: Any) -> Any:
    """What `answer` says of a step, without what is done to nodes outside."""
    outcome = answer(*step)
    if not isinstance(outcome, Outcome):
        return outcome
    sends = [(to, message) for to, message in outcome.sends if to not in outside]
    flows = tuple(flow for flow in outcome.flows if flow.peer not in outside)
    return outcome._replace(sends=sends, flows=flows)


def is_up(control: Control) -> bool:
    """Whether the node runs, be it slowly."""
    return control[0] in (UP, SLOW)


def is_armed(timers: Timers, timer: Any, args: tuple[Any, ...]) -> bool:
    """Whether `timer` is armed with these arguments; without any, with whatever ones."""
    name = timer_name(timer)
    return (name, *args) in timers if args else any(each[0] == name for each in timers)


def timer_name(timer: Any) -> Any:
    """What a timer is called, which is given by its name or as the method itself."""
    return timer if isinstance(timer, str) else getattr(timer, "__name__", timer)


def unchanged(values: Values) -> Outcome:
    """The outcome of a stimulus that nothing reacts to."""
    return Outcome((), values, [], [], None, [])


def unhandled(values: Values, service: type, message: Any, source: str) -> Outcome:
    """The outcome of a message that the node's service has no handler for: the node fails."""
    kind = type(message).__name__
    values[0] = (FAILED, values[0][1], UNARMED, f"Unhandled {kind}")
    text = f"Unhandled: `{service.__name__}` has no handler for `{kind}`, sent by {source}"
    if isinstance(message, type):
        text += f"; it is the class itself, not an instance: `{message.__name__}(...)`"
    return Outcome((), values, [], [], text, [])
