"""Open files: what a descriptor of a file stands for, and the file objects of Python on top of it.

Only the raw file is ours. Buffers and text are CPython's own (`BufferedWriter`, `TextIOWrapper`),
so what a crash loses because nobody flushed it is what a real one loses.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from presage.frontends.real.machine.descriptors import (
    READABLE,
    WRITABLE,
    Description,
    Descriptors,
    failure,
)
from presage.frontends.real.machine.files import FileTable
from presage.frontends.real.machine.inodes import File, Folder, Link, Socket
from presage.process.context import running

ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR
BLOCK = 4096  # bytes that a buffer holds
END = (1 << 63) - 1  # of a folder
SYNCS = os.O_SYNC | os.O_DSYNC


class OpenFile(Description):
    """A file with a position, shared by all numbers that were made from one `open`."""

    __slots__ = ("at", "file", "flags", "table")

    pollable = False

    def __init__(self, table: FileTable, file: File, flags: int) -> None:
        super().__init__()
        self.table = table
        self.file = file
        self.flags = flags
        self.at = 0

    def mask(self) -> int:
        return READABLE | WRITABLE

    def reads(self) -> bool:
        return self.flags & ACCESS != os.O_WRONLY

    def writes(self) -> bool:
        return self.flags & ACCESS != os.O_RDONLY

    def read(self, size: int) -> bytes:
        data = self.read_at(self.at, size)
        self.at += len(data)
        return data

    def write(self, data: bytes) -> int:
        if self.flags & os.O_APPEND:
            self.at = self.file.size()
        written = self.write_at(self.at, data)
        self.at += written
        return written

    def read_at(self, at: int, size: int) -> bytes:
        if not self.reads():
            raise failure(errno.EBADF)
        return self.file.read(at, size)

    def write_at(self, at: int, data: bytes) -> int:
        if not self.writes():
            raise failure(errno.EBADF)
        data = bytes(data)
        if data:
            self.table.change(self.file, (at, data))
            if self.flags & SYNCS:
                self.sync()
        return len(data)

    def seek(self, offset: int, whence: int) -> int:
        if whence == os.SEEK_SET:
            at = offset
        elif whence == os.SEEK_CUR:
            at = self.at + offset
        elif whence == os.SEEK_END:
            at = self.file.size() + offset
        elif whence in (os.SEEK_DATA, os.SEEK_HOLE):
            size = self.file.size()
            if not 0 <= offset < size:
                raise failure(errno.ENXIO)
            at = offset if whence == os.SEEK_DATA else size
        else:
            raise failure(errno.EINVAL)
        if at < 0:
            raise failure(errno.EINVAL)
        self.at = at
        return at

    def truncate(self, size: int) -> None:
        if size < 0 or not self.writes():
            raise failure(errno.EINVAL)
        if size != self.file.size():
            self.table.change(self.file, (size,))

    def sync(self) -> None:
        if self.file.journal:
            self.file.sync()
            self.table.note()


class OpenFolder(Description):
    """A folder, opened for `dir_fd`, `fsync` or `scandir`."""

    __slots__ = ("at", "folder")

    def __init__(self, folder: Folder) -> None:
        super().__init__()
        self.folder = folder
        self.at = 0

    def mask(self) -> int:
        return READABLE | WRITABLE

    def read(self, size: int) -> bytes:
        raise failure(errno.EISDIR)

    def write(self, data: bytes) -> int:
        raise failure(errno.EBADF)

    def seek(self, offset: int, whence: int) -> int:
        end = 0 if self.folder.removed else END
        starts = {os.SEEK_SET: 0, os.SEEK_CUR: self.at, os.SEEK_END: end}
        if whence not in starts or not 0 <= starts[whence] + offset <= END:
            raise failure(errno.EINVAL)
        self.at = starts[whence] + offset
        return self.at


def open_file(
    table: FileTable, path: str, flags: int, mode: int, start: Folder | None
) -> Description:
    """What `open` of a kernel makes."""
    creates, alone = bool(flags & os.O_CREAT), bool(flags & os.O_EXCL)
    if creates and flags & os.O_DIRECTORY:
        raise failure(errno.EINVAL)
    follow = not flags & os.O_NOFOLLOW and not (creates and alone)
    if creates and path.endswith("/"):
        table.locate(path.rstrip("/") or path, start, follow=False)
        raise failure(errno.EISDIR)
    folder, name, inode = table.locate(path, start, follow=follow)
    if flags & getattr(os, "O_TMPFILE", 0) & ~os.O_DIRECTORY:
        raise failure(errno.EOPNOTSUPP)
    if creates and table.slashed:
        raise failure(errno.EISDIR)
    if inode is None:
        if not creates:
            raise failure(errno.ENOENT)
        return OpenFile(table, table.create(folder, name, mode), flags)
    if creates and alone:
        raise failure(errno.EEXIST)
    if isinstance(inode, Link):
        raise failure(errno.ELOOP)
    if isinstance(inode, Folder):
        if flags & ACCESS != os.O_RDONLY or creates or flags & os.O_TRUNC:
            raise failure(errno.EISDIR)
        return OpenFolder(inode)
    if flags & os.O_DIRECTORY:
        raise failure(errno.ENOTDIR)
    if isinstance(inode, Socket):
        raise failure(errno.ENXIO)
    assert isinstance(inode, File)
    made = OpenFile(table, inode, flags)
    if flags & os.O_TRUNC and inode.size():
        table.change(inode, (0,))
    return made


class Standard(Description):
    """Standard input, which is empty, or output, which goes to the log of the process."""

    __slots__ = ("_log",)

    def __init__(self, log: Callable[[], list[str]]) -> None:
        super().__init__()
        self._log = log

    def mask(self) -> int:
        return READABLE | WRITABLE

    def read(self, size: int) -> bytes:
        return b""

    def write(self, data: bytes) -> int:
        self._log().extend(data.decode("utf-8", "replace").splitlines())
        return len(data)


def description_of(process: Any, number: int) -> Description:
    """What a number stands for in a process; 0, 1 and 2 are always open."""
    found: Description
    if number in (0, 1, 2) and number not in process.stack.descriptors.open:
        found = Standard(lambda: process.log)
    else:
        found = process.stack.descriptors.get(number)
    return found


class RawFile(io.RawIOBase):
    """As `io.FileIO`, on a descriptor of a simulated process."""

    def __init__(self, process: Any, number: int, name: Any, mode: str, closefd: bool) -> None:
        self._descriptors: Descriptors = process.stack.descriptors
        self._number = number
        self._description = description_of(process, number)
        self.name = name
        self.mode = mode
        self.closefd = closefd

    @property
    def _open(self) -> Any:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        return self._description

    def fileno(self) -> int:
        self._open  # noqa: B018
        return self._number

    def readable(self) -> bool:
        self._open  # noqa: B018
        return "r" in self.mode or "+" in self.mode

    def writable(self) -> bool:
        self._open  # noqa: B018
        return "r" not in self.mode or "+" in self.mode

    def seekable(self) -> bool:
        return isinstance(self._open, OpenFile)

    def isatty(self) -> bool:
        self._open  # noqa: B018
        return False

    def read(self, size: int | None = -1) -> bytes | None:
        self._check(self.readable(), "reading")
        if size is None or size < 0:
            return self.readall()
        return _read(self._open, size)

    def readall(self) -> bytes:
        self._check(self.readable(), "reading")
        pieces = []
        while piece := _read(self._open, 1 << 20):
            pieces.append(piece)
        return b"".join(pieces)

    def readinto(self, buffer: Any) -> int | None:
        self._check(self.readable(), "reading")
        view = memoryview(buffer).cast("B")
        data = _read(self._open, len(view))
        if data is None:
            return None
        view[: len(data)] = data
        return len(data)

    def write(self, data: Any) -> int | None:
        self._check(self.writable(), "writing")
        return _write(self._open, bytes(data))

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if not self.seekable():
            raise failure(errno.ESPIPE)
        return int(self._open.seek(offset, whence))

    def tell(self) -> int:
        return self.seek(0, os.SEEK_CUR)

    def truncate(self, size: int | None = None) -> int:
        self._check(self.writable(), "writing")
        if not self.seekable():
            raise failure(errno.EINVAL)
        size = self.tell() if size is None else size
        self._open.truncate(size)
        return size

    def close(self) -> None:
        if self.closed:
            return
        try:
            super().close()
        finally:
            if self.closefd and self._descriptors.open.get(self._number) is self._description:
                self._descriptors.close(self._number)

    def _check(self, able: bool, what: str) -> None:
        if not able:
            raise io.UnsupportedOperation(f"File not open for {what}")

    def __repr__(self) -> str:
        return f"<_io.FileIO name={self.name!r} mode={self.mode!r} closefd={self.closefd}>"


def wait_and_read(process: Any, description: Description, size: int) -> bytes:
    """What `read` of a kernel does: it waits for data, unless the file is not to be waited for."""
    if not description.nonblocking and not description.can_read():
        process.block(description.can_read, None, "read")
    return description.read(size)


def wait_and_write(process: Any, description: Description, data: bytes) -> int:
    if not description.nonblocking and not description.can_write():
        process.block(description.can_write, None, "write")
    return description.write(data)


def _read(description: Description, size: int) -> bytes | None:
    if isinstance(description, OpenFile):
        return description.read(size)
    try:
        return wait_and_read(running.stack[-1], description, size)
    except BlockingIOError:
        return None


def _write(description: Description, data: bytes) -> int | None:
    if isinstance(description, OpenFile):
        return description.write(data)
    try:
        return wait_and_write(running.stack[-1], description, data)
    except BlockingIOError:
        return None


FLAGS = {"r": os.O_RDONLY, "w": os.O_CREAT | os.O_TRUNC, "x": os.O_CREAT | os.O_EXCL}
FLAGS["a"] = os.O_CREAT | os.O_APPEND


@cache
def flags_of(mode: str) -> int:
    """The flags of `open` for a mode such as `r+`."""
    kind = next(each for each in mode if each in FLAGS)
    if "+" in mode:
        return FLAGS[kind] | os.O_RDWR
    return FLAGS[kind] | (0 if kind == "r" else os.O_WRONLY)


def checked_mode(mode: str, *, encoding: Any, errors: Any, newline: Any) -> bool:
    """Whether a mode means text; raises as `open` does."""
    if not isinstance(mode, str):
        raise TypeError(f"open() argument 'mode' must be str, not {type(mode).__name__}")
    is_text = _is_text(mode)
    for given, what in ((encoding, "encoding"), (errors, "errors"), (newline, "newline")):
        if given is not None and not is_text:
            raise ValueError(
                f"binary mode doesn't take {'an' if what != 'newline' else 'a'} {what} argument"
            )
    return is_text


@lru_cache(256)
def _is_text(mode: str) -> bool:
    """Whether a mode means text; an error is no answer, so it is not kept."""
    if set(mode) - set("axrwb+t") or len(mode) > len(set(mode)):
        raise ValueError(f"invalid mode: {mode!r}")
    if "t" in mode and "b" in mode:
        raise ValueError("can't have text and binary mode at once")
    if sum(each in mode for each in "axrw") != 1:
        raise ValueError(
            "must have exactly one of create/read/write/append mode"
            if sum(each in mode for each in "axrw")
            else "Must have exactly one of create/read/write/append mode and at most one plus"
        )
    return "b" not in mode


def dressed(raw: Any, mode: str, buffering: int, text: tuple[Any, Any, Any] | None) -> Any:
    """Put CPython's buffer and text layer on a raw file; `text`: encoding, errors, newline."""
    line = buffering == 1 and text is not None
    if buffering < 0 or line:
        buffering = BLOCK
    if buffering == 0:
        if text is not None:
            raise ValueError("can't have unbuffered text I/O")
        return raw
    kind: Any = io.BufferedReader
    if "+" in mode:
        kind = io.BufferedRandom
    elif "r" not in mode:
        kind = io.BufferedWriter
    buffer = kind(raw, buffering)
    if text is None:
        return buffer
    encoding, errors, newline = text
    wrapped = io.TextIOWrapper(buffer, encoding, errors, newline, line)
    wrapped.mode = mode  # type: ignore[misc]
    return wrapped
