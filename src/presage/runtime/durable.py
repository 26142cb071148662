"""What of a node survives a crash: durable fields, disks, and how far its workload is.

A step's changes are stored as canonical bytes, one entry for each field that is another. A disk is
stored write by write, in one entry with what `@written` made of it: a crash finds both or neither.

Invariant: the local state rebuilt from all changes is what a crash leaves in the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from presage.model.service.automaton import Automaton
from presage.model.service.local_state import Stimulus
from presage.model.world.snapshot import Local
from presage.records import NamedTuple

if TYPE_CHECKING:
    from presage.runtime.store import Stored

NOTHING: tuple[Change, ...] = ()
CALLS = "(calls)"  # the name under which the position in the workload is stored


class Change(NamedTuple):
    """A field has another value; of a disk, what is stored under `key` is another."""

    field: str
    value: bytes
    key: bytes | None = None


class Durable:
    """What one automaton keeps."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._codec = automaton.codec
        fields = automaton.fields
        self._durables = [(at, fields[at - 1]) for at in sorted(automaton.durables)]
        self._disks = [(at, fields[at - 1]) for at in automaton.disks]
        self.layout = (
            automaton.service.__qualname__,
            tuple(name for _, name in self._durables),
            tuple(name for _, name in self._disks),
        )

    def changes(self, before: Local, after: Local, stimulus: Stimulus) -> Sequence[Change]:
        """What a step changed of what survives."""
        if not self._durables and stimulus[0] not in ("write", "call"):
            return NOTHING
        found = [Change(name, after[at]) for at, name in self._durables if before[at] != after[at]]
        if stimulus[0] == "write":
            at = self._automaton.positions[stimulus[1]]
            key, value = self._codec.decode(before[at]).pending[0]
            encode = self._codec.encode
            found.append(Change(stimulus[1], encode(value), encode(key)))
        elif stimulus[0] == "call" and len(stimulus) == 1:
            found.append(Change(CALLS, self._codec.encode(self._codec.decode(after[0])[1])))
        return found

    def pending(self, local: Local) -> Iterator[tuple[str, Any]]:
        """The oldest write of each disk that has one: the field, and the key."""
        for at, name in self._disks:
            pending = self._codec.decode(local[at]).pending
            if pending:
                yield name, pending[0][0]

    def local(self, stored: Stored) -> Local:
        """The node before it starts: what is stored, and initial values otherwise."""
        values, decode = self._automaton.initial(), self._codec.decode
        for at, name in self._durables:
            if name in stored.fields:
                values[at] = decode(stored.fields[name])
        for at, name in self._disks:
            writes: Mapping[bytes, bytes] = stored.disks.get(name, {})
            disk = self._automaton.disk(values, at)
            disk.stored |= {decode(key): decode(value) for key, value in writes.items()}
        status, _, timers, failure = values[0]
        calls = decode(stored.fields[CALLS]) if CALLS in stored.fields else 0
        values[0] = (status, calls, timers, failure)
        return tuple(self._codec.encode_fields(values))
