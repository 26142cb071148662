"""What a live node keeps on disk: one log of changes, and a count of its starts.

A record is `length u32 | checksum u32 | content`, big-endian. The first one says whose log it is,
each other one is a start or the changes of one step. So a crash at any point leaves the durable
fields as they were before a step or after it, never between. All steps of a turn share one
`fdatasync` (group commit). Beyond a size the log is written anew, beside the old one, and renamed.

Invariant: what `load` returned, and what was appended before a `flush` that returned, is what the
next `load` returns. What follows the first damaged record was never promised to anybody.
"""

from __future__ import annotations

import fcntl
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from presage.errors import StoreError
from presage.records import record
from presage.runtime.durable import Change

FORMAT: Final = "presage-store-1"
LOG, LOCK, UNFINISHED = "log", "lock", "log.new"
HEAD: Final = struct.Struct(">II")
COMPACT_AT = 1 << 20  # bytes of a log, from which on it is written anew
START, CHANGES = 1, 2  # kinds of records
BOUND = "(checkpoints)"  # the name under which the numbers that checkpoints may have are reserved
NEIGHBOURS = "(neighbours)"  # the name under which is kept what is known of others

Layout = tuple[str, tuple[str, ...], tuple[str, ...]]  # service, durable fields, disks


@record
class Stored:
    """All that a store holds, by the names of fields; values are canonical bytes."""

    life: int = 0  # how often the node was started, this time included
    fields: dict[str, bytes] = field(default_factory=dict)
    disks: dict[str, dict[bytes, bytes]] = field(default_factory=dict)
    entries: int = 0  # steps whose changes it has, of all lives
    discarded: int = 0  # bytes after the first damaged record

    def take(self, changes: Sequence[Change]) -> None:
        """Let the changes of one step be part of it, or what is of no step."""
        self.entries += not (len(changes) == 1 and changes[0][0] in (BOUND, NEIGHBOURS))
        for name, value, key in changes:
            if key is None:
                self.fields[name] = value
            else:
                self.disks.setdefault(name, {})[key] = value

    @property
    def bound(self) -> int:
        """No earlier process of the node has used a checkpoint number above it."""
        return int.from_bytes(self.fields.get(BOUND, b""), "big")


class Store(Protocol):
    """Where a node keeps what survives it."""

    def load(self) -> Stored:
        """What was kept, with one start more, which is on disk when this returns."""

    def append(self, changes: Sequence[Change]) -> None:
        """What one step changed; kept for good once `flush` has returned."""

    def remark(self, change: Change) -> None:
        """What outlives the process after `flush`, but perhaps not its machine: no sync."""

    def flush(self) -> None:
        """Make durable what was appended. Raises `StoreError`; then nothing is promised."""


class MemoryStore:
    """A store for nodes of one process: `crash` loses what was not flushed."""

    def __init__(self) -> None:
        self.stored = Stored()
        self.syncs = 0
        self._waiting: list[Sequence[Change]] = []
        self._remarks: list[Change] = []

    def load(self) -> Stored:
        self.crash()
        self.stored.life += 1
        return self.stored

    def append(self, changes: Sequence[Change]) -> None:
        self._waiting.append(changes)

    def remark(self, change: Change) -> None:
        self._remarks.append(change)

    def flush(self) -> None:
        for change in self._remarks:
            self.stored.take([change])
        self._remarks.clear()
        if self._waiting:
            self.syncs += 1
            for changes in self._waiting:
                self.stored.take(changes)
            self._waiting.clear()

    def crash(self) -> None:
        """The process is gone, in the middle of a turn."""
        self._waiting.clear()
        self._remarks.clear()


