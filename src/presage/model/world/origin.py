"""A system whose executions begin in a saved state instead of by every `start`.

The state may be one that a running system was in: then some nodes are *outside*. Of those nothing
is known. They hold no state, do nothing, and swallow what is sent to them; a property that needs
one says nothing there. Faults are those that may still happen, and filters refuse events.

Such a system is a `System` like any other: every execution of it begins there.

Invariant: the parts of nodes that are outside are the same in all saved states, so that what is
not known makes no two states of one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from presage._core import FAILED, FAULTS
from presage.errors import BadChoice, BadSystem, UnknownNode
from presage.model.service.local_state import UNARMED
from presage.model.world.event import FAULT_KINDS, Cut, Drop, Event, Mishap
from presage.model.world.event import not_enabled as refusal
from presage.model.world.faults import Faults
from presage.model.world.filters import Filter, checked_filters, in_place_of
from presage.model.world.network import QUEUED, Flying
from presage.model.world.snapshot import Local, Snapshot
from presage.model.world.system import System
from presage.model.world.transport import Frozen
from presage.model.world.world import World
from presage.records import record


@record(frozen=True)
class Origin:
    """Where executions begin, and what is different from there on."""

    snapshot: Snapshot  # its budgets are those of `faults`
    faults: Faults
    outside: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()

    def world(self, system: System, choices: Sequence[int] = ()) -> World:
        """The world that a system begun here begins with."""
        if choices:
            raise BadChoice(choices[0], None)
        world = OriginWorld(system)
        world.restore(self.snapshot)
        return world


def begun_in(
    system: System,
    snapshot: Snapshot,
    *,
    outside: Collection[str] = (),
    observed: bool = True,
    filters: Collection[Filter] = (),
    faults: Faults | None = None,
    like: System | None = None,
) -> System:
    """`system`, begun in `snapshot`; `faults` are those to come, left out `offered(system)`.

    Unless `observed`, nothing is known of observers: a property that asks one says nothing. `like`
    is the same system begun elsewhere, with the same `outside` and `faults`: its nodes serve here.
    """
    found = sorted({*outside}, key=lambda name: _index(system, name))
    faults = offered(system) if faults is None else faults
    if snapshot.transport.partition > len(faults.partitions):
        raise BadSystem(
            "a partition is in force in the saved state, and the faults to come name none",
            "`Faults` without the `partitions` of the system",
            "give the same `partitions`, with `partition=1`",
        )
    derived = copy(system)
    derived.faults = faults
    derived.outside, derived.observed_known = tuple(found), observed
    if like is None:
        derived.automata = derived.automata_of()
    else:
        assert (like.outside, like.faults) == (derived.outside, faults), "they begin alike"
        derived.automata = like.automata
    saved = cleaned(derived, snapshot)
    derived.origin = Origin(saved, faults, derived.outside, checked_filters(system, filters))
    return derived


def offered(system: System) -> Faults:
    """The faults that a prediction reckons with: each that the system may have, once.

    Where there are streams, a node may also be reset, with or without a word to its peers, and a
    connection may be cut: that happens to all that runs.
    """
    known = system.faults
    amounts = {fault: min(getattr(known, fault), 1) for fault in FAULTS}
    if system.streams is not None:
        amounts |= {"reset": 1, "silent_reset": 1, "cut": 1}
    return replace(known, **amounts)


def _index(system: System, name: str) -> int:
    if name not in system.indices:
        raise UnknownNode(name, system.names, f"what is outside of `{system.name}`")
    return system.index(name)


# -- the state ---------------------------------------------------------------------------------


def cleaned(system: System, snapshot: Snapshot) -> Snapshot:
    """`snapshot` with nothing of the nodes outside, and with all budgets of `system`."""
    beyond = {system.index(name) for name in system.outside}
    return Snapshot(
        0,
        tuple(
            _blank(system, at) if at in beyond else local
            for at, local in enumerate(snapshot.locals)
        ),
        snapshot.observers,
        tuple(system.faults.budgets),
        _without(snapshot.transport, system.network in QUEUED, beyond),
    )


def _blank(system: System, at: int) -> Local:
    """What stands for a node outside: one that never does anything."""
    values = system.automata[at].initial()
    values[0] = (FAILED, 0, UNARMED, None)
    return tuple(map(system.codec.encode, values))


def _without(transport: Frozen, queued: bool, beyond: set[int]) -> Frozen:
    """The transport without what is on its way to nodes outside, and with no open end there."""
    if not beyond:
        return transport
    network = transport.network
    if queued:
        network = tuple((ends, channel) for ends, channel in network if ends[1] not in beyond)
    else:
        network = tuple(envelope for envelope in network if envelope.to not in beyond)
    queues, opened, errors = transport.streams
    queues = tuple((end, queue) for end, queue in queues if end[1] not in beyond)
    opened = frozenset(end for end in opened if not beyond.intersection(end))
    errors = frozenset(end for end in errors if end[0] not in beyond)
    return Frozen(network, (queues, opened, errors), transport.partition)


def channels(system: System, transport: Frozen) -> list[list[bytes]]:
    """The messages outside streams, encoded: by channel where there is an order, else alone."""
    if system.network in QUEUED:
        return [[each.encoded for each in channel] for _, channel in transport.network]
    return [[each.encoded] for each in transport.network]


def links(transport: Frozen) -> Iterator[tuple[int, int, list[bytes], list[bytes], int]]:
    """Every connection in use: its ends, what each has queued, and its flags, lower end first."""
    queues, opened, errors = transport.streams
    held: dict[tuple[int, int], Sequence[Flying]] = dict(queues)
    for a, b in sorted({(min(end), max(end)) for end in (*held, *opened, *errors)}):
        ends = ((a, b), (b, a))
        flags = sum(1 << at for at, end in enumerate(ends) if end in opened)
        flags += sum(4 << at for at, end in enumerate(ends) if end in errors)
        there, back = ([each.encoded for each in held.get(end, ())] for end in ends)
        yield a, b, there, [] if a == b else back, flags


# -- the world ---------------------------------------------------------------------------------


class OriginWorld(World):
    """A world in which filters are in force, and begun in a saved state."""

    @property
    def _filters(self) -> tuple[Filter, ...]:
        return self.system.origin.filters if self.system.origin else ()

    def _refuses(self, event: Event) -> bool:
        return any(each.refuses(event) for each in self._filters)

    def _listed(self) -> list[Event]:
        listed = super()._listed()
        if not self._filters:
            return listed
        instead = self._instead(listed)
        ranks = set(instead)
        kept = [
            event
            for event in listed
            if not self._refuses(event)
            and not (isinstance(event, Drop | Cut) and self._rank(event) in ranks)
        ]
        return sorted([*kept, *instead.values()], key=self._rank)

    def _instead(self, listed: Sequence[Event]) -> dict[Any, Event]:
        """What happens in place of the events that are refused, by its rank."""
        refused = [event for event in listed if self._refuses(event)]
        names = self.system.names
        whole = {(names[a], names[b]) for a, b in self._transport.streams.whole()}
        found = (in_place_of(self.system, event, whole) for event in refused)
        return {self._rank(event): event for event in found if event is not None}

    def _is_free(self, event: Event) -> bool:
        """Whether `event` is what happens in place of another."""
        if not self._filters or not isinstance(event, Drop | Cut):
            return False
        return self._rank(event) in self._instead(super()._listed())

    def at_rest(self) -> bool:
        ordinary = [e for e in self.enabled() if e.kind not in FAULT_KINDS or self._is_free(e)]
        return not any(map(self._moves, ordinary))

    def _check_possible(self, automaton: Any, event: Event) -> None:
        if self._refuses(event):
            raise refusal(event, "a filter refuses it")
        super()._check_possible(automaton, event)

    def _mishandle(self, event: Mishap) -> None:
        if not self._is_free(event):
            super()._mishandle(event)
            return
        envelope = self._flying(event) if isinstance(event, Drop) else None
        self._transport.suffer(event, envelope)
