"""Private copies of packages, one for each live process: no two processes share a class attribute.

Two nodes of a cluster are two processes; a library that keeps its leader in a class attribute must
not find the leader of another node there. Nor may two live processes of one node, kept at different
points of its history. So each process has its own modules. While it runs, `sys.modules` holds them:
late imports and pickling find the right classes.

Executing modules takes time, so the copies of processes that ended are used again, after everything
that had changed in them was put back (`pristine`). A process sees a module of its copy only once it
has imported it, as if the module was executed then.

Modules that all share (the standard library, compiled ones) are loaded outside of any process: what
loading them does happens once, so it must not be part of what one process did.
"""

from __future__ import annotations

import functools
import gc
import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from presage.frontends.real.finder import FINDER
from presage.frontends.real.identity import IMPORTED, Identities, identity
from presage.frontends.real.importing import NEVER, Asked, Terms
from presage.frontends.real.pristine import Survey
from presage.frontends.real.sources import Source, Sources

REFERENCE = "its objects tell what copies share, so it has to stay as it is"
LIMBO_MAX = 64  # copies of ended processes that wait for the garbage collector


class Isolation:
    """The packages that each process of a node has for itself, and the copies that wait for one."""

    def __init__(
        self,
        names: tuple[str, ...] | None = None,
        path: tuple[str, ...] = (),
        *,
        collects: bool = True,
    ) -> None:
        """`collects`: it collects garbage by itself, before copies are used again.

        Else they are used again at once. The collector then runs only while no process lives,
        and calls `recycle` then: finalizers may have changed copies that had been made as new.
        """
        self.sources = Sources(names, path)
        self.executed = 0  # modules executed so far, for those who measure
        self.spoilt: Counter[str] = Counter()  # why copies were not used again
        self.single_use: dict[str, str] = {}  # module -> why a copy with it serves one process
        self.references: dict[str, Copy] = {}  # module -> the copy that had it first
        self.shared: dict[int, Any] = {}  # what was met in the first copies, by address
        FINDER.install()
        self._collects = collects
        self._free: dict[Any, list[Copy]] = {}  # by owner
        self._limbo: list[Copy] = []

    def take(self, owner: Any = None) -> Copy:
        """A copy in which nothing is imported yet.

        `owner` is who a process is: others have other names, arguments and environments, which
        modules may look at while they are executed.
        """
        free = self._free.setdefault(owner, [])
        if self._collects and not free and len(self._limbo) >= LIMBO_MAX:
            gc.collect()
            self.recycle()
            free = self._free.setdefault(owner, [])
        return free.pop() if free else Copy(self, owner)

    def give_back(self, copy: Copy) -> None:
        """Take the copy of a process that ended; code in its frames may run until they are freed.

        It is used again after the next `recycle`.
        """
        if copy.spoilt:
            self.spoilt[copy.spoilt] += 1
        elif self._collects:
            self._limbo.append(copy)
        elif copy.restore():
            self._free.setdefault(copy.owner, []).append(copy)

    def recycle(self) -> None:
        """Make copies of ended processes as new; to be called when garbage was just collected."""
        waiting = self._limbo + [copy for free in self._free.values() for copy in free]
        self._limbo, self._free = [], {}
        for copy in waiting:
            if copy.restore():
                self._free.setdefault(copy.owner, []).append(copy)

    def digest(self) -> str:
        """The source of the packages that processes imported: names, versions, bytes."""
        return self.sources.digest()


