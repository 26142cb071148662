"""States of a live world that are visited many times, and which events commute in them.

What commutes is not declared and not guessed: both orders of two events are taken in the very
state, as `--commuting-delays` and `rust/src/reduce/commute.rs` define it. What makes two faults
alike is asked of the roles that `--skip symmetric-faults` has.

Invariant: each step is taken once, and states are told apart by their fingerprints.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from presage import System, World
from presage.model.world.event import Deliver, Fire
from presage.search.alike.roles import Roles

FAULTS = ("crash", "restart")
Key = tuple[Hashable, ...]


class Place(NamedTuple):
    """A state of the world."""

    saved: Any
    events: dict[str, Any]  # by name


class Kind(NamedTuple):
    """What black-box DPOR knows of an event."""

    node: str
    fault: str  # "" if it is none
    is_timer: bool = False


class Did(NamedTuple):
    """One step of an execution."""

    name: str  # of the event
    at: int  # the state before


class Graph:
    """The states that executions have passed, by fingerprint; each step is taken once."""

    def __init__(self, system: System) -> None:
        self.system, self.world = system, World.initial(system)
        self.places: dict[int, Place] = {}
        self.kinds: dict[str, Kind] = {}
        self._mail: dict[int, list[tuple[str, str]]] = {}
        self._steps: dict[tuple[int, str], int] = {}
        self._commuting: dict[tuple[int, str, str], bool] = {}
        self._asked = Roles(system, lambda function, *args: function(*args))
        self._roles: dict[int, tuple[tuple[int, int], ...]] = {}
        self.root = self._place()

    def _place(self) -> int:
        at = self.world.fingerprint
        if at not in self.places:
            events = {repr(event): event for event in self.world.enabled()}
            self.places[at] = Place(self.world.save(), events)
            for name, event in events.items():
                fault = event.kind if event.kind in FAULTS else ""
                self.kinds.setdefault(name, Kind(event.node, fault, isinstance(event, Fire)))
        return at

    def take(self, at: int, name: str) -> int:
        """The state after an event."""
        after = self._steps.get((at, name))
        if after is None:
            place = self.places[at]
            self.world.restore(place.saved)
            self.world.apply(place.events[name])
            after = self._steps[at, name] = self._place()
        return after

    def in_flight(self, at: int) -> list[tuple[str, str]]:
        """Who sent the mail that is on its way, and to whom."""
        if at not in self._mail:
            self.world.restore(self.places[at].saved)
            self._mail[at] = [(mail.source, mail.to) for mail in self.world.view().messages()]
        return self._mail[at]

    def ends(self, did: Did) -> tuple[str, str] | None:
        """Who sent what a step delivers, and to whom."""
        event = self.places[did.at].events[did.name]
        return (event.source, event.node) if isinstance(event, Deliver) else None

    def commute(self, at: int, one: str, other: str) -> bool:
        """Whether two events are possible in both orders, and these end in one state."""
        key = (at, min(one, other), max(one, other))
        if key not in self._commuting:
            ends = self._both(at, one, other), self._both(at, other, one)
            self._commuting[key] = None not in ends and ends[0] == ends[1]
        return self._commuting[key]

    def _both(self, at: int, one: str, other: str) -> int | None:
        if one not in self.places[at].events:
            return None
        between = self.take(at, one)
        return self.take(between, other) if other in self.places[between].events else None

    def roles(self, at: int) -> tuple[tuple[int, int], ...]:
        """Of each node, what its recovery depends on."""
        if at not in self._roles:
            nodes = range(len(self.system.automata))
            self._roles[at] = tuple(self._role(at, node) for node in nodes)
        return self._roles[at]

    def _role(self, at: int, node: int) -> tuple[int, int]:
        """What a node is for its own recovery, and for that of others."""
        local, decode = self.places[at].saved.locals[node], self.system.codec.decode
        own, seen, _ = self._asked.roles(node, lambda: [decode(value) for value in local])
        return own, seen

    def others(self, at: int, node: str) -> Key:
        """What all nodes but one are for its recovery."""
        own = self.system.index(node)
        return tuple(sorted(seen for index, (_, seen) in enumerate(self.roles(at)) if index != own))

    def key(self, did: Did) -> Key:
        """What a fault meets: which it is, the role of its node, and those of the others."""
        kind = self.kinds[did.name]
        own, _ = self.roles(did.at)[self.system.index(kind.node)]
        return kind.fault, own, self.others(did.at, kind.node)

    def is_quiet(self, at: int) -> bool:
        """Whether nothing but faults can happen."""
        return all(self.kinds[name].fault for name in self.places[at].events)

    def depend(self, one: str, other: str) -> bool:
        """Whether black-box DPOR has to try both orders."""
        mine, theirs = self.kinds[one], self.kinds[other]
        return mine.node == theirs.node or bool(mine.fault or theirs.fault)

    def independent(self, at: int, one: str, other: str, policies: tuple[str, ...]) -> bool:
        """Whether two events may change places in a state, as far as the policies tell."""
        mine, theirs = self.kinds[one], self.kinds[other]
        if mine.fault and theirs.fault:
            return False
        if mine.fault or theirs.fault:
            return "CMI" in policies and self.commute(at, one, other)
        return ("LMI" in policies or mine.node != theirs.node) and self.commute(at, one, other)
