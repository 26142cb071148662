"""Which packages a process has for itself, where their source is, and what it is as one digest.

By default that is every package that is written in Python, except the standard library, presage and
the tools that run the check. A compiled part can be loaded once only. If it can import, it knows
the classes of the package it was loaded with, so such a package is not copied: if it stands in a
folder that was given, it is common to the processes that were given it; otherwise everybody shares
it. A part that cannot import is common, and the rest of its package is copied.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType, ModuleType

from presage.frontends.real.holdings import Holdings
from presage.model.source import is_standard
from presage.process.context import running

PRIVATE, COMMON, SHARED = "private", "common", "shared"
OURS = frozenset(("presage", "greenlet", "msgspec", "__main__"))
ENDINGS = tuple(EXTENSION_SUFFIXES)
IMPORTS = b"PyImport_"  # functions of C by which a module gets another one


class Source:
    """One module: its file and its code, read once for all copies."""

    __slots__ = ("code", "file", "folders")

    def __init__(self, file: str | None, folders: list[str] | None, code: CodeType | None) -> None:
        self.file = file
        self.folders = folders  # where the modules of a package are; None: no package
        self.code = code  # None: a package without `__init__.py`


class Sources:
    """The packages of one node: `names` if given, those of the default otherwise.

    `folders` come before `sys.path`, so two nodes can have two versions of one library.
    """

    def __init__(self, names: tuple[str, ...] | None, folders: tuple[str, ...]) -> None:
        self.names = names
        self.folders = [str(Path(folder).resolve()) for folder in folders]
        self._found: dict[str, Source | None] = {}
        self.missing: set[str] = set()  # modules that were looked for, and are nowhere
        self.common: dict[str, ModuleType] = {}  # compiled packages of `folders`, loaded once
        self.parts: dict[str, ModuleType] = {}  # compiled parts of packages that are private
        self._kinds: dict[str, str] = {}  # package -> private, common or shared
        self._whole: set[str] = set()  # compiled packages that are loaded once, and what they hold
        self._holdings = Holdings()
        self._tools = frozenset(_callers())

    def is_private(self, name: str) -> bool:
        """Whether each process has its own copy of the module `name`."""
        return self.kind(name) == PRIVATE

    def kind(self, name: str) -> str:
        """Whose a module is: of one process, of all processes with these sources, of everybody."""
        top = name.partition(".")[0]
        known = self._kinds.get(top)
        if known is None:
            known = self._kinds[top] = self._judge(top)
        return known

    def share_what_is_held(self, modules: Mapping[str, ModuleType]) -> None:
        """Let packages that a compiled one holds be whose that one is; see `holdings`."""
        loaded = {name.partition(".")[0] for name in modules}
        for kind in (SHARED, COMMON):
            waiting = {top for top in loaded if self.kind(top) == kind and top in self._whole}
            while waiting:
                held = {top for top in self._holdings.of(modules, waiting) if self._may_share(top)}
                self._kinds.update(dict.fromkeys(held, kind))
                self._whole |= held
                waiting = held

    def _may_share(self, top: str) -> bool:
        """Whether a package is installed, and no process has it for itself so far."""
        if self.kind(top) != PRIVATE or self.names is not None and top in self.names:
            return False
        if any(name.partition(".")[0] == top for name in self._found):
            return False
        spec = self._spec(top, None)
        home = "" if spec is None else str(_home(spec.origin, spec.submodule_search_locations))
        return "site-packages" in home or home in self.folders

    def compiled(self) -> set[str]:
        """Packages of the folders given that have a compiled part, so processes share them."""
        return {name.partition(".")[0] for name in (*self.common, *self.parts)}

    def _judge(self, top: str) -> str:
        if self.names is not None and top in self.names:
            return PRIVATE
        if top in sys.stdlib_module_names or top in OURS:
            return SHARED
        spec = PathFinder.find_spec(top, self.folders) if self.folders else None
        if spec is not None:
            if _is_python(spec):
                return PRIVATE
            self._whole.add(top)
            return COMMON
        spec = self._spec(top, None)
        if spec is None or self.names is not None or is_standard(str(spec.origin)):
            return SHARED
        if not _is_python(spec):
            self._whole.add(top)
            return SHARED
        return SHARED if self._is_tool(top, spec) else PRIVATE

    def _is_tool(self, top: str, spec: ModuleSpec) -> bool:
        """Whether a package belongs to a distribution that runs the check."""
        if not self._tools or "site-packages" not in str(spec.origin):
            return top in self._tools
        owners = _distributions(str(_home(spec.origin, spec.submodule_search_locations)))
        mine = owners.get(top, top)
        return any(owners.get(tool, tool) == mine for tool in self._tools)

    def _spec(self, name: str, path: list[str] | None) -> ModuleSpec | None:
        """Where a module is: in the folders given, or where everybody else gets it from."""
        if path is not None:
            return PathFinder.find_spec(name, path)
        spec = PathFinder.find_spec(name, self.folders) if self.folders else None
        if spec is None:
            spec = getattr(sys.modules.get(name), "__spec__", None) or PathFinder.find_spec(name)
        return spec

    def find(self, name: str, path: list[str] | None) -> Source | None:
        """The source of the module `name`; `path` is that of the package it is in."""
        if name not in self._found:
            source = self._read(self._spec(name, path))
            if source is None:
                return None  # not remembered: it may be written yet
            self._found[name] = source
        return self._found[name]

    def is_part(self, name: str, path: list[str] | None) -> bool:
        """Whether a module is a compiled part of a package that is private otherwise."""
        if name not in self.parts:
            spec = None if path is None else PathFinder.find_spec(name, path)
            return spec is not None and str(spec.origin).endswith(ENDINGS)
        return True

    def adopt(self, name: str, file: str) -> None:
        """Take the module `name` from `file`, wherever imports would look for it."""
        if name not in self._found:
            stack, running.stack = running.stack, []  # sources are on the real disk
            try:
                code = SourceFileLoader(name, file).get_code(name)
            finally:
                running.stack = stack
            folders = [str(Path(file).parent)] if Path(file).stem == "__init__" else None
            self._found[name] = Source(file, folders, code)
            self._kinds[name.partition(".")[0]] = PRIVATE

    @staticmethod
    def _read(spec: ModuleSpec | None) -> Source | None:
        if spec is None:
            return None
        places = spec.submodule_search_locations
        folders = None if places is None else list(places)
        if spec.origin is None or spec.origin == "namespace":
            return None if folders is None else Source(None, folders, None)
        if not spec.origin.endswith(".py"):
            return None
        code = SourceFileLoader(spec.name, spec.origin).get_code(spec.name)
        return Source(spec.origin, folders, code)

    def digest(self) -> str:
        """Name, version and bytes of every package of which a module was read so far."""
        total = hashlib.sha256()
        for top in sorted({name.partition(".")[0] for name in self._found}):
            for part in (top, self._version(top)):
                total.update(f"{len(part)}:{part}".encode())
            for file in self._files(top):
                data = file.read_bytes()
                total.update(f"{len(data)}:{file.name}:".encode())
                total.update(data)
        return total.hexdigest()

    def _files(self, top: str) -> list[Path]:
        source = self._found.get(top)
        if source is None or source.folders is None:
            names = [name for name in self._found if name.partition(".")[0] == top]
            found = [self._found[name] for name in names]
            return sorted(Path(each.file) for each in found if each is not None and each.file)
        return sorted(
            (file for folder in source.folders for file in Path(folder).rglob("*.py")),
            key=lambda file: file.parts,
        )

    def _version(self, top: str) -> str:
        source = self._found.get(top)
        if source is None:
            return ""
        return _distributions(str(_home(source.file, source.folders))).get(top, "")


def _home(file: str | None, folders: Sequence[str] | None) -> Path:
    """The folder that a package or module was installed in."""
    return Path(folders[0]).parent if folders else Path(str(file)).parent


@cache
def _distributions(home: str) -> dict[str, str]:
    """Name and version of the distribution that each package in a folder belongs to."""
    owners: dict[str, str] = {}
    for distribution in importlib.metadata.distributions(path=[home]):
        text = f"{distribution.metadata['Name']} {distribution.version}"
        for file in distribution.files or ():
            owners.setdefault(file.parts[0].removesuffix(".py"), text)
    return owners


def _is_python(spec: ModuleSpec) -> bool:
    """Whether a module or package is written in Python, all of it."""
    places = spec.submodule_search_locations
    if places is None:
        return str(spec.origin).endswith(".py")
    return not any(_has_importing(folder) for folder in places)


@cache
def _has_importing(folder: str) -> bool:
    """Whether a compiled module below a folder may import: it could hold a copy of its package.

    One that cannot knows nothing but what it is given, as those that only make a package faster.
    """
    for home, _, files in os.walk(folder):
        for file in files:
            if file.endswith(ENDINGS) and IMPORTS in Path(home, file).read_bytes():
                return True
    return False


def _callers() -> Iterator[str]:
    """Installed packages on the stack: the tools that run the check, such as a test runner."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if "site-packages" in file and not is_standard(file):
            top = str(frame.f_globals.get("__name__")).partition(".")[0]
            if top != "presage":
                yield top
        frame = frame.f_back
