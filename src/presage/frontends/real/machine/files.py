"""The file system of one simulated process: a table of its own over what Python itself reads.

Paths are walked as a kernel does, component by component, through symbolic links. Real folders that
may be read (`readable`) show through; a process that writes there changes its table only. The
errors are those of Linux, number for number.

Invariant: `value()` says all that a restart keeps. Modes and times are kept within one life only.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Protocol, TypeAlias

from presage.frontends.real.machine import proc
from presage.frontends.real.machine.disk import Chooses, Stored, contents, crashed
from presage.frontends.real.machine.inodes import Device, File, Folder, Inode, Link, Socket
from presage.frontends.real.machine.readable import Readable, readable

HOME = "/srv"  # the current folder of a process; the folder of its program shows through
LINKS_MAX = 40
NAME_MAX = 255
PATH_MAX = 4096

# Name -> what is in that folder or file, or who reads that device.
Layout: TypeAlias = "dict[str, Any]"

DEVICES: Layout = {
    "null": lambda process, size: b"",
    "zero": lambda process, size: bytes(size),
    "urandom": lambda process, size: process.chance.randbytes(size),
    "random": lambda process, size: process.chance.randbytes(size),
}

# Folders that every process finds; what is in `/dev` are devices.
VAR: Layout = {name: {} for name in ("tmp", "log", "lib", "run", "cache")}
LAYOUT: Layout = {"srv": {}, "tmp": {}, "var": VAR, "run": {}, "etc": {}, "dev": DEVICES}

Place: TypeAlias = tuple[Folder, str, Inode | None]  # where a name stands, and what it leads to


class Owner(Protocol):
    """The process, as far as its files need it."""

    now: float
    initial_files: Any


class FileTable:
    """All files of one process."""

    def __init__(
        self,
        process: Owner,
        *,
        disk: str = "process",
        home: str | None = None,
        folders: tuple[str, ...] = (),
    ) -> None:
        self.process = process
        self.journals = disk == "fsync"
        self.real: Readable = readable(folders if home is None else (home, *folders))
        self._numbers = 1
        self._value: dict[str, Stored] | None = None
        self._mapped: list[File] = []
        self.looks = 0  # how often somebody asked where a path leads
        self.slashed = False  # whether the path located last ended with a slash, or led to such
        self.root = self._folder(None)
        self.root.real = ""
        self.root.layout = {**LAYOUT, "proc": proc.folder(process)}
        self.cwd = self.folder(HOME, self.root)
        self.cwd.real = home
        self._load(process.initial_files or {})

    # The value.

    def value(self) -> dict[str, Stored]:
        """All files, as plain values by path; see `disk`."""
        if self._value is None or self._mapped:
            self._value = dict(self._own(self.root, "/"))
        return self._value

    def contents(self) -> dict[str, bytes]:
        """What the files hold now, by path."""
        return contents(self.value())

    def crash(self, chooser: Chooses, *, torn: bool = False) -> dict[str, Stored]:
        """What a crash leaves."""
        return crashed(self.value(), chooser, torn=torn)

    def note(self) -> None:
        """A file was changed."""
        self._value = None

    def mapped(self, file: File) -> None:
        """A file is in memory, where it changes without a word."""
        if file not in self._mapped:
            self._mapped.append(file)

    def _own(self, folder: Folder, path: str) -> Iterator[tuple[str, Stored]]:
        for name, inode in sorted(folder.entries.items()):
            if inode is None:
                yield path + name, None
            elif isinstance(inode, Folder):
                if not inode.given:
                    yield f"{path}{name}/", b""
                if inode.changed:
                    yield from self._own(inode, f"{path}{name}/")
            elif not inode.given:
                yield path + name, inode.stored()

    def _load(self, value: Mapping[str, Stored]) -> None:
        for path, stored in sorted(value.items()):
            folder = self.root
            *above, name = [part for part in path.split("/") if part] or [""]
            if not path.startswith("/"):
                folder = self.cwd
            for part in above:
                folder = self._loaded_folder(folder, part)
            if path.endswith("/"):
                self._loaded_folder(folder, name)
            elif stored is None:
                folder.entries[name] = None
            elif isinstance(stored, str):
                folder.entries[name] = Link(self._number(), self.process.now, stored)
            elif stored is True:
                folder.entries[name] = Socket(self._number(), 0o755, self.process.now)
            else:
                file = self._file(0o644)
                file.load(stored)
                folder.entries[name] = file
            folder.note_change(self.process.now)

    def _loaded_folder(self, folder: Folder, name: str) -> Folder:
        found = self.find(folder, name)
        if not isinstance(found, Folder):
            found = folder.entries[name] = self._folder(folder)
            folder.note_change(self.process.now)
        return found

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers

    def _folder(self, parent: Folder | None, mode: int = 0o755) -> Folder:
        return Folder(self._number(), mode, self.process.now, parent)

    def _file(self, mode: int) -> File:
        return File(self._number(), mode, self.process.now, b"", journals=self.journals)

    # Paths.

    def find(self, folder: Folder, name: str) -> Inode | None:
        """What a folder has under a name; a real file shows through."""
        entries = folder.entries
        if name in entries:
            return entries[name]
        if name in folder.layout:
            return self._given(folder, name)
        if folder.real is None:
            return None
        path = f"{folder.real}/{name}"
        found = self.real.stat(path)
        if found is None:
            return None
        made: Inode
        if stat.S_ISDIR(found.st_mode):
            made = inside = self._folder(folder)
            inside.real = path
            inside.given = True
        else:
            made = File.of_real(self._number(), found, lambda: self.real.read(path))
        folder.entries[name] = made
        return made

    def _given(self, folder: Folder, name: str) -> Inode:
        """A folder, file or device that every process finds."""
        inside = folder.layout[name]
        made: Inode
        if callable(inside):
            made = Device(self._number(), partial(inside, self.process))
        elif isinstance(inside, bytes):
            made = File(self._number(), 0o444, 0.0, inside, journals=False)
            made.given = True
        else:
            made = within = self._folder(folder)
            within.given, within.layout = True, inside
            within.real = None if folder.real is None else f"{folder.real}/{name}"
        folder.entries[name] = made
        return made

    def names(self, folder: Folder) -> list[str]:
        """What is in a folder, in the order of names."""
        found = [name for name, inode in folder.entries.items() if inode is not None]
        found += [name for name in folder.layout if name not in folder.entries]
        if folder.real is not None:
            found += self.real.listing(folder.real or "/")
            removed = {name for name, inode in folder.entries.items() if inode is None}
            found = list(set(found) - removed)
        return sorted(found)

    def locate(self, path: str, start: Folder | None = None, *, follow: bool = True) -> Place:
        """Where a path leads; what is there may be missing, the folder it is in may not."""
        self.looks += 1
        if not path:
            raise OSError(errno.ENOENT, "")
        if "\0" in path:
            raise ValueError("embedded null byte")
        if _size(path) >= PATH_MAX:
            raise OSError(errno.ENAMETOOLONG, "")
        return self._walk(path, self.cwd if start is None else start, follow, LINKS_MAX)

    def _walk(self, path: str, folder: Folder, follow: bool, links: int) -> Place:
        if path.startswith("/"):
            folder = self.root
        parts = [part for part in path.split("/") if part]
        needs_folder = path.endswith("/")
        place: Place = (folder.parent, "", folder)
        end = len(parts) - 1
        for at, part in enumerate(parts):
            self.slashed = needs_folder
            last = at == end
            if _size(part) > NAME_MAX:
                raise OSError(errno.ENAMETOOLONG, "")
            if part == ".":
                place = (folder.parent, "", folder)
            elif part == "..":
                place = (folder.parent.parent, "", folder.parent)
            else:
                place = (folder, part, self.find(folder, part))
            inode = place[2]
            if isinstance(inode, Link) and (not last or follow or needs_folder):
                if not links:
                    raise OSError(errno.ELOOP, "")
                place = self._walk(inode.target, folder, True, links - 1)
                links -= 1
                inode = place[2]
            if last:
                break
            folder = _entered(inode)
        if needs_folder and place[2] is not None:
            _entered(place[2])
        return place

    def inode(self, path: str, start: Folder | None = None, *, follow: bool = True) -> Inode:
        """What a path leads to."""
        found = self.locate(path, start, follow=follow)[2]
        if found is None:
            raise OSError(errno.ENOENT, "")
        return found

    def folder(self, path: str, start: Folder | None = None) -> Folder:
        return _entered(self.inode(path, start))

    # Changes.

    def put(self, folder: Folder, name: str, inode: Inode) -> None:
        if folder.removed:
            raise OSError(errno.ENOENT, "")
        folder.entries[name] = inode
        self._changed(folder)

    def take(self, folder: Folder, name: str) -> None:
        """Remove a name; a real file must not show through again."""
        inode = folder.entries.get(name)
        if isinstance(inode, Folder):
            inode.removed = True
        shows = folder.real is not None and self.real.stat(f"{folder.real}/{name}") is not None
        if shows or name in folder.layout:
            folder.entries[name] = None
        else:
            del folder.entries[name]
        self._changed(folder)

    def _changed(self, folder: Folder) -> None:
        folder.note_change(self.process.now)
        self._value = None

    def create(self, folder: Folder, name: str, mode: int) -> File:
        made = self._file(mode)
        self.put(folder, name, made)
        return made

    def create_folder(self, folder: Folder, name: str, mode: int) -> None:
        self.put(folder, name, self._folder(folder, mode))
        folder.links += 1

    def create_link(self, folder: Folder, name: str, target: str) -> None:
        self.put(folder, name, Link(self._number(), self.process.now, target))

    def create_socket(self, folder: Folder, name: str, mode: int) -> Socket:
        made = Socket(self._number(), mode, self.process.now)
        self.put(folder, name, made)
        return made

    def change(self, file: File, change: Any) -> None:
        """Write into a file, or set its size; a real one becomes the node's own."""
        if file.given and not isinstance(file, Device):
            file.own(journals=self.journals)
            self._adopt(file)
        file.change(change)
        file.when = self.process.now
        self._value = None

    def _adopt(self, file: File) -> None:
        """Note the change of a file that showed through in the folders above it."""
        waiting = [self.root]
        while waiting:
            folder = waiting.pop()
            for inode in folder.entries.values():
                if inode is file:
                    folder.note_change(self.process.now)
                elif isinstance(inode, Folder):
                    waiting.append(inode)


def _size(text: str) -> int:
    """How many bytes a path has."""
    return len(text) if text.isascii() else len(os.fsencode(text))


def _entered(inode: Inode | None) -> Folder:
    if inode is None:
        raise OSError(errno.ENOENT, "")
    if not isinstance(inode, Folder):
        raise OSError(errno.ENOTDIR, "")
    return inode
