"""Filters: events that are refused from now on, as plain data, and what happens in their place.

A filter does only what a network or a clock could do: a message is lost, a connection is reset, a
timer or an action waits. So whatever happens with filters in force could happen without them, given
the faults; that is why they may be put into a running system.

A node's messages to itself are never refused: there is nothing between it and itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from presage.errors import BadSystem, UnknownNode
from presage.model.world.event import Act, Cut, Deliver, Drop, Event, Fire, Receive
from presage.model.world.system import System
from presage.records import record

# What is done instead, by the kind of the event.
ACTIONS = {"deliver": "drop", "receive": "reset", "timer": "delay", "action": "delay"}


@record(frozen=True)
class Filter:
    """Refuses one kind of event at one node."""

    node: str  # where it would happen
    kind: str  # deliver, receive, timer or action
    name: str  # of the message's class, of the timer or of the action
    source: str | None = None  # who sent the message; None: anybody

    @property
    def action(self) -> str:
        """What is done instead: drop, reset or delay."""
        return ACTIONS[self.kind]

    def refuses(self, event: Event) -> bool:
        """Whether `event` is one of those that do not happen."""
        if event.kind != self.kind or event.node != self.node:
            return False
        if isinstance(event, Deliver | Receive):
            sent = event.source != event.node and self.source in (None, event.source)
            return sent and type(event.message).__name__ == self.name
        return isinstance(event, Fire | Act) and event.name == self.name

    def __str__(self) -> str:
        source = "" if self.source is None else f" from {self.source}"
        return f"{self.action} {self.kind} {self.name}{source} at {self.node}"


def filter_of(event: Event) -> Filter | None:
    """The narrowest filter that refuses `event`; None if none can."""
    match event:
        case Deliver() | Receive():
            name = type(event.message).__name__
            found = Filter(event.node, event.kind, name, event.source)
        case Fire() | Act():
            found = Filter(event.node, event.kind, event.name)
        case _:
            return None
    return found if found.refuses(event) else None


def in_place_of(system: System, event: Event, whole: Collection[tuple[str, str]]) -> Event | None:
    """What happens where a filter refuses `event`; None: nothing, it waits.

    `whole` are the connections that are open at both ends, the lower node first. A reset of
    another one would lose nothing: its messages are sent again.
    """
    match event:
        case Deliver():
            return Drop(event.node, event.source, event.message)
        case Receive():
            one, other = sorted((event.node, event.source), key=system.index)
            return Cut(one, other) if (one, other) in whole else None
    return None


def checked_filters(system: System, filters: Iterable[Filter]) -> tuple[Filter, ...]:
    """`filters`, of which each can refuse something in `system`."""
    found = tuple(filters)
    for each in found:
        if not isinstance(each, Filter) or each.kind not in ACTIONS:
            raise BadSystem(
                f"{each!r} is no filter",
                "an event that cannot be refused, or a value of another kind",
                f"`Filter(node, kind, name)`, its kind one of {', '.join(ACTIONS)}",
            )
        for name in (each.node, each.source):
            if name is not None and name not in system.indices:
                raise UnknownNode(name, system.names, f"a filter of `{system.name}`")
    if system.network == "lanes" and any(each.kind == "deliver" for each in found):
        raise BadSystem(
            f"a filter of deliveries for the system `{system.name}`, whose network has lanes",
            "what a filter refuses is lost, and nothing is lost from the middle of a lane",
            "leave the filter out, or check the system on another network",
        )
    if found and system.seals:
        raise BadSystem(
            f"filters for the system `{system.name}`, which has seals",
            "a filter may refuse the one event that a seal lets through",
            "leave the filters out, or the seals",
        )
    return found
