"""Links, modes, times and the current folder: more functions of `os` that take paths."""

from __future__ import annotations

import errno
import os
from typing import Any

from presage.frontends.real.machine.clock import here
from presage.frontends.real.machine.files import FileTable
from presage.frontends.real.machine.inodes import File, Folder, Link
from presage.frontends.real.machine.opened import OpenFolder
from presage.frontends.real.machine.paths import inode_of, named, start_of, text

ROOM = 1 << 30  # bytes that `statvfs` says are free


@named
def link(
    table: FileTable,
    src: Any,
    dst: Any,
    *,
    src_dir_fd: Any = None,
    dst_dir_fd: Any = None,
    follow_symlinks: bool = False,
) -> None:
    inode = table.inode(text(src), start_of(src_dir_fd), follow=follow_symlinks)
    new = text(dst).rstrip("/") or text(dst)
    folder, name, there = table.locate(new, start_of(dst_dir_fd), follow=False)
    if there is not None:
        raise OSError(errno.EEXIST, "")
    if text(dst).endswith("/"):
        raise OSError(errno.ENOENT, "")
    if isinstance(inode, Folder):
        raise OSError(errno.EPERM, "")
    if isinstance(inode, File) and inode.given:
        raise OSError(errno.EXDEV, "")
    inode.links += 1
    table.put(folder, name, inode)


@named
def symlink(
    table: FileTable,
    src: Any,
    dst: Any,
    target_is_directory: bool = False,
    *,
    dir_fd: Any = None,
) -> None:
    new = text(dst).rstrip("/") or text(dst)
    folder, name, there = table.locate(new, start_of(dir_fd), follow=False)
    if there is not None:
        raise OSError(errno.EEXIST, "")
    if not text(src) or text(dst).endswith("/"):
        raise OSError(errno.ENOENT, "")
    table.create_link(folder, name, text(src))


@named
def readlink(table: FileTable, path: Any, *, dir_fd: Any = None) -> Any:
    inode = table.inode(text(path), start_of(dir_fd), follow=False)
    if not isinstance(inode, Link):
        raise OSError(errno.EINVAL, "")
    return os.fsencode(inode.target) if isinstance(os.fspath(path), bytes) else inode.target


@named
def chmod(
    table: FileTable, path: Any, mode: int, *, dir_fd: Any = None, follow_symlinks: bool = True
) -> None:
    inode_of(table, path, dir_fd, follow_symlinks).mode = mode & 0o7777


@named
def chown(
    table: FileTable,
    path: Any,
    uid: int,
    gid: int,
    *,
    dir_fd: Any = None,
    follow_symlinks: bool = True,
) -> None:
    inode_of(table, path, dir_fd, follow_symlinks)  # everything belongs to one user


@named
def utime(
    table: FileTable,
    path: Any,
    times: Any = None,
    *,
    ns: Any = None,
    dir_fd: Any = None,
    follow_symlinks: bool = True,
) -> None:
    if times is not None and ns is not None:
        raise ValueError("utime: you may specify either 'times' or 'ns' but not both")
    when = table.process.now
    if times is not None:
        when = float(times[1])
    elif ns is not None:
        when = ns[1] / 1e9
    inode_of(table, path, dir_fd, follow_symlinks).when = when


@named
def truncate(table: FileTable, path: Any, length: int) -> None:
    if isinstance(path, int):
        here().stack.descriptors.get(path).truncate(length)
        return
    if length < 0:
        raise OSError(errno.EINVAL, "")
    inode = table.inode(text(path))
    if isinstance(inode, Folder):
        raise OSError(errno.EISDIR, "")
    if length != inode.size():
        table.change(inode, (length,))  # type: ignore[arg-type]


@named
def chdir(table: FileTable, path: Any) -> None:
    if isinstance(path, int):
        description = here().stack.descriptors.get(path)
        if not isinstance(description, OpenFolder):
            raise OSError(errno.ENOTDIR, "")
        table.cwd = description.folder
    else:
        table.cwd = table.folder(text(path))


def getcwd() -> str:
    """The path of the current folder, found by walking up, as a kernel does."""
    table: FileTable = here().files
    parts: list[str] = []
    folder = table.cwd
    while folder is not table.root:
        above = folder.parent
        name = next((name for name, each in above.entries.items() if each is folder), None)
        if name is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        parts.append(name)
        folder = above
    return "/" + "/".join(reversed(parts))


def getcwdb() -> bytes:
    return os.fsencode(getcwd())


def umask(mask: int) -> int:
    notes = here().notes
    before: int = notes.get("umask", 0o022)
    notes["umask"] = mask & 0o777
    return before


@named
def statvfs(table: FileTable, path: Any) -> os.statvfs_result:
    inode_of(table, path)
    blocks = ROOM // 4096
    return os.statvfs_result((4096, 4096, blocks, blocks, blocks, blocks, blocks, blocks, 0, 255))


@named
def no_attributes(table: FileTable, path: Any, *_: Any, **__: Any) -> Any:
    """Extended attributes: this file system has none."""
    inode_of(table, path)
    raise OSError(errno.ENOTSUP, "")


@named
def no_special(table: FileTable, path: Any, *_: Any, **__: Any) -> Any:
    """Pipes with names and devices cannot be made."""
    raise OSError(errno.EPERM, "")
