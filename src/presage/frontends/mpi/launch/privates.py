"""Which modules are a rank's own: those beside its script, and those that use `mpi4py`.

A module that says `rank = MPI.COMM_WORLD.rank` holds what belongs to one rank, wherever it is
installed. So a package of which one module imports `mpi4py` is each rank's own, and so is a package
that imports such a one. Imports are noted while ranks run. Modules that were there before,
those of the standard library and those written in C are shared.
"""

from __future__ import annotations

import builtins
import sys
from collections import defaultdict
from types import ModuleType
from typing import Any

from presage.frontends.mpi.core.rank import running_rank
from presage.frontends.mpi.threads.begin import modules_of
from presage.frontends.mpi.threads.modules import is_copied

MPI4PY = "mpi4py"
MAIN = "__main__"


def top(name: str) -> str:
    return name.partition(".")[0]


class Imports:
    """Who imports whom, by packages; of all ranks of a program."""

    def __init__(self) -> None:
        self._users: defaultdict[str, set[str]] = defaultdict(set)  # imported -> importers
        self._shared = {top(name) for name in sys.modules} | sys.stdlib_module_names
        self._original = builtins.__import__
        self.own: set[str] = set()  # packages that use `mpi4py`, of themselves or through others

    def is_foreign(self, name: str) -> bool:
        """Whether a module came with the program: not presage's, nor of the standard library."""
        return top(name) not in self._shared or name == MAIN

    def __call__(
        self,
        name: str,
        variables: Any = None,
        local: Any = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        """Stands in for `builtins.__import__`."""
        if not level and is_copied(name) and variables is not None:
            if self.is_foreign(variables.get("__name__") or "") and (rank := running_rank()):
                return modules_of(rank).imported(name, fromlist)
        module = self._original(name, variables, local, fromlist, level)
        if not level and variables is not None:
            user = top(variables.get("__name__") or "")
            if user not in self._shared and user != MPI4PY:
                self._note(user, top(name))
        return module

    def _note(self, user: str, used: str) -> None:
        self._users[used].add(user)
        if used == MPI4PY or used in self.own:
            self._claim(user)

    def _claim(self, package: str) -> None:
        """It uses `mpi4py`; so do those that use it."""
        if package not in self.own:
            self.own.add(package)
            for user in self._users[package]:
                self._claim(user)

    def is_own(self, name: str, module: ModuleType) -> bool:
        """Whether an installed module has to be the rank's own."""
        file = getattr(module, "__file__", None)
        return top(name) in self.own and (file is None or file.endswith(".py"))
