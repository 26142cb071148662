"""The one import hook: a process gets private modules, and shares those that are nobody's own.

It stands first in `sys.meta_path`. Outside of processes it only notes that modules are coming in.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader
from importlib.readers import FileReader
from types import ModuleType
from typing import Any, Protocol

from presage.frontends.real.machine.imports import ORIGINALS
from presage.frontends.real.machine.private import BOOTSTRAP
from presage.frontends.real.machine.randoms import share
from presage.frontends.real.sources import COMMON, SHARED, Source, Sources
from presage.model.source import PRESAGE, is_standard
from presage.process.context import running


class Modules(Protocol):
    """The copy that `sys.modules` holds."""

    sources: Sources

    def enter(self) -> None: ...

    def leave(self) -> None: ...

    def known(self, name: str) -> ModuleType | None: ...

    def load(self, name: str, module: ModuleType, source: Source) -> None: ...

    def share(self, name: str, module: ModuleType) -> None: ...

    def is_loading(self) -> bool: ...


class Watch(Protocol):
    """Sees what is opened past the kernel; loading a module for everybody is left out."""

    def look(self) -> None: ...

    def begin(self) -> None: ...


class Finder:
    """Knows what is outside of every process: modules, `sys.path`, other finders."""

    def __init__(self) -> None:
        self.copy: Modules | None = None
        self.loads = 0  # how often something was loaded for everybody
        self.watch: Watch | None = None  # who looks what the code of processes opens meanwhile
        self.outside: dict[str, Any] = {}  # what `sys.modules` held at the last look
        self.is_alone = False  # since then nobody but processes has run: no need to look again
        self.path: list[str] = []
        self.finders: list[Any] = []
        self._stale = True  # a module came in since the last look
        self._searched: dict[str, ModuleType] = {}  # for what they keep of chance
        self._hidden: dict[int, tuple[Sources, dict[str, ModuleType]]] = {}

    def install(self) -> None:
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def look(self) -> None:
        """See what is outside now: modules also come without a finder being asked, and go."""
        self._stale = False
        if sys.modules != self.outside:
            self.outside = dict(sys.modules)
            self._hidden.clear()

    def hidden(self, sources: Sources) -> dict[str, ModuleType]:
        """The modules outside that processes have copies of."""
        if self._stale or not self.is_alone or len(sys.modules) != len(self.outside):
            self.look()
        self.path[:], self.finders[:] = sys.path, sys.meta_path
        found = self._hidden.get(id(sources))
        if found is None:
            listed = list(sys.modules.items())
            sources.share_what_is_held(dict(listed))
            modules = {name: module for name, module in listed if sources.kind(name) != SHARED}
            found = self._hidden[id(sources)] = sources, modules
        return found[1]

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        copy = self.copy
        if copy is None:
            self._stale = True
            return None
        if name in copy.sources.missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        stack, running.stack = running.stack, []  # sources are on the real disk
        try:
            if not copy.sources.is_private(name):
                return self._shared(copy, name, path)
            folders = None if path is None else list(path)
            source = copy.sources.find(name, folders)
            if source is None and copy.sources.is_part(name, folders):
                return self._part(copy, name, folders)
        finally:
            running.stack = stack
        if source is None:
            return None
        known = copy.known(name)
        if known is not None:
            return known.__spec__
        spec = importlib.machinery.ModuleSpec(name, _Private(copy, source), origin=source.file)
        spec.submodule_search_locations = source.folders
        spec.has_location = source.file is not None
        return spec

    def _shared(
        self, copy: Modules, name: str, path: Sequence[str] | None
    ) -> importlib.machinery.ModuleSpec | None:
        """Load a module for everybody, as if no process ran."""
        with self._outside(copy):
            if copy.sources.kind(name) == COMMON:
                module = _load_common(copy.sources, name, path)
            else:
                module = sys.modules.get(name) or _load(name, path)
            self._share_chance(copy)
        if module is None:
            if sys.path == self.path and sys.meta_path == self.finders:
                copy.sources.missing.add(name)  # nothing that a process writes shows there
            return None
        # If it was there now, `importlib` would take its own specification, and execute it again.
        sys.modules.pop(name, None)
        return importlib.machinery.ModuleSpec(name, _Shared(module))

    def _share_chance(self, copy: Modules) -> None:
        """Look for generators of random numbers in modules that all processes share from now on."""
        for name, module in [*sys.modules.items(), *copy.sources.common.items()]:
            if self._searched.get(name) is module or not isinstance(module, ModuleType):
                continue
            self._searched[name] = module
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and not is_standard(file) and not file.startswith(PRESAGE):
                if copy.sources.kind(name) in (SHARED, COMMON):
                    share(module)

    def _part(
        self, copy: Modules, name: str, path: Sequence[str] | None
    ) -> importlib.machinery.ModuleSpec:
        """Load a compiled part of a package once; each copy of the package has it."""
        parts = copy.sources.parts
        if name not in parts:
            with self._outside(copy):
                parts[name] = _load_part(name, path)
        return importlib.machinery.ModuleSpec(name, _Part(name, parts[name], copy))

    @contextmanager
    def _outside(self, copy: Modules) -> Iterator[None]:
        """As if no process ran, nor imported anything: `import p.q` holds the lock of `p.q`."""
        if self.watch is not None:
            self.watch.look()
        copy.leave()
        locks, BOOTSTRAP._module_locks = BOOTSTRAP._module_locks, {}
        inside = {name: sys.modules[name] for name in ORIGINALS}
        sys.modules.update(ORIGINALS)
        try:
            yield
        finally:
            sys.modules.update(inside)
            BOOTSTRAP._module_locks = locks
            self._stale = True
            copy.enter()
            self.loads += 1
            if self.watch is not None:
                self.watch.begin()


class _Private(Loader):
    """Executes a module for one process."""

    def __init__(self, copy: Modules, source: Source) -> None:
        self._copy = copy
        self._source = source
        self.path = source.file  # readers of resources look for it

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._copy.known(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        self._copy.load(module.__spec__.name, module, self._source)  # type: ignore[union-attr]

    def get_source(self, name: str) -> str | None:
        """The text, for tracebacks."""
        if self._source.file is None:
            return None
        return importlib.machinery.SourceFileLoader(name, self._source.file).get_source(name)

    def get_data(self, path: str) -> bytes:
        return importlib.machinery.SourceFileLoader("", path).get_data(path)

    def get_resource_reader(self, name: str) -> FileReader | None:
        """The files beside a module: on the disk, so that nobody copies them elsewhere."""
        return None if self.path is None else FileReader(self)  # type: ignore[arg-type]


class _Shared(Loader):
    """Hands out a module that is loaded."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


