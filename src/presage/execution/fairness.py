"""What fairness speaks of: units, and whether a loop is fair to all of them.

A unit is what must get its turn on an endless execution: deliveries of one type of message on one
channel, lane or stream, the news at one node that its connection to another is gone, one timer of
one node, one action of one node, the writes of one disk, the waking of one slow node. Deliveries
are grouped by type, not told apart by content: content may change all the time (a retry counter),
and a fairness that speaks of each content separately would then promise nothing. Workload calls and
faults belong to no unit: clients may stop, and nobody is owed a fault.

Weak: what is enabled all along is done. Strong: what is enabled again and again is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

from presage.model.service.local_state import Stimulus
from presage.model.world.event import FAULT_KINDS, Event
from presage.model.world.lane import lane_of
from presage.model.world.stimulus import stimulus_of
from presage.model.world.system import System

# What the end of a stream hands to its node: a message, or in one of three ways that it is gone.
STREAM_KINDS = frozenset({"receive", "broken", "refused", "keepalive"})


def unit(system: System, node: int, stimulus: Stimulus) -> str | None:
    """The unit that `stimulus` belongs to when it happens at `node`; None if to none."""
    name = system.names[node]
    kind = stimulus[0]
    lane = _lane(system, stimulus[2]) if kind == "deliver" else ""
    if kind in ("deliver", "receive"):
        return f"{kind} {_type(stimulus[2])} {system.names[stimulus[1]]} -> {name}{lane}"
    if kind == "timer":
        return f"timer {system.codec.encode(stimulus).hex()} at {name}"
    if kind == "action":
        return f"action {stimulus[1]} at {name}"
    if kind == "write":
        return f"write {stimulus[1]} at {name}"
    if kind == "wake":
        return f"wake {name}"
    return None


def _lane(system: System, message: Any) -> str:
    lane = lane_of(message) if system.network == "lanes" else None
    return "" if lane is None else f" in lane {system.codec.encode(lane).hex()}"


def unit_of(system: System, event: Event) -> str | None:
    if event.kind in FAULT_KINDS:
        return None
    stimulus = stimulus_of(system, event)
    if event.kind in STREAM_KINDS:
        stimulus = ("receive", *stimulus[1:])
    return unit(system, system.index(event.node), stimulus)


def is_fair(fairness: str, enabled: Sequence[Iterable[str]], taken: Iterable[str]) -> bool:
    """Whether a loop is fair: `enabled` are the units enabled in each of its states."""
    states, done = [frozenset(units) for units in enabled], frozenset(taken)
    if fairness == "none" or not states:
        return True
    if fairness == "strong":
        return frozenset[str]().union(*states) <= done
    return states[0].intersection(*states) <= done


def _type(message: Any) -> str:
    """The type of a message; a string or a member of an enum is a type of its own."""
    kind = type(message)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(message, Enum):
        return f"{name}.{message.name}"
    return f"{name} {message!r}" if isinstance(message, str) else name
