"""What a simulated process may read of the real disk: what Python itself reads.

These are the standard library, installed packages and the source of the program. They are read as
they are and never written: a process that writes there writes into its own table. Everything else
that is on the real disk does not exist for it.
"""

from __future__ import annotations

import builtins
import os
import stat
import sys
import sysconfig
from functools import cache
from typing import Any

from presage.model.source import PRESAGE
from presage.process.context import running
from presage.process.leaves import ORIGINALS


def real(owner: Any, name: str) -> Any:
    """The function of the real system, which others may answer for."""
    return ORIGINALS.get((owner, name)) or getattr(owner, name)


class Readable:
    """Real folders that processes may read, as absolute paths."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self.folders = folders
        self._looked: dict[str, os.stat_result | None] = {}  # sources do not change under a check
        self._there: dict[str, bool] = {}  # files that processes looked for, in vain

    def holds(self, path: str) -> bool:
        """Whether a real path may be read, if there is something."""
        return any(path == each or path.startswith(f"{each}/") for each in self.folders)

    def leads(self, path: str) -> bool:
        """Whether a path is a folder on the way to those that may be read."""
        start = path.rstrip("/") + "/"
        return any(each.startswith(start) for each in self.folders)

    def stat(self, path: str) -> os.stat_result | None:
        """What the real disk says of a path; None: nothing that a process may know of."""
        if not (self.holds(path) or self.leads(path)):
            return None
        if path not in self._looked:
            try:
                self._looked[path] = real(os, "stat")(path)
            except OSError:
                self._looked[path] = None
        return self._looked[path]

    def exists(self, path: str) -> bool:
        """Whether a file with this path is on the real disk, be it one that may be read or not."""
        if path not in self._there:
            try:
                self._there[path] = stat.S_ISREG(real(os, "stat")(path).st_mode)
            except (OSError, ValueError):
                self._there[path] = False
        return self._there[path]

    def is_folder(self, path: str) -> bool:
        found = self.stat(path)
        return found is not None and stat.S_ISDIR(found.st_mode)

    def listing(self, path: str) -> list[str]:
        if not self.holds(path):
            start = path.rstrip("/") + "/"
            inside = {
                each[len(start) :].partition("/")[0]
                for each in self.folders
                if each.startswith(start)
            }
            return sorted(inside)
        try:
            return sorted(real(os, "listdir")(path))
        except OSError:
            return []

    def read(self, path: str) -> bytes:
        with real(builtins, "open")(path, "rb") as file:
            return bytes(file.read())


@cache
def own_folders() -> tuple[str, ...]:
    """The folders of Python, of what is installed, and of presage."""
    paths = sysconfig.get_paths()
    found = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib", "data")]
    found += [sys.prefix, sys.base_prefix, PRESAGE, *ZONES]
    return tuple(dict.fromkeys(os.path.realpath(each) for each in found if each not in ("", "/")))


ZONES = ("/usr/share/zoneinfo",)  # of the standard library's `zoneinfo`


def readable(more: tuple[Any, ...] = ()) -> Readable:
    """With the folders that modules are imported from, and `more` of the program."""
    stack, running.stack = running.stack, []  # no process asks: this is about the real disk
    try:
        return _readable(tuple(sys.path), tuple(map(str, more)))
    finally:
        running.stack = stack


@cache
def _readable(*lists: tuple[str, ...]) -> Readable:
    paths = [os.path.realpath(each) for some in lists for each in some if each not in ("", "/")]
    return Readable(tuple(dict.fromkeys((*own_folders(), *filter(os.path.isdir, paths)))))


own_folders()  # now: it imports modules, and must not do so while a process runs
