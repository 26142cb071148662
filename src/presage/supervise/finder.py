"""Finds and reads the modules of presage itself in fewer steps than Python's own finders take.

They look for a module in every way there is, and a command loads two hundred. Those of presage lie
in one folder, beside the byte code that Python has written. Whatever is not so (no byte code, or of
another time or size than the source, or checked in another way) is left to Python.

Invariant: the code that is run is the one that Python would have run.
"""

from __future__ import annotations

import _imp
import marshal
import posix
import sys
from importlib._bootstrap_external import MAGIC_NUMBER
from importlib.machinery import ModuleSpec, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType

NAME = "presage"
HEADER = 16  # bytes of byte code before the code: a number, flags, time and size of the source
BY_TIME = b"\0\0\0\0"  # the flags of byte code that is compared with its source by time and size


class Loader(SourceFileLoader):
    """Reads byte code if it is of the source that was found."""

    def __init__(self, name: str, path: str, cached: str, source: posix.stat_result) -> None:
        super().__init__(name, path)
        self._cached = cached
        stamp = int(source.st_mtime) & 0xFFFFFFFF, source.st_size & 0xFFFFFFFF
        self._begins = (
            MAGIC_NUMBER + BY_TIME + b"".join(each.to_bytes(4, "little") for each in stamp)
        )

    def get_code(self, fullname: str) -> CodeType | None:
        try:
            data = _read(self._cached)
        except OSError:
            return super().get_code(fullname)
        if data[:HEADER] != self._begins:
            return super().get_code(fullname)
        code: CodeType = marshal.loads(memoryview(data)[HEADER:])
        _imp._fix_co_filename(code, self.path)  # type: ignore[attr-defined]
        return code


class Finder:
    """Of modules whose names begin with that of the package."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._suffix = f".{sys.implementation.cache_tag}.pyc"
        self._prefix = sys.pycache_prefix

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(f"{NAME}."):
            return None
        where, _, last = name.rpartition(".")
        folder = self._folder + where[len(NAME) :].replace(".", "/")
        if path is None or list(path) != [folder]:
            return None  # somebody has moved it
        found = self._spec(name, folder, last, None)
        return found or self._spec(name, f"{folder}/{last}", "__init__", f"{folder}/{last}")

    def _spec(self, name: str, folder: str, stem: str, package: str | None) -> ModuleSpec | None:
        file = f"{folder}/{stem}.py"
        try:
            source = posix.stat(file)
        except OSError:
            return None
        beside = f"{folder}/__pycache__" if self._prefix is None else f"{self._prefix}{folder}"
        cached = f"{beside}/{stem}{self._suffix}"
        loader = Loader(name, file, cached, source)
        spec = ModuleSpec(name, loader, origin=file, is_package=package is not None)
        if package is not None:
            spec.submodule_search_locations = [package]
        spec.cached, spec.has_location = cached, True
        return spec


def shorten(folder: str) -> None:
    """Find modules of the package in `folder` so, if their byte code has the usual names."""
    if not sys.flags.optimize and folder.startswith("/"):
        sys.meta_path.insert(0, Finder(folder))


def _read(path: str) -> bytes:
    descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        size = posix.fstat(descriptor).st_size
        return posix.read(descriptor, size + 1)
    finally:
        posix.close(descriptor)
