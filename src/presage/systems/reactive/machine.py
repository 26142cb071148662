"""State machines as the language P has them: an event is handled, deferred, ignored, or an error.

A machine is in one state at a time. For each state its table says what becomes of each event: a
handler runs, or the event waits until the machine is in another state, or it is dropped. An event
that the table does not name is an error (`UnhandledEvent`), so `no_exception` is P's main claim:
every machine is ready for whatever may come.

Events of one sender arrive in order: use an ordered network. P's machines have one queue for all
senders; here each sender has its own, so events of different senders may arrive in any order.

Invariant: after each step, the current state defers every event in `deferred`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from string import ascii_lowercase
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from msgspec import Struct

from presage import Service, on


class Event(Struct, frozen=True):
    """What machines send each other. Derive from it."""


Handler = Callable[[Any, Any, str], None]  # machine, event, name of the sender
Kind = type[Event]
Handlers = Mapping[Kind, Handler]
M = TypeVar("M", bound="Machine")


@dataclass(frozen=True)
class State:
    """One row of a machine's table."""

    on: Handlers = field(default_factory=dict)
    defer: tuple[Kind, ...] = ()
    ignore: tuple[Kind, ...] = ()
    entry: Callable[[Any], None] | None = None  # runs when the state is entered


Table = Mapping[str, State]


class UnhandledEvent(Exception):
    """A machine got an event that its state does not name."""


class Machine(Service):
    """Derive from it; give `phase` its first value, and `table` a row for each state."""

    table: ClassVar[Table] = {}
    phase: str
    deferred: tuple[tuple[Event, str], ...] = ()  # with their senders, the oldest first

    def start(self) -> None:
        self.goto(self.phase)

    def goto(self, phase: str) -> None:
        """Enter a state; also the one that the machine is in."""
        self.phase = phase
        entry = self.table[phase].entry
        if entry is not None:
            entry(self)

    @on(Event)
    def take(self, event: Event, source: str) -> None:
        """Handle the event, then all deferred ones whose time has come."""
        self.deferred = (*self.deferred, (event, source))
        while (ready := self._ready()) is not None:
            event, source = self.deferred[ready]
            self.deferred = self.deferred[:ready] + self.deferred[ready + 1 :]
            self.handle(event, source)

    def handle(self, event: Event, source: str) -> None:
        """Do what the table says about an event that is not deferred."""
        state = self.table[self.phase]
        if type(event) in state.on:
            state.on[type(event)](self, event, source)
        elif type(event) not in state.ignore:
            raise UnhandledEvent(f"{type(event).__name__} from {source} in state {self.phase}")

    def _ready(self) -> int | None:
        defer = self.table[self.phase].defer
        places = (at for at, (event, _) in enumerate(self.deferred) if type(event) not in defer)
        return next(places, None)


def go(phase: str) -> Handler:
    """A handler that only enters a state."""
    return lambda machine, event, source: machine.goto(phase)


def beside(node: Service, role: str) -> str:
    """The node of that role with the same number: `door1` belongs to `elevator1`."""
    return role + node.name.lstrip(ascii_lowercase)


def altered(machine: type[M], phase: str, **row: Any) -> type[M]:
    """The machine, with some parts of one row of its table replaced: most bugs are that small."""
    table = {**machine.table, phase: replace(machine.table[phase], **row)}
    return type(machine.__name__, (machine,), {"table": MappingProxyType(table)})
