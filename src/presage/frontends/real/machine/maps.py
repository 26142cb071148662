"""`mmap.mmap` of a file in the table of a simulated process.

The map is a `bytearray`, so code that asks for its buffer works. Shared maps and their file hold
the same bytes whenever either is looked at: the file takes in what the map changed (`difference`),
and the map takes in what was written to the file (`refresh`).
"""

from __future__ import annotations

import errno
import mmap
import os
from typing import Any

from presage.frontends.real.machine.clock import here
from presage.frontends.real.machine.descriptors import failure
from presage.frontends.real.machine.disk import Change
from presage.frontends.real.machine.opened import OpenFile
from presage.process.context import MACHINE, running

_Original: Any = mmap.mmap


class Map(bytearray):
    """The bytes of a file, or of a part of it, in memory."""

    def __init__(self, opened: OpenFile, size: int, offset: int, *, writes: bool, shares: bool):
        file = opened.file
        super().__init__(file.read(offset, size))
        self._opened = opened
        self._offset = offset
        self._writes = writes
        self._at = 0
        self.closed = False
        if shares:
            file.maps.append(self)
            opened.table.mapped(file)

    # What the file asks.

    def difference(self, data: bytearray) -> Change | None:
        """What was changed here since both were the same, as one write."""
        theirs = data[self._offset : self._offset + len(self)]
        if theirs == self:
            return None
        size = min(len(theirs), len(self))
        first = next((at for at in range(size) if theirs[at] != self[at]), None)
        if first is None:
            return None
        last = next(at for at in range(size - 1, -1, -1) if theirs[at] != self[at])
        return self._offset + first, bytes(bytearray.__getitem__(self, slice(first, last + 1)))

    def refresh(self, data: bytearray) -> None:
        theirs = data[self._offset : self._offset + len(self)]
        bytearray.__setitem__(self, slice(0, len(theirs)), theirs)

    # What a program asks.

    def _check(self, *, writes: bool = False) -> None:
        if self.closed:
            raise ValueError("mmap closed or invalid")
        if writes and not self._writes:
            raise TypeError("mmap can't modify a readonly memory map.")

    def __getitem__(self, key: Any) -> Any:
        self._check()
        found = bytearray.__getitem__(self, key)
        return bytes(found) if isinstance(key, slice) else found

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check(writes=True)
        if isinstance(key, slice) and len(bytearray.__getitem__(self, key)) != len(value):
            raise IndexError("mmap slice assignment is wrong size")
        bytearray.__setitem__(self, key, value)

    def __delitem__(self, key: Any) -> None:
        raise TypeError("mmap object doesn't support item deletion")

    def __enter__(self) -> Map:
        self._check()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if not self.closed:
            self.flush()
            self.closed = True
            if self in self._opened.file.maps:
                self._opened.file.maps = [e for e in self._opened.file.maps if e is not self]

    def flush(self, offset: int = 0, size: int = -1) -> None:
        """Let the file have what was changed; with `disk="fsync"`, let it be on the disk."""
        self._check()
        self._opened.table.note()
        self._opened.file.size()
        self._opened.sync()

    def size(self) -> int:
        self._check()
        return self._opened.file.size()

    def tell(self) -> int:
        self._check()
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> None:
        self._check()
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: len(self)}.get(whence)
        if start is None:
            raise ValueError("unknown seek type")
        if not 0 <= start + offset <= len(self):
            raise ValueError("seek out of range")
        self._at = start + offset

    def read(self, n: int | None = None) -> bytes:
        self._check()
        end = len(self) if n is None or n < 0 else min(len(self), self._at + n)
        data = bytes(bytearray.__getitem__(self, slice(self._at, end)))
        self._at += len(data)
        return data

    def readline(self) -> bytes:
        found = bytearray.find(self, b"\n", self._at)
        return self.read((found + 1 if found >= 0 else len(self)) - self._at)

    def read_byte(self) -> int:
        if self._at >= len(self):
            raise ValueError("read byte out of range")
        return self.read(1)[0]

    def write(self, data: Any) -> int:
        self._check(writes=True)
        data = bytes(data)
        if self._at + len(data) > len(self):
            raise ValueError("data out of range")
        bytearray.__setitem__(self, slice(self._at, self._at + len(data)), data)
        self._at += len(data)
        return len(data)

    def write_byte(self, byte: int) -> None:
        if self._at >= len(self):
            raise ValueError("write byte out of range")
        self.write(bytes([byte]))

    def find(self, sub: Any, start: Any = None, end: Any = None) -> int:
        return bytearray.find(self, sub, self._at if start is None else start, end)

    def rfind(self, sub: Any, start: Any = None, end: Any = None) -> int:
        return bytearray.rfind(self, sub, self._at if start is None else start, end)

    def move(self, dest: int, src: int, count: int) -> None:
        self._check(writes=True)
        if min(dest, src, count) < 0 or max(dest, src) + count > len(self):
            raise ValueError("source, destination, or count out of range")
        data = bytes(bytearray.__getitem__(self, slice(src, src + count)))
        bytearray.__setitem__(self, slice(dest, dest + count), data)

    def resize(self, newsize: int) -> None:
        self._check(writes=True)
        table, file = self._opened.table, self._opened.file
        table.change(file, (self._offset + newsize,))
        if newsize < len(self):
            bytearray.__delitem__(self, slice(newsize, None))
        else:
            data = file.read(self._offset + len(self), newsize - len(self))
            bytearray.extend(self, data)

    def madvise(self, *_: Any) -> None:
        self._check()

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other if isinstance(other, Map) else bytearray.__eq__(self, other)


def make(
    fileno: int,
    length: int,
    flags: int = mmap.MAP_SHARED,
    prot: int = mmap.PROT_READ | mmap.PROT_WRITE,
    access: int = mmap.ACCESS_DEFAULT,
    offset: int = 0,
) -> Any:
    """`mmap.mmap`, called by a simulated process."""
    if fileno == -1:
        return _Original(fileno, length, flags, prot, access, offset)  # memory without a file
    opened = here().stack.descriptors.get(fileno)
    if not isinstance(opened, OpenFile):
        raise failure(errno.ENODEV)
    if length < 0:
        raise OverflowError("memory mapped length must be positive")
    if offset < 0 or offset % mmap.ALLOCATIONGRANULARITY:
        raise failure(errno.EINVAL)
    size = opened.file.size()
    if not length:
        if not size:
            raise ValueError("cannot mmap an empty file")
        if offset >= size:
            raise ValueError("mmap offset is greater than file size")
        length = size - offset
    elif offset + length > size:
        raise ValueError("mmap length is greater than file size")
    writes = access != mmap.ACCESS_READ and bool(prot & mmap.PROT_WRITE)
    shares = access != mmap.ACCESS_COPY and not flags & mmap.MAP_PRIVATE
    return Map(opened, length, offset, writes=writes, shares=shares)


class _Kind(type):
    """The class `mmap.mmap`, as far as `isinstance` and calls can tell."""

    def __instancecheck__(cls, thing: Any) -> bool:
        return isinstance(thing, Map | _Original)

    def __call__(cls, *args: Any, **more: Any) -> Any:
        stack: list[Any] = running.stack
        if stack and stack[-1].answerer == MACHINE:
            return make(*args, **more)
        return _Original(*args, **more) if cls is StandIn else super().__call__(*args, **more)


class StandIn(_Original, metaclass=_Kind):  # type: ignore[misc]
    """Takes the place of `mmap.mmap`."""


StandIn.__name__ = StandIn.__qualname__ = "mmap"
StandIn.__module__ = "mmap"
