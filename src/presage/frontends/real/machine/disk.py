"""The files of a node as one plain value, and what a crash leaves of them.

The value is a dict by absolute path. A file is its bytes; a folder is a path that ends with `/` and
has none; a symbolic link is the text it holds; True is the name of an AF_UNIX socket; None stands
for a real file that was removed.

With `disk="fsync"` a file that has writes since its last `fsync` is a pair: the bytes that are on
the disk, and those writes in their order. A crash keeps any prefix of them, each file by itself;
`torn=True` keeps part of the next one, too. Names are on the disk at once: a new file, a rename, a
removal. So `write; replace` without `fsync` can leave an empty file under the final name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

# A write at an offset, or a new size.
Change: TypeAlias = tuple[int, bytes] | tuple[int]
Unsynced: TypeAlias = tuple[bytes, tuple[Change, ...]]
Stored: TypeAlias = bytes | str | bool | None | Unsynced

CUTS_MAX = 8  # places at which one write is torn


class Chooses(Protocol):
    """Answers the choices of a step."""

    def pick(self, n: int) -> int: ...


def apply_change(data: bytearray, change: Change) -> None:
    """Do a write, or set the size."""
    at = change[0]
    if len(change) == 1:
        if at <= len(data):
            del data[at:]
        else:
            data.extend(bytes(at - len(data)))
        return
    written = change[1]
    if at > len(data):
        data.extend(bytes(at - len(data)))
    data[at : at + len(written)] = written


def content(stored: Unsynced | bytes) -> bytes:
    """What a file holds while its process runs."""
    if isinstance(stored, bytes):
        return stored
    data = bytearray(stored[0])
    for change in stored[1]:
        apply_change(data, change)
    return bytes(data)


def contents(value: Mapping[str, Stored]) -> dict[str, bytes]:
    """The files of a value by path, without folders and links."""
    return {
        path: content(stored)
        for path, stored in value.items()
        if isinstance(stored, bytes | tuple) and not path.endswith("/")
    }


def crashed(value: Mapping[str, Stored], chooser: Chooses, *, torn: bool) -> dict[str, Stored]:
    """What a crash leaves of the files, by the choices of its step."""
    return {
        path: _kept(stored, chooser, torn) if isinstance(stored, tuple) else stored
        for path, stored in value.items()
    }


def _kept(stored: Unsynced, chooser: Chooses, torn: bool) -> bytes:
    base, changes = stored
    kept = chooser.pick(len(changes) + 1)
    data = bytearray(base)
    for change in changes[:kept]:
        apply_change(data, change)
    torn_one: tuple[Any, ...] = changes[kept] if torn and kept < len(changes) else ()
    if len(torn_one) == 2:
        at, written = torn_one
        places = cuts(len(written))
        cut = places[chooser.pick(len(places))]
        apply_change(data, (at, written[:cut]))
    return bytes(data)


def cuts(size: int) -> tuple[int, ...]:
    """How many bytes of a torn write of this size are kept: none, and some others."""
    if size <= CUTS_MAX:
        return tuple(range(max(size, 1)))
    return tuple(sorted({0, 1, size // 4, size // 2, size - size // 4, size - 1}))