class Copy:
    """The modules of one process."""

    def __init__(self, isolation: Isolation, owner: Any) -> None:
        self.isolation = isolation
        self.owner = owner
        self.sources = isolation.sources
        self.modules: dict[str, Any] = {}  # what the process has imported
        self._executed: dict[str, ModuleType] = {}  # what an earlier process had, too
        self._brought: dict[str, list[str]] = {}  # module -> what executing it imported
        self._bindings: dict[str, list[tuple[ModuleType, str, ModuleType]]] = {}
        self._terms: dict[str, Terms] = {}  # module -> on which it need not be executed again
        self._surveys: list[Survey] = []
        self.identities = Identities(IMPORTED)
        self._loading: list[list[str]] = []  # what each module that is being executed brought
        self._hidden: dict[str, ModuleType] = {}
        self._last = ""  # what was put into `sys.modules` last when the process was entered
        self._path: list[str] = []  # what the process put into `sys.path`
        self._finders: list[Any] = []  # and into `sys.meta_path`
        self._passing = False  # what is loaded from now on ends with the process
        self.spoilt = ""  # why nobody may use it again

    def enter(self) -> None:
        """Let `sys.modules` hold this copy."""
        modules = sys.modules
        self._hidden = hidden = FINDER.hidden(self.sources)
        for name in hidden:
            modules.pop(name, None)
        modules.update(self.sources.common)
        modules.update(self.modules)
        self._last = next(reversed(modules))
        FINDER.copy = self
        if self._path or self._finders:
            sys.path[:0] = self._path
            sys.meta_path[1:1] = self._finders

    def leave(self) -> None:
        """Let `sys.modules` hold what it held before."""
        modules, mine = sys.modules, self.modules
        FINDER.copy = None
        common = self.sources.common
        known = len(FINDER.outside) - len(self._hidden) + len(mine) + len(common)
        if len(modules) != known or not self._knows_new(modules):
            self._keep_foreign(modules)
        for name in mine:
            mine[name] = modules.pop(name)
        for name in common:
            modules.pop(name, None)
        modules.update(self._hidden)
        if sys.path != FINDER.path or sys.meta_path != FINDER.finders:
            self._path = [each for each in sys.path if each not in FINDER.path]
            self._finders = [each for each in sys.meta_path if each not in FINDER.finders]
            sys.path[:], sys.meta_path[:] = FINDER.path, FINDER.finders

    @contextmanager
    def inside(self) -> Iterator[None]:
        """While the code of its process runs."""
        self.enter()
        try:
            yield
        finally:
            self.leave()

    def module(self, name: str) -> Any:
        """A module as the process sees it; None: neither it nor anybody else imported it."""
        found = self.modules.get(name)
        if found is None and not self.sources.is_private(name):
            found = sys.modules.get(name)
        return found

    def function(self, function: Any) -> Any:
        """The same function with the globals of this copy, which must be entered."""
        if isinstance(function, functools.partial):
            inner = self.function(function.func)
            return functools.partial(inner, *function.args, **function.keywords)
        home = self._home(function) if isinstance(function, FunctionType) else None
        if home is None:
            return function
        twin: Any = home
        for part in function.__qualname__.split("."):
            twin = getattr(twin, part, None)
        if isinstance(twin, FunctionType) and twin.__code__ == function.__code__:
            return twin
        code, name = function.__code__, function.__name__
        made = FunctionType(code, vars(home), name, function.__defaults__, function.__closure__)
        made.__kwdefaults__ = function.__kwdefaults__
        return made

    def _home(self, function: FunctionType) -> ModuleType | None:
        """The private module that a function was written in; None: it stays shared."""
        name, file = (function.__globals__.get(each) for each in ("__name__", "__file__"))
        if not isinstance(file, str) or not _is_file(file):
            return None
        if name == "__main__":
            name = "__mp_main__"  # as `multiprocessing` calls it, so that it does not start again
        elif not self.sources.is_private(str(name)):
            return None
        self.sources.adopt(str(name), file)
        return self._own(str(name))

    def _own(self, name: str) -> ModuleType:
        """The module of the program itself, whose packages need not be importable by name."""
        if name not in self.modules:
            spec, source = FINDER.find_spec(name, None), self.sources.find(name, None)
            assert spec is not None and source is not None
            module = sys.modules[name] = importlib.util.module_from_spec(spec)
            self.load(name, module, source)
        return self.modules[name]  # type: ignore[no-any-return]

    def _knows_new(self, modules: dict[str, ModuleType]) -> bool:
        """Whether all that came into `sys.modules` since the process was entered is its own."""
        for name in reversed(modules):
            if name is self._last:
                break
            if name not in self.modules and name not in FINDER.outside:
                return False
        return True

    def _keep_foreign(self, modules: dict[str, ModuleType]) -> None:
        """Take what the process put into `sys.modules` by itself; forget what it took out."""
        for name in [each for each in self.modules if each not in modules]:
            del self.modules[name]
            self.spoilt = f"the process took `{name}` out of `sys.modules`"
        for name in [each for each in modules if each not in FINDER.outside]:
            if name not in self.modules and name not in self.sources.common:
                self.modules[name] = modules[name]
                self.spoilt = f"the process put `{name}` into `sys.modules`"

    def is_loading(self) -> bool:
        """Whether one of its modules is being executed."""
        return bool(self._loading)

    def known(self, name: str) -> ModuleType | None:
        """A module that an earlier process of this copy executed, if this one may have it."""
        if name in self.modules or name not in self._executed or self._passing:
            return self.modules.get(name)
        terms = self._terms.get(name)
        if terms is None or terms.hold():
            return self._executed[name]
        self.spoilt = f"`{name}` would be told something else while it is imported"
        self._pass(list(self._executed))
        return None

    def load(self, name: str, module: ModuleType, source: Source) -> None:
        """Execute a module, or let the process have what an earlier one executed."""
        if name in self._executed and not self._passing:
            self._bind(name)
            if name in self._terms:
                self._terms[name].make_up()
            return
        brought = self._brought[name] = [name]
        outermost = not self._loading
        if outermost and not self.spoilt:
            self.spoilt = self.isolation.single_use.get(name, "")
        surveyed = outermost and self.spoilt in ("", REFERENCE)
        earlier = self._survey_of(list(self.modules)) if self.modules and surveyed else None
        asked = Asked() if surveyed else None
        self.modules[name] = self._executed[name] = module
        self._loading.append(brought)
        self.isolation.executed += 1
        try:
            if source.code is not None:
                vars(module)["id"] = identity
                exec(source.code, vars(module))
        except BaseException:
            self.modules.pop(name, None)
            brought.remove(name)
            del self._executed[name], self._brought[name]
            raise
        finally:
            self._loading.pop()
            if self._loading:
                self._loading[-1] += brought
            elif asked is not None:
                self._save(name, brought, earlier, asked)

    def share(self, name: str, module: ModuleType) -> None:
        """Let the process have a compiled module, which is the same in all copies."""
        self.modules[name] = self._executed[name] = module
        self._brought[name] = [name]
        if self._loading:
            self._loading[-1].append(name)

    def _bind(self, name: str) -> None:
        for each in self._brought[name]:
            self.modules[each] = sys.modules[each] = self._executed[each]
        for parent, attribute, child in self._bindings.get(name, ()):
            setattr(parent, attribute, child)

    def _survey_of(
        self, names: list[str], *known: dict[int, Any], moments: frozenset[Any] = frozenset()
    ) -> Survey:
        roots = [self.modules[name] for name in names if name in self.modules]
        return Survey(roots, self.sources.is_private, (self.isolation.shared, *known), moments)

    def _save(self, name: str, brought: list[str], earlier: Survey | None, asked: Asked) -> None:
        """Remember what was imported, before the program can change it."""
        bindings = self._bindings[name] = self._bound(brought)
        if self._passing or earlier is not None and not earlier.is_same(bindings):
            self._pass(brought)
            return
        known = [each.met for each in self._surveys]
        survey = self._survey_of(brought, *known, moments=asked.moments())
        self._surveys.append(survey)
        references = self.isolation.references
        if self in [references.setdefault(each, self) for each in brought]:
            self.isolation.shared.update(survey.met)
            self.spoilt = REFERENCE
            return
        if asked.did():
            self.spoilt = f"`{name}` does more than being imported"
        elif survey.unreadable:
            self.spoilt = f"a module holds a `{survey.unreadable}`, whose state cannot be saved"
        if self.spoilt not in ("", REFERENCE):
            self.isolation.single_use[name] = self.spoilt
        terms = asked.terms(kept_moment=survey.kept_moment)
        if terms is not None:
            self._terms.update(dict.fromkeys(brought, NEVER))  # by itself one would ask otherwise
            self._terms[name] = terms

    def _bound(self, brought: list[str]) -> list[tuple[ModuleType, str, ModuleType]]:
        """The attributes that modules brought to packages of before, as these have them in order.

        A module is bound when it is executed, after those that it imports.
        """
        bindings = []
        for each in brought:
            parent, _, attribute = each.rpartition(".")
            if parent in self.modules and parent not in brought:
                bindings.append((self.modules[parent], attribute, self.modules[each]))
        places = {id(parent): list(vars(parent)) for parent, _, _ in bindings}

        def place(binding: tuple[ModuleType, str, ModuleType]) -> int:
            names = places[id(binding[0])]
            return names.index(binding[1]) if binding[1] in names else len(names)

        return sorted(bindings, key=place)

    def _pass(self, brought: list[str]) -> None:
        """Do not keep these modules: loading them changed others, as any code of a program may.

        Nor what is loaded after them, which may hold what is theirs.
        """
        self._passing = True
        for name in brought:
            for kept in (self._executed, self._brought, self._bindings, self._terms):
                kept.pop(name, None)

    def restore(self) -> bool:
        """Put everything back as it was after the imports; False: that did not succeed."""
        self.modules, self._passing = {}, False
        self._path, self._finders = [], []
        return sum(survey.restore() for survey in self._surveys) == len(self._surveys)


@functools.cache
def _is_file(name: str) -> bool:
    return Path(name).is_file()
