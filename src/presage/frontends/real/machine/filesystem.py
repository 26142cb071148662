"""`open`, `os`, `fcntl`, `mmap` and `tempfile` of a simulated process: leaves of the one table.

`pathlib`, `shutil`, `glob`, `os.path`, `os.walk` and the like are Python code on top of these, and
run unmodified. `io.FileIO` and `mmap.mmap` are classes, so stand-ins take their places.
"""

from __future__ import annotations

import _io
import builtins
import errno
import fcntl
import io
import mmap
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from presage.frontends.real.machine import attributes, flocks, maps, numbers, paths
from presage.frontends.real.machine.clock import here
from presage.frontends.real.machine.files import FileTable
from presage.frontends.real.machine.opened import (
    OpenFile,
    OpenFolder,
    RawFile,
    checked_mode,
    dressed,
    flags_of,
)
from presage.frontends.real.machine.process import Part, Process
from presage.process.context import MACHINE, running
from presage.process.leaves import DISPATCHERS, ORIGINALS, Leaf, extend

_FileIO: Any = io.FileIO


def open_raw(file: Any, mode: str, closefd: bool, opener: Any) -> RawFile:
    """What `io.FileIO` makes."""
    process = here()
    if isinstance(file, bool) or not isinstance(file, int):
        if not closefd:
            raise ValueError("Cannot use closefd=False with file name")
        path: Any = os.fspath(file)  # type: ignore[arg-type]
        flags = flags_of(mode) | os.O_CLOEXEC
        number = paths.open_(path, flags, 0o666) if opener is None else opener(path, flags)
        if not isinstance(number, int):
            raise TypeError("expected integer from opener")
        if number < 0:
            raise ValueError(f"opener returned {number}")
    else:
        number = file
        if number < 0:
            raise ValueError("negative file descriptor")
    made = RawFile(process, number, file, _shown_mode(mode), closefd)
    if isinstance(made._description, OpenFolder):
        made.close()
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), file)
    if "a" in mode and isinstance(made._description, OpenFile):
        made._description.seek(0, os.SEEK_END)
    return made


@cache
def _shown_mode(mode: str) -> str:
    plus = "+" if "+" in mode else ""
    for kind in "xa":
        if kind in mode:
            return f"{kind}b{plus}"
    return "rb+" if plus else ("rb" if "r" in mode else "wb")


def open_(
    file: Any,
    mode: str = "r",
    buffering: int = -1,
    encoding: Any = None,
    errors: Any = None,
    newline: Any = None,
    closefd: bool = True,
    opener: Any = None,
) -> Any:
    """`open`."""
    if not isinstance(file, int):
        file = os.fspath(file)
    is_text = checked_mode(mode, encoding=encoding, errors=errors, newline=newline)
    if not is_text and buffering == 1:
        text = "line buffering (buffering=1) isn't supported in binary mode, the default is used"
        warnings.warn(text, RuntimeWarning, stacklevel=2)
        buffering = -1
    raw = open_raw(file, mode, closefd, opener)
    try:
        return dressed(raw, mode, buffering, (encoding, errors, newline) if is_text else None)
    except BaseException:
        raw.close()
        raise


class _Kind(type):
    """The class `io.FileIO`, as far as `isinstance` and calls can tell."""

    def __instancecheck__(cls, thing: Any) -> bool:
        return (
            isinstance(thing, RawFile | _FileIO)
            if cls is StandIn
            else super().__instancecheck__(thing)
        )

    def __call__(cls, *args: Any, **more: Any) -> Any:
        stack: list[Any] = running.stack
        if stack and stack[-1].answerer == MACHINE:
            return _file_io(*args, **more)
        return _FileIO(*args, **more) if cls is StandIn else super().__call__(*args, **more)


def _file_io(file: Any, mode: str = "r", closefd: bool = True, opener: Any = None) -> RawFile:
    if set(mode) - set("rwaxb+"):
        raise ValueError(f"invalid mode: {mode}")
    checked_mode(mode.replace("b", "") + "b", encoding=None, errors=None, newline=None)
    return open_raw(file, mode, closefd, opener)


class StandIn(_FileIO, metaclass=_Kind):  # type: ignore[misc]
    """Takes the place of `io.FileIO`."""


StandIn.__name__ = StandIn.__qualname__ = "FileIO"
StandIn.__module__ = "_io"


# Names of temporary files: one sequence for each process, not one for all.


def _candidates() -> Any:
    notes = here().notes
    if "temporary names" not in notes:
        notes["temporary names"] = _Names(here())
    return notes["temporary names"]


class _Names:
    """Names by the chance of the process."""

    def __init__(self, process: Any) -> None:
        self._process = process

    def __iter__(self) -> _Names:
        return self

    def __next__(self) -> str:
        letters = "abcdefghijklmnopqrstuvwxyz0123456789_"
        return "".join(self._process.chance.choices(letters, k=8))


