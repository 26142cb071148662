"""What a rank finds around it: its `__main__`, arguments, input, environment, `mpi4py`, modules.

Ranks take turns in one interpreter. Whenever a rank goes on, its own things are put in place;
whenever it stops to ask something of the world, what was there before is put back. In a plain run,
where nothing else runs meanwhile, that is left to the next rank (`Stage`).
"""

from __future__ import annotations

import atexit
import builtins
import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from presage.frontends.mpi.core.comm_state import RankId
from presage.frontends.mpi.launch.module import MODULES, own_package
from presage.frontends.mpi.launch.privates import Imports
from presage.frontends.mpi.launch.stdin import STANDARD
from presage.process.context import Context

# What launchers say of a rank, by the names of MPICH and of Open MPI.
RANK = (
    "PMI_RANK PMIX_RANK MPI_LOCALRANKID OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_LOCAL_RANK"
    " OMPI_COMM_WORLD_NODE_RANK"
)
SIZE = "PMI_SIZE MPI_LOCALNRANKS OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_SIZE"
STOP = "stop"  # among the notes of a process: how it asks what cannot be answered on the spot


class Surroundings:
    """What all ranks of a program have in common around them."""

    def __init__(self) -> None:
        self.imports = Imports()
        self.variables: dict[Any, Any] = dict(_variables())
        self._before: dict[str, Any] = {}
        self.stage: Environment | None = None  # in a plain run: whose things are in place
        self.on_the_spot: Callable[[Any], Any] | None = None  # in a plain run: answers some at once
        self.stays = False  # whether they stay there until another rank goes on
        self._names: dict[frozenset[str], frozenset[str]] = {}

    def same_names(self, modules: dict[str, Any]) -> frozenset[str]:
        """The names of modules; equal ones are one."""
        names = frozenset(modules)
        return self._names.setdefault(names, names)

    def keep(self) -> None:
        """A plain run begins: what ranks have in common stays in place as well."""
        self.stays = True
        self._before = {name: sys.modules.get(name) for name in MODULES}
        sys.modules.update(MODULES)

    def clear(self) -> None:
        """The run is over."""
        if self.stage is not None:
            self.stage.leave()
        put_back(self._before)
        self.stays, self.on_the_spot = False, None


