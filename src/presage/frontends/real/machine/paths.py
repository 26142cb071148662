"""The functions of `os` that take paths, as a simulated process is answered.

Each gets the table of files and the arguments of the original. `_named` gives errors the text and
the file name that the originals give them.
"""

from __future__ import annotations

import errno
import functools
import os
import stat
import sys
from collections.abc import Callable, Iterator
from typing import Any

from presage.frontends.real.machine.clock import here
from presage.frontends.real.machine.files import FileTable
from presage.frontends.real.machine.inodes import File, Folder, Inode, Link
from presage.frontends.real.machine.opened import OpenFile, OpenFolder, open_file
from presage.model.source import frame_place

DEVICE = 1
RENAMES = 2  # arguments of functions that take two paths


def text(path: Any) -> str:
    """A path as text; raises as `os.fspath` does."""
    found = os.fspath(path)
    return os.fsdecode(found) if isinstance(found, bytes) else found


def named(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let the table be the first argument, and name the paths in errors."""

    @functools.wraps(function)
    def call(*args: Any, **more: Any) -> Any:
        try:
            return function(here().files, *args, **more)
        except OSError as error:
            if error.filename is not None or error.errno is None:
                raise
            names = [each for each in args[:RENAMES] if isinstance(each, str | bytes | os.PathLike)]
            paths = [os.fspath(each) for each in names]
            if len(paths) == RENAMES:
                raise OSError(
                    error.errno, os.strerror(error.errno), paths[0], None, paths[1]
                ) from None
            raise OSError(error.errno, os.strerror(error.errno), *paths[:1]) from None

    return call


# Names that no folder has for itself, and what `rmdir` says to each.
DOTS = {"": errno.EBUSY, ".": errno.EINVAL, "..": errno.ENOTEMPTY}


def last(path: str) -> str:
    """The last component of a path."""
    return path.rstrip("/").rpartition("/")[2]


def start_of(dir_fd: int | None) -> Folder | None:
    """The folder that a relative path begins in; None: the current one."""
    if dir_fd is None:
        return None
    description = here().stack.descriptors.get(dir_fd)
    if not isinstance(description, OpenFolder):
        raise OSError(errno.ENOTDIR, "")
    return description.folder


def inode_of(table: FileTable, path: Any, dir_fd: int | None = None, follow: bool = True) -> Inode:
    """What a path or an open descriptor stands for."""
    if isinstance(path, int):
        description = here().stack.descriptors.get(path)
        if isinstance(description, OpenFolder):
            return description.folder
        if isinstance(description, OpenFile):
            return description.file
        return Link(0, 0.0, "")
    return table.inode(text(path), start_of(dir_fd), follow=follow)


def stat_of(inode: Inode) -> os.stat_result:
    size, when = inode.size(), inode.when
    whole, nano = int(when), round(when * 1e9)
    mode = inode.kind | inode.mode
    times = (whole,) * 3 + (when,) * 3 + (nano,) * 3
    head = (mode, inode.number, DEVICE, inode.links, 0, 0, size)
    return os.stat_result((*head, *times, 4096, (size + 511) // 512, 0))


@named
def open_(table: FileTable, path: Any, flags: int, mode: int = 0o777, *, dir_fd: Any = None) -> int:
    permitted = mode & ~here().notes.get("umask", 0o022)
    try:
        made = open_file(table, text(path), flags, permitted & 0o7777, start_of(dir_fd))
    except OSError as error:
        if error.errno == errno.ENOENT and table.real.exists(text(path)):
            _tell(text(path))
        raise
    return int(here().stack.descriptors.add(made))


def _tell(path: str) -> None:
    """Say that a file is on the real disk, and why the process does not find it."""
    process = here()
    met = process.notes.setdefault("files outside", set())
    if path not in met:
        met.add(path)
        process.log.append(f"{frame_place(sys._getframe(1))}: {_outside(process.name, path)}")


def _outside(name: str, path: str) -> str:
    return (
        f"`{path}` is on the real disk, and not among the files of `{name}`:"
        f" `Node(files={{{path!r}: ...}})` gives it to the node"
    )


def missed_file(process: Any, error: BaseException) -> str:
    """What to add about a failure: the real file that the program did not find, or nothing."""
    path = getattr(error, "filename", None)
    met = process.notes.get("files outside", ())
    return f"; {_outside(process.name, path)}" if isinstance(path, str) and path in met else ""


@named
def stat_(
    table: FileTable, path: Any, *, dir_fd: Any = None, follow_symlinks: bool = True
) -> os.stat_result:
    return stat_of(inode_of(table, path, dir_fd, follow_symlinks))


def lstat(path: Any, *, dir_fd: Any = None) -> os.stat_result:
    result: os.stat_result = stat_(path, dir_fd=dir_fd, follow_symlinks=False)
    return result


def access(
    path: Any,
    mode: int,
    *,
    dir_fd: Any = None,
    effective_ids: bool = False,
    follow_symlinks: bool = True,
) -> bool:
    try:
        found = stat_(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
    except OSError:
        return False
    return not mode & os.X_OK or stat.S_ISDIR(found.st_mode) or bool(found.st_mode & 0o111)


@named
def listdir(table: FileTable, path: Any = ".") -> list[Any]:
    names = table.names(_as_folder(inode_of(table, "." if path is None else path)))
    is_bytes = not isinstance(path, int | None) and isinstance(os.fspath(path), bytes)
    return [os.fsencode(name) for name in names] if is_bytes else list(names)


def _as_folder(inode: Inode) -> Folder:
    if not isinstance(inode, Folder):
        raise OSError(errno.ENOTDIR, "")
    return inode


class Entry:
    """As `os.DirEntry`."""

    def __init__(self, name: Any, path: Any, inode: Inode, target: Callable[[], Inode]) -> None:
        self.name = name
        self.path = path
        self._inode = inode
        self._target = target

    def inode(self) -> int:
        return self._inode.number

    def _followed(self, follow: bool) -> Inode | None:
        if not follow or not isinstance(self._inode, Link):
            return self._inode
        try:
            return self._target()
        except FileNotFoundError:
            return None
        except OSError as error:
            code = error.errno or errno.EIO
            raise OSError(code, os.strerror(code), self.path) from None

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return isinstance(self._followed(follow_symlinks), Folder)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return isinstance(self._followed(follow_symlinks), File)

    def is_symlink(self) -> bool:
        return isinstance(self._inode, Link)

    def is_junction(self) -> bool:
        return False

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        inode = self._target() if follow_symlinks else self._inode
        return stat_of(inode)

    def __fspath__(self) -> Any:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"


class Scan:
    """As what `os.scandir` gives."""

    def __init__(self, entries: list[Entry]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[Entry]:
        return self

    def __next__(self) -> Entry:
        return next(self._entries)

    def __enter__(self) -> Scan:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())


@named
def scandir(table: FileTable, path: Any = None) -> Scan:
    folder = _as_folder(inode_of(table, "." if path is None else path))
    shown = "." if path is None else path
    above = "" if isinstance(path, int) else os.fspath(shown)
    entries = []
    for name in table.names(folder):
        inode = table.find(folder, name)
        assert inode is not None
        target = functools.partial(table.inode, name, folder)
        given: Any = os.fsencode(name) if isinstance(above, bytes) else name
        whole = given if isinstance(path, int) else os.path.join(above, given)
        entries.append(Entry(given, whole, inode, target))
    return Scan(entries)


@named
def mkdir(table: FileTable, path: Any, mode: int = 0o777, *, dir_fd: Any = None) -> None:
    shown = text(path)
    folder, name, inode = table.locate(shown.rstrip("/") or shown, start_of(dir_fd), follow=False)
    if inode is not None:
        raise OSError(errno.EEXIST, "")
    table.create_folder(folder, name, mode & ~here().notes.get("umask", 0o022) & 0o7777)


@named
def rmdir(table: FileTable, path: Any, *, dir_fd: Any = None) -> None:
    shown = text(path)
    folder, name, inode = table.locate(shown.rstrip("/") or shown, start_of(dir_fd), follow=False)
    if last(shown) in DOTS:
        raise OSError(DOTS[last(shown)], "")
    if inode is None:
        raise OSError(errno.ENOENT, "")
    if table.names(_as_folder(inode)):
        raise OSError(errno.ENOTEMPTY, "")
    table.take(folder, name)
    folder.links -= 1


@named
def unlink(table: FileTable, path: Any, *, dir_fd: Any = None) -> None:
    shown = text(path)
    folder, name, inode = table.locate(shown.rstrip("/") or shown, start_of(dir_fd), follow=False)
    if inode is None:
        raise OSError(errno.ENOENT, "")
    if isinstance(inode, Folder):
        raise OSError(errno.EISDIR, "")
    if shown.endswith("/"):
        raise OSError(errno.ENOTDIR, "")
    table.take(folder, name)
    inode.links -= 1


@named
def rename(
    table: FileTable, src: Any, dst: Any, *, src_dir_fd: Any = None, dst_dir_fd: Any = None
) -> None:
    old, new = text(src), text(dst)
    folder, name, inode = table.locate(old.rstrip("/") or old, start_of(src_dir_fd), follow=False)
    place = table.locate(new.rstrip("/") or new, start_of(dst_dir_fd), follow=False)
    if last(old) in DOTS or last(new) in DOTS:
        raise OSError(errno.EBUSY, "")
    if inode is None:
        raise OSError(errno.ENOENT, "")
    _check_ends(inode, old, new)
    if isinstance(inode, Folder) and _is_inside(place[0], inode):
        raise OSError(errno.EINVAL, "")
    there = place[2]
    if there is inode:
        return
    if isinstance(there, Folder) and _is_inside(folder, there):
        raise OSError(errno.ENOTEMPTY, "")
    if isinstance(inode, Folder) and inode.real is not None:
        raise OSError(errno.EXDEV, "")  # a real folder can be copied, never moved
    if there is not None:
        _check_replaced(table, inode, there)
        there.links -= 1
        if isinstance(there, Folder):
            there.removed = True
    table.take(folder, name)
    if isinstance(inode, Folder):
        inode.parent, inode.given, inode.removed = place[0], False, False
    elif isinstance(inode, File) and inode.given:
        inode.own(journals=table.journals)
    table.put(place[0], place[1], inode)


def _check_ends(inode: Inode, old: str, new: str) -> None:
    if not isinstance(inode, Folder) and (old.endswith("/") or new.endswith("/")):
        raise OSError(errno.ENOTDIR, "")


def _is_inside(folder: Folder, outer: Folder) -> bool:
    while folder is not outer:
        if folder.parent is folder:
            return False
        folder = folder.parent
    return True


def _check_replaced(table: FileTable, inode: Inode, there: Inode) -> None:
    """Whether what is there may make room."""
    if isinstance(there, Folder):
        if not isinstance(inode, Folder):
            raise OSError(errno.EISDIR, "")
        if table.names(there):
            raise OSError(errno.ENOTEMPTY, "")
    elif isinstance(inode, Folder):
        raise OSError(errno.ENOTDIR, "")