class Files:
    """The few operations that a store needs of a folder; tests put a failing disk in its place."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log: int | None = None

    def lock(self) -> None:
        """Keep other processes out. Raises `BlockingIOError` if one is in."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(self._folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def unlock(self) -> None:
        """Let other processes in."""
        os.close(self._lock)

    def read(self) -> bytes | None:
        """The whole log; None if there is none."""
        try:
            return (self._folder / LOG).read_bytes()
        except FileNotFoundError:
            return None

    def open(self, size: int) -> None:
        """Go on after the first `size` bytes of the log; the rest goes."""
        self.close()
        self._log = os.open(self._folder / LOG, os.O_WRONLY | os.O_CLOEXEC)
        os.ftruncate(self._log, size)
        os.lseek(self._log, size, os.SEEK_SET)

    def append(self, data: bytes) -> None:
        """Write to the end of the log."""
        _write(self._descriptor(), data)

    def sync(self) -> None:
        """Return when all that was appended is on disk."""
        os.fdatasync(self._descriptor())

    def replace(self, data: bytes) -> None:
        """Let `data` be the log: the old one or the new one is there, whatever happens."""
        path = self._folder / UNFINISHED
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            _write(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(path, self._folder / LOG)
        folder = os.open(self._folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def close(self) -> None:
        """Let go of the log."""
        if self._log is not None:
            os.close(self._log)
            self._log = None

    def _descriptor(self) -> int:
        assert self._log is not None, "the log is open while the node runs"
        return self._log


class FileStore:
    """The store of one node in a folder of its own."""

    def __init__(
        self, folder: Path, layout: Layout, *, files: Files | None = None, limit: int = COMPACT_AT
    ) -> None:
        self._folder = folder
        self._layout = layout
        self._files = files or Files(folder)
        self._limit = limit
        self._stored = Stored()
        self._size = 0
        self._threshold = limit
        self._buffer = bytearray()
        self._unsynced = bytearray()  # remarks
        self._failed: StoreError | None = None
        self.syncs = 0

    def load(self) -> Stored:
        try:
            self._files.lock()
        except BlockingIOError:
            raise in_use(self._folder) from None
        except OSError as error:
            raise unusable(self._folder, error) from error
        try:
            content = self._files.read()
            self._stored = Stored()
            if content is None:
                self._compact()
            else:
                self._size = self._read(content)
                self._files.open(self._size)
            self._stored.life += 1
            self._buffer += self._start()
        except OSError as error:
            raise unusable(self._folder, error) from error
        self.flush()
        return self._stored

    @property
    def discarded(self) -> int:
        """Bytes that the log ended with and that no record is made of, when it was read."""
        return self._stored.discarded

    def append(self, changes: Sequence[Change]) -> None:
        self._buffer += _record((CHANGES, changes))
        self._stored.take(changes)

    def remark(self, change: Change) -> None:
        self._unsynced += _record((CHANGES, [change]))
        self._stored.take([change])

    def flush(self) -> None:
        if self._failed is not None:
            raise self._failed
        if not self._buffer and not self._unsynced:
            return
        data = bytes(self._unsynced + self._buffer)
        try:
            if self._size + len(data) > self._threshold:
                self._compact()
            else:
                self._files.append(data)
                if self._buffer:
                    self._files.sync()
                self._size += len(data)
        except OSError as error:
            # What is on disk now is not known, so nothing more may be promised.
            self._failed = unusable(self._folder, error)
            raise self._failed from error
        self.syncs += bool(self._buffer)
        self._buffer.clear()
        self._unsynced.clear()

    def close(self) -> None:
        """Let go of the files."""
        self._files.close()

    def _compact(self) -> None:
        """Write the log anew, without what was written over since."""
        stored = self._stored
        content = _record((0, FORMAT, self._layout))
        changes = [Change(name, value) for name, value in stored.fields.items()]
        for name, writes in stored.disks.items():
            changes += [Change(name, value, key) for key, value in writes.items()]
        if changes:
            content += _record((CHANGES, changes))
        content += self._start()
        self._files.replace(content)
        self._files.open(len(content))
        self._size = len(content)
        self._threshold = max(self._limit, 2 * self._size)

    def _start(self) -> bytes:
        return _record((START, self._stored.life, self._stored.entries))

    def _read(self, content: bytes) -> int:
        """Take in a log; how many of its bytes are whole records."""
        records = _records(content)
        first = next(records, None)
        if first is None or first[1][:2] != [0, FORMAT]:
            raise damaged(self._folder)
        layout = _tuples(first[1][2])
        if layout != self._layout:
            raise other_definition(self._folder, layout, self._layout)
        end = first[0]
        for end, entry in records:  # noqa: B007  # the last one is used
            if entry[0] == START:
                _, self._stored.life, self._stored.entries = entry
            else:
                self._stored.take([Change(*change) for change in entry[1]])
        self._stored.discarded = len(content) - end
        return end


def _record(content: Any) -> bytes:
    data = msgspec.msgpack.encode(content)
    return HEAD.pack(len(data), zlib.crc32(data)) + data


def _records(content: bytes) -> Iterator[tuple[int, Any]]:
    """The records of a log up to the first damaged one, each with where it ends."""
    at = 0
    while at + HEAD.size <= len(content):
        length, checksum = HEAD.unpack_from(content, at)
        end = at + HEAD.size + length
        data = content[at + HEAD.size : end]
        if length == 0 or len(data) != length or zlib.crc32(data) != checksum:
            return
        at = end
        yield end, msgspec.msgpack.decode(data)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


# -- what can go wrong -----------------------------------------------------------------------


def unusable(folder: Path, error: OSError) -> StoreError:
    """The system refused to read or write."""
    return StoreError(
        f"the durable state in `{folder}` cannot be used: {error.strerror or error}",
        "a full disk, a folder that may not be written to, or a disk that is failing",
        "make room or change its permissions, and start the node again: what it promised is there",
    )


def in_use(folder: Path) -> StoreError:
    """Two processes would write to one log."""
    return StoreError(
        f"the durable state in `{folder}` is in use by another process",
        "the node is running already",
        "end that process first, or give this one another folder: `data` in the cluster file",
    )


def damaged(folder: Path) -> StoreError:
    """The first record is not one."""
    return StoreError(
        f"`{folder / LOG}` is not the log of a node",
        "a file of something else, of another version of presage, or a damaged disk",
        "move it away; the node then starts as if for the first time",
    )


def other_definition(folder: Path, theirs: Layout, ours: Layout) -> StoreError:
    """The log is of a service with other durable fields."""
    return StoreError(
        f"`{folder / LOG}` holds {_said(theirs)}; this node has {_said(ours)}",
        "another target in this folder, or durable fields renamed since",
        "give another folder, `data` in the cluster file, or move this one away",
    )


def _said(layout: Layout) -> str:
    service, durables, disks = layout
    return f"`{service}` with {', '.join(f'`{name}`' for name in (*durables, *disks)) or 'nothing'}"
