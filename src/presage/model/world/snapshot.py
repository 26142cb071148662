"""A world at one moment, in canonical form, and a plain reader of it.

Made of bytes and tuples only, so it can be kept, compared and come back to, whatever happens to
the world it was taken from.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, TypeAlias

from presage._core import SLOW
from presage.model.service.local_state import Control, is_up
from presage.model.world.system import System
from presage.model.world.transport import Frozen, Transport
from presage.records import record

Local: TypeAlias = tuple[bytes, ...]  # the values of one node, each encoded


@record(frozen=True)
class Snapshot:
    """All that `World.restore` needs."""

    steps: int
    locals: tuple[Local, ...]
    observers: tuple[bytes, ...]
    budgets: tuple[float, ...]
    transport: Frozen


def without_ghosts(ghosts: Set[int], local: Local) -> Local:
    """The part of a node's values that makes its state."""
    if not ghosts:
        return local
    return tuple(value for position, value in enumerate(local) if position not in ghosts)


class SnapshotReader:
    """A `Reader` that notes nothing down. Every answer is a fresh object."""

    def __init__(self, system: System, saved: Snapshot) -> None:
        self._system = system
        self._saved = saved
        self._decode = system.codec.decode

    def control(self, node: int, /) -> Control:
        control: Control = self._decode(self._saved.locals[node][0])
        return control

    def value(self, node: int, position: int, /) -> Any:
        return self._decode(self._saved.locals[node][position])

    def messages(self, types: tuple[type, ...] | None, /) -> list[tuple[int, int, Any]]:
        every = [self._decode(envelope.encoded) for envelope in self._transport().flying()]
        return [each for each in every if types is None or isinstance(each[2], types)]

    def count(self, types: tuple[type, ...] | None, /) -> int:
        return len(self.messages(types))

    def partition(self) -> int:
        return self._saved.transport.partition

    def connection(self, node: int, peer: int, /) -> tuple[bool, bool, list[Any]]:
        opened, broken, queue = self._transport().streams.end(node, peer)
        return opened, broken, [self._decode(envelope.encoded)[2] for envelope in queue]

    def _transport(self) -> Transport:
        transport = Transport(self._system)
        transport.restore(self._saved.transport)
        return transport

    def observer(self, index: int, /) -> Any:
        return self._decode(self._saved.observers[index])


def changes(
    system: System, before: Sequence[Local], after: Sequence[Local]
) -> dict[str, dict[str, tuple[Any, Any]]]:
    """What differs between the values of all nodes at two moments: node -> field -> both."""
    decode = system.codec.decode
    found: dict[str, dict[str, tuple[Any, Any]]] = {}
    for automaton in system.automata:
        old, new = before[automaton.index], after[automaton.index]
        if old == new:
            continue
        was, now = decode(old[0]), decode(new[0])
        aspects = {
            "up": (is_up(was), is_up(now)),
            "slow": (was[0] == SLOW, now[0] == SLOW),
            "timers": (was[2], now[2]),
        }
        changed = {automaton.aspect(name): two for name, two in aspects.items() if two[0] != two[1]}
        for field, position in automaton.shown.items():
            if old[position] != new[position]:
                changed[field] = (decode(old[position]), decode(new[position]))
        if changed:
            found[automaton.name] = changed
    return found