def _temporary_folder() -> str:
    environ = os.environ
    given = next((environ[name] for name in ("TMPDIR", "TEMP", "TMP") if name in environ), "")
    return given if given and paths.access(given, os.W_OK) else "/".join(("", "tmp"))


_PATHS: dict[str, Callable[..., Any]] = {
    "open": paths.open_,
    "stat": paths.stat_,
    "lstat": paths.lstat,
    "access": paths.access,
    "listdir": paths.listdir,
    "scandir": paths.scandir,
    "mkdir": paths.mkdir,
    "rmdir": paths.rmdir,
    "remove": paths.unlink,
    "unlink": paths.unlink,
    "rename": paths.rename,
    "replace": paths.rename,
    "link": attributes.link,
    "symlink": attributes.symlink,
    "readlink": attributes.readlink,
    "chmod": attributes.chmod,
    "chown": attributes.chown,
    "lchown": attributes.chown,
    "utime": attributes.utime,
    "truncate": attributes.truncate,
    "chdir": attributes.chdir,
    "fchdir": attributes.chdir,
    "getcwd": attributes.getcwd,
    "getcwdb": attributes.getcwdb,
    "umask": attributes.umask,
    "statvfs": attributes.statvfs,
    "getxattr": attributes.no_attributes,
    "setxattr": attributes.no_attributes,
    "removexattr": attributes.no_attributes,
    "listxattr": attributes.no_attributes,
    "mkfifo": attributes.no_special,
    "mknod": attributes.no_special,
}
_NUMBERS: dict[str, Callable[..., Any]] = {
    "read": numbers.read,
    "write": numbers.write,
    "readv": numbers.readv,
    "writev": numbers.writev,
    "pread": numbers.pread,
    "pwrite": numbers.pwrite,
    "lseek": numbers.lseek,
    "close": numbers.close,
    "closerange": numbers.closerange,
    "dup": numbers.dup,
    "dup2": numbers.dup2,
    "fsync": numbers.fsync,
    "fdatasync": numbers.fsync,
    "ftruncate": numbers.ftruncate,
    "posix_fallocate": numbers.fallocate,
    "posix_fadvise": numbers.nothing,
    "fchmod": numbers.nothing,
    "fchown": numbers.nothing,
    "fstat": numbers.fstat,
    "fstatvfs": attributes.statvfs,
    "isatty": numbers.isatty,
    "pipe": numbers.make_pipe,
    "pipe2": numbers.make_pipe,
    "set_blocking": numbers.set_blocking,
    "get_blocking": numbers.get_blocking,
    "set_inheritable": numbers.set_inheritable,
    "get_inheritable": numbers.get_inheritable,
    "sendfile": numbers.sendfile,
    "copy_file_range": numbers.copy_file_range,
    "lockf": numbers.nothing,
}


def _sync() -> None:
    for description in here().stack.descriptors.open.values():
        if isinstance(description, OpenFile):
            description.sync()


ANSWERS: dict[tuple[Any, str], Callable[..., Any]] = {
    **{(os, name): f for name, f in (_PATHS | _NUMBERS).items() if hasattr(os, name)},
    (os, "sync"): _sync,
    (builtins, "open"): open_,
    (io, "open"): open_,
    (_io, "open"): open_,
    (io, "open_code"): lambda path: open_(path, "rb"),
    (fcntl, "fcntl"): numbers.control,
    (fcntl, "flock"): flocks.flock,
    (fcntl, "lockf"): numbers.nothing,
    (tempfile, "_get_candidate_names"): _candidates,
    (tempfile, "_gettempdir"): _temporary_folder,
    (tempfile, "gettempdir"): _temporary_folder,
}


def make_table(process: Process) -> FileTable:
    """The files of a process, as its options say."""
    options = process.options
    return FileTable(process, disk=options.disk, home=options.home, folders=options.folders)


extend(
    [Leaf(owner, name, "file", f"{owner.__name__}.{name}") for owner, name in ANSWERS],
    ANSWERS,
    {(io, "FileIO"): StandIn, (mmap, "mmap"): maps.StandIn},
)
Part("files", make_table)


def _take_defaults() -> None:
    """Replace originals that functions of the standard library took as defaults of arguments."""
    keys = {id(ORIGINALS[key]): key for key in ANSWERS}
    for module in [each for name, each in sys.modules.items() if name in sys.stdlib_module_names]:
        classes = [each for each in vars(module).values() if isinstance(each, type)]
        for thing in (module, *classes):
            for function in vars(thing).values():
                defaults = getattr(function, "__defaults__", None)
                if isinstance(defaults, tuple) and any(id(each) in keys for each in defaults):
                    function.__defaults__ = tuple(
                        DISPATCHERS[keys[id(each)]] if id(each) in keys else each
                        for each in defaults
                    )


_take_defaults()