class Environment:
    """The surroundings of one rank."""

    def __init__(
        self,
        main: ModuleType,
        folder: str,
        argv: Sequence[str],
        common: Surroundings,
        place: tuple[RankId, int, int],
    ) -> None:
        number, at, size = place
        self._common = common
        self._folder = folder
        self._modules: dict[str, Any] = {**own_package(), "__main__": main}
        self.package = self._modules["mpi4py"]
        self._names = common.same_names(self._modules)
        self._before: dict[str, Any] = {}
        self._known = 0  # how many modules there were when last looked
        self._argv = list(argv)
        self._stdin = STANDARD.opened(is_first=number == 0)
        said = {name: str(at) for name in RANK.split()} | {name: str(size) for name in SIZE.split()}
        self._variables = common.variables | {
            os.environ.encodekey(name): os.environ.encodevalue(value)
            for name, value in said.items()
        }
        self._others: tuple[Any, ...] = ()
        # Variables of the real process stay as they are: programs that it starts would see them.
        self._hooks = common.imports, self._register, _nothing, _nothing
        self._at_end: list[tuple[Callable[..., Any], Any, Any]] = []

    def enter(self) -> None:
        stage = self._common.stage
        if stage is self:
            return
        if stage is not None:
            if self._follows(stage):
                return
            stage.leave()
        known = sys.modules
        if not self._common.stays and "mpi4py.MPI" not in self._modules:
            self._modules = {**MODULES, **self._modules}
            self._names = self._common.same_names(self._modules)
        self._before = {name: known.get(name) for name in self._modules}
        known.update(self._modules)
        self._known = len(known)
        sys.path.insert(0, self._folder)
        self._others = self._swap((self._argv, self._stdin, self._variables, self._hooks))
        if self._common.stays:
            self._common.stage = self

    def leave(self) -> None:
        if len(sys.modules) != self._known:
            self._claim()
        put_back(self._before)
        if self._folder in sys.path:
            sys.path.remove(self._folder)
        self._argv, self._stdin, self._variables, _ = self._swap(self._others)
        self._common.stage = None

    def add(self, name: str, module: ModuleType) -> None:
        """From now on, the rank has a module of this name."""
        self._before.setdefault(name, sys.modules.get(name))
        self._modules[name] = sys.modules[name] = module
        self._names = self._common.same_names(self._modules)
        self._known = len(sys.modules)

    def _follows(self, other: Environment) -> bool:
        """Take the stage over from a rank with modules of the same names; False: it has others."""
        known = sys.modules
        environ: Any = os.environ
        if len(known) != other._known:
            other._claim()
        if self._names is not other._names or self._folder != other._folder:
            return False
        known.update(self._modules)
        self._known = len(known)
        self._before = other._before
        self._others = other._others
        other._argv, sys.argv = sys.argv, self._argv
        other._stdin, sys.stdin = sys.stdin, self._stdin  # type: ignore[assignment]
        other._variables = environ._data
        environ._data = os.environb._data = self._variables  # type: ignore[attr-defined]
        hooks: Any = self._hooks
        builtins.__import__, atexit.register, os.putenv, os.unsetenv = hooks
        self._common.stage = self
        return True

    @staticmethod
    def _swap(things: tuple[Any, ...]) -> tuple[Any, ...]:
        """Put things in place; gives those that were there."""
        environ: Any = os.environ
        hooks = builtins.__import__, atexit.register, os.putenv, os.unsetenv
        before = (sys.argv, sys.stdin, _variables(), hooks)
        sys.argv, sys.stdin, environ._data, hooks = things
        builtins.__import__, atexit.register, os.putenv, os.unsetenv = hooks
        os.environb._data = environ._data  # type: ignore[attr-defined]
        return before

    def _claim(self) -> None:
        """Modules that the rank has imported since may be its own."""
        imports = self._common.imports
        for name, module in list(sys.modules.items()):
            if name not in self._modules and (self._is_own(module) or imports.is_own(name, module)):
                self._modules[name] = module
                self._before[name] = None
        self._names = self._common.same_names(self._modules)

    def _is_own(self, module: ModuleType) -> bool:
        """Whether it lies beside the script."""
        file = getattr(module, "__file__", None)
        return (
            isinstance(file, str)
            and file.startswith(self._folder)
            and "site-packages" not in file
            and not file.startswith(sys.prefix)
        )

    def _register(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Any:
        """`atexit.register`: what the program registers is called at the end of the rank."""
        caller = sys._getframe(1).f_globals.get("__name__") or ""
        if not self._common.imports.is_foreign(caller):
            return self._others[3][1](function, *args, **named)
        self._at_end.append((function, args, named))
        return function

    def run_exit_handlers(self) -> None:
        """The last that was registered comes first."""
        while self._at_end:
            function, args, named = self._at_end.pop()
            function(*args, **named)

    def surround(self, context: Context) -> None:
        """From now on, the rank leaves its surroundings for as long as it stops."""
        guide: Any = context.guide
        ask = context.ask if guide is None else guide.stop
        assert ask is not None, "a rank is a plain function"
        common = self._common

        def stop(op: Any, instead: Callable[[Any], Any] | None = None) -> Any:
            if not common.stays:
                self.leave()
            try:
                if instead is not None and (answer := instead(op)) is not None:
                    return answer
                return ask(op)
            finally:
                stage = common.stage
                if stage is not self and (stage is None or not self._follows(stage)):
                    self.enter()

        def asked(op: Any) -> Any:
            if common.on_the_spot is not None and (known := common.on_the_spot(op)) is not None:
                return known
            return stop(op)

        context.notes[STOP] = stop
        if guide is None:
            context.ask = asked
        else:
            guide.stop = asked  # what is known already, it answers on the spot


def _nothing(*_: Any) -> None:
    """Stands in for `os.putenv`."""


def put_back(modules: dict[str, Any]) -> None:
    """Let modules be as they were before; None: not there."""
    known = sys.modules
    for name, module in modules.items():
        if module is None:
            known.pop(name, None)
        else:
            known[name] = module


def _variables() -> Any:
    environ: Any = os.environ
    return environ._data
