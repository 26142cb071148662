"""A disk whose writes take time, so that a crash may fall between two of them.

A field declared `disk()` holds a `Disk`. Writing only queues; each write reaches the disk in an
event of its own, oldest first. A crash keeps what has reached the disk.

Invariant: what a handler wrote or read is a copy; nothing reaches `stored` but through `settle`.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import field
from typing import Any

from presage.errors import BadCall
from presage.records import record


@record
class Disk:
    """What a node has written: `stored` survives a crash, `pending` is on its way, in order."""

    stored: dict[Any, Any] = field(default_factory=dict)
    pending: list[tuple[Any, Any]] = field(default_factory=list)
    prefix: bool = False  # whether a crash may let the oldest pending writes through

    def write(self, key: Any, value: Any) -> None:
        """Queue `value` to be stored under `key`, which must be hashable, like that of a dict."""
        self.stored.get(key)  # raises here, in the handler, if it is not
        self.pending.append((key, deepcopy(value)))

    def read(self, key: Any, default: Any = None) -> Any:
        """The value last written under `key`, on the disk or on its way: what the node knows."""
        for known, value in reversed(self.pending):
            if known == key:
                return deepcopy(value)
        return deepcopy(self.stored.get(key, default))

    @property
    def idle(self) -> bool:
        """Whether everything written has reached the disk."""
        return not self.pending

    def settle(self) -> tuple[Any, Any]:
        """Let the oldest write reach the disk: its key and value."""
        key, value = self.pending.pop(0)
        self.stored[key] = value
        return key, deepcopy(value)

    def crash(self, surviving: int) -> None:
        """Lose what is pending, but for the oldest `surviving` writes."""
        for _ in range(surviving):
            self.settle()
        self.pending.clear()

    def __repr__(self) -> str:
        waiting = f", pending={self.pending!r}" if self.pending else ""
        return f"Disk({self.stored!r}{waiting})"


def disk_at(values: list[Any], position: int, place: Callable[[int], str]) -> Disk:
    """The disk at a position of a node's values; `place` names it for people."""
    found = values[position]
    if isinstance(found, Disk):
        return found
    raise BadCall(
        f"{place(position)} holds a `{type(found).__name__}` where its disk was",
        "an assignment to the field itself",
        "write to it: `self.disk.write(key, value)`",
    )
