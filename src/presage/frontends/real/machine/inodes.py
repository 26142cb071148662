"""What the paths of a node lead to: files, folders, symbolic links and sockets.

A file that is open keeps its contents though its name is gone. Maps of a file in memory share its
contents: a change through a map is taken in whenever the file is looked at.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Any

from presage.frontends.real.machine.disk import Change, Stored, apply_change, content


class Inode:
    """One file, folder or link."""

    __slots__ = ("given", "links", "mode", "number", "when")

    kind = 0

    def __init__(self, number: int, mode: int, when: float) -> None:
        self.number = number
        self.mode = mode
        self.when = when  # it was last changed
        self.links = 1
        self.given = False  # there without the node's doing: no part of the value

    def size(self) -> int:
        return 0

    def stored(self) -> Stored:
        """What the value of the table holds of it."""
        raise NotImplementedError


NOTHING: dict[str, Any] = {}


class Folder(Inode):
    """A folder; what is in it, by name."""

    __slots__ = ("changed", "entries", "layout", "parent", "real", "removed")

    kind = stat.S_IFDIR

    def __init__(self, number: int, mode: int, when: float, parent: Folder | None) -> None:
        super().__init__(number, mode, when)
        self.links = 2
        self.parent = self if parent is None else parent
        self.real: str | None = None  # the real folder whose contents show through
        self.entries: dict[str, Inode | None] = {}  # None: a real file that was removed
        self.layout: dict[str, Any] = NOTHING  # what is there for everybody, made when looked at
        self.removed = False
        self.changed = False  # by the node, here or further down

    def note_change(self, when: float) -> None:
        """Something of the node's is in here now, or is not any more."""
        self.when = when
        folder = self
        while not folder.changed:
            folder.changed = True
            folder = folder.parent

    def size(self) -> int:
        return 4096

    def stored(self) -> Stored:
        return b""


class Link(Inode):
    """A symbolic link."""

    __slots__ = ("target",)

    kind = stat.S_IFLNK

    def __init__(self, number: int, when: float, target: str) -> None:
        super().__init__(number, 0o777, when)
        self.target = target

    def size(self) -> int:
        return len(self.target.encode())

    def stored(self) -> Stored:
        return self.target


class Socket(Inode):
    """The name of an AF_UNIX socket; without an `end` nobody has it any more."""

    __slots__ = ("end",)

    kind = stat.S_IFSOCK

    def __init__(self, number: int, mode: int, when: float) -> None:
        super().__init__(number, mode, when)
        self.end: Any = None

    def stored(self) -> Stored:
        return True


class File(Inode):
    """A file. `journal` holds the changes since its last `fsync`, if crashes may lose them."""

    __slots__ = ("_base", "_data", "_real", "journal", "maps")

    kind = stat.S_IFREG

    def __init__(self, number: int, mode: int, when: float, data: bytes, *, journals: bool) -> None:
        super().__init__(number, mode, when)
        self._data = bytearray(data)
        self._base = data  # what is on the disk
        self._real: Callable[[], bytes] | None = None  # reads a real file when it is wanted
        self.journal: list[Change] | None = [] if journals else None
        self.maps: list[Any] = []  # (offset, bytes in memory) of those that share it

    @classmethod
    def of_real(cls, number: int, found: os.stat_result, read: Callable[[], bytes]) -> File:
        """A real file, which is read once somebody wants to."""
        made = cls(number, stat.S_IMODE(found.st_mode), 0.0, b"", journals=False)
        made.given = True
        made._real = read
        return made

    @property
    def data(self) -> bytearray:
        """The contents as they are now, changes through maps included."""
        if self._real is not None:
            self._data, self._real = bytearray(self._real()), None
        for each in self.maps:
            change = each.difference(self._data)
            if change is not None:
                self._change(change)
        return self._data

    def size(self) -> int:
        return len(self.data)

    def read(self, at: int, size: int) -> bytes:
        return bytes(self.data[at : at + size])

    def change(self, change: Change) -> None:
        """Write, or set the size."""
        data = self.data
        self._change(change)
        for each in self.maps:
            each.refresh(data)

    def _change(self, change: Change) -> None:
        apply_change(self._data, change)
        if self.journal is not None:
            self.journal.append(change)

    def own(self, *, journals: bool) -> None:
        """A real file is about to be written: from now on it is the node's."""
        self._base = bytes(self.data)
        self.given = False
        self.journal = [] if journals else None

    def sync(self) -> None:
        """All that was written is on the disk."""
        data = self.data
        if self.journal:
            self._base = bytes(data)
            self.journal.clear()

    def stored(self) -> Stored:
        data = self.data
        if self.journal:
            return self._base, tuple(self.journal)
        return bytes(data)

    def load(self, stored: Any) -> None:
        """Begin as `stored` says."""
        self._data = bytearray(content(stored))
        self._base = stored[0] if isinstance(stored, tuple) else stored
        if self.journal is not None and isinstance(stored, tuple):
            self.journal.extend(stored[1])


class Device(File):
    """What is in `/dev`: reads come from a function, writes are forgotten."""

    __slots__ = ("_source",)

    kind = stat.S_IFCHR

    def __init__(self, number: int, source: Callable[[int], bytes]) -> None:
        super().__init__(number, 0o666, 0.0, b"", journals=False)
        self.given = True
        self._source = source

    def read(self, at: int, size: int) -> bytes:
        return self._source(size)

    def change(self, change: Change) -> None:
        """Nothing is kept."""
