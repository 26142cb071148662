"""The histories of real nodes as one tree: what happened to a node, the last event first.

A live process can neither be copied nor compared. So the state of a real node is the list of events
that led to it: each is named by a digest of its parent's name and of itself, and the same history
has the same name in every process that checks the system. To get the process, boot it and let the
events happen again.

Invariant: what a process did at an event, its sends above all, is what it did when the event was
first filed. Each replay compares; a difference ends the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b

from presage.errors import BadCheckpoint
from presage.records import NamedTuple

ROOT = b""  # of a node that does not run
NAME_BYTES = 16
EFFECT_BYTES = 8


class Entry(NamedTuple):
    """One event of one history."""

    parent: bytes
    event: bytes  # encoded: who it happened to, the stimulus, and the choices taken
    effects: bytes  # digest of what was done


def child_of(parent: bytes, event: bytes) -> bytes:
    """The name of the history that `event` makes of `parent`."""
    return blake2b(event, digest_size=NAME_BYTES, key=parent or b"root").digest()


def effects_digest(encoded: bytes) -> bytes:
    return blake2b(encoded, digest_size=EFFECT_BYTES).digest()


class Histories:
    """All histories of all real nodes of one system."""

    def __init__(self) -> None:
        self._entries: dict[bytes, Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: bytes) -> bool:
        return name in self._entries

    def effects(self, name: bytes) -> bytes | None:
        """What was filed of the last event of a history; None if it is new."""
        known = self._entries.get(name)
        return None if known is None else known.effects

    def add(self, parent: bytes, event: bytes, effects: bytes) -> bytes:
        """File that `event` happened after `parent`; the name of the new history."""
        name = child_of(parent, event)
        known = self._entries.setdefault(name, Entry(parent, event, effects))
        assert known[:2] == (parent, event), "two histories have one digest"
        return name

    def path(self, name: bytes) -> list[tuple[bytes, Entry]]:
        """The events that lead to a history, with its name after each, the first first."""
        found = []
        while name != ROOT:
            entry = self._entries[name]
            found.append((name, entry))
            name = entry.parent
        found.reverse()
        return found

    def last(self, name: bytes) -> bytes | None:
        """The last event of a history, encoded."""
        entry = self._entries.get(name)
        return None if entry is None else entry.event

    def saved(self, names: Iterable[bytes] | None = None) -> list[tuple[bytes, bytes, bytes]]:
        """The part of the tree that leads to `names`, or all of it; parents come first."""
        if names is None:
            return [(*entry,) for entry in self._entries.values()]
        return [(*self._entries[name],) for name in self._needed(names)]

    def _needed(self, names: Iterable[bytes]) -> Iterator[bytes]:
        met: set[bytes] = set()
        for name in names:
            if name in self._entries and name not in met:
                for each, _ in self.path(name):
                    if each not in met:
                        met.add(each)
                        yield each

    def load(self, saved: Iterable[tuple[bytes, bytes, bytes]]) -> None:
        """Take up what `saved` returned, here or in another process."""
        for parent, event, effects in saved:
            if parent != ROOT and parent not in self._entries:
                raise BadCheckpoint(
                    "a history of a real node has no beginning",
                    "a file that is damaged, or was not made by presage",
                    "search from the beginning",
                )
            self.add(parent, event, effects)