class _Part(_Shared):
    """Hands out a compiled module of a package that is private otherwise."""

    def __init__(self, name: str, module: ModuleType, copy: Modules) -> None:
        super().__init__(module)
        self._name = name  # the module itself may have a shorter one
        self._copy = copy

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        self._copy.share(self._name, module)


def _load(name: str, path: Sequence[str] | None) -> ModuleType | None:
    """As `importlib.import_module`, without the lock of the module: the process has it."""
    for finder in sys.meta_path:
        spec = None if finder is FINDER else finder.find_spec(name, path, None)
        if spec is not None:
            break
    else:
        return None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        if spec.loader is not None:
            spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return sys.modules[name]


def _load_part(name: str, path: Sequence[str] | None) -> ModuleType:
    """Load a compiled module, unless it is there; outside nobody gets to see it."""
    outside = sys.modules.pop(name, None)
    module = _load(name, path)
    del sys.modules[name]
    if outside is not None:
        sys.modules[name] = outside
        if getattr(outside, "__file__", None) == module.__file__:  # type: ignore[union-attr]
            return outside
    return module  # type: ignore[return-value]


def _load_common(sources: Sources, name: str, path: Sequence[str] | None) -> ModuleType | None:
    """Load a compiled package from a given folder; outside nobody gets to see it."""
    hidden = FINDER.hidden(sources)
    for each in hidden:
        sys.modules.pop(each, None)
    sys.modules.update(sources.common)
    sys.path[:0] = sources.folders
    try:
        return sys.modules.get(name) or _load(name, path)
    finally:
        del sys.path[: len(sources.folders)]
        sources.share_what_is_held(dict(sys.modules))
        for each in [each for each in sys.modules if sources.kind(each) == COMMON]:
            sources.common[each] = sys.modules.pop(each)
        sys.modules.update(hidden)


FINDER = Finder()
