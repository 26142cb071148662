"""What a rank finds around it: its `__main__`, its arguments, `mpi4py`, and modules of its own.

Ranks take turns in one interpreter. Whenever a rank goes on, its own things are put in place;
whenever it stops to ask something of the world, what was there before is put back.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from presage.frontends.mpi.launch.module import MODULES
from presage.process.context import Context


class Environment:
    """The surroundings of one rank; modules beside the script are its own, all others shared."""

    def __init__(self, main: ModuleType, path: Path, args: Sequence[str]) -> None:
        self._folder = str(path.resolve().parent)
        self._argv = [str(path), *args]
        self._modules: dict[str, ModuleType] = {**MODULES, "__main__": main}
        self._before: dict[str, ModuleType | None] = {}
        self._argv_before: list[str] = []
        self._known = 0  # how many modules there were when last looked

    def enter(self) -> None:
        self._before = {name: sys.modules.get(name) for name in self._modules}
        self._argv_before = sys.argv
        sys.modules.update(self._modules)
        sys.argv = self._argv
        sys.path.insert(0, self._folder)
        self._known = len(sys.modules)

    def leave(self) -> None:
        if len(sys.modules) != self._known:
            self._claim()
        for name, module in self._before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module
        self._argv, sys.argv = sys.argv, self._argv_before
        if self._folder in sys.path:
            sys.path.remove(self._folder)

    def _claim(self) -> None:
        """Modules that the rank has imported since, and that lie beside the script, are its own."""
        for name, module in list(sys.modules.items()):
            if name not in self._modules and self._is_own(module):
                self._modules[name] = module
                self._before[name] = None

    def _is_own(self, module: ModuleType) -> bool:
        file = getattr(module, "__file__", None)
        return (
            isinstance(file, str)
            and file.startswith(self._folder)
            and "site-packages" not in file
            and not file.startswith(sys.prefix)
        )

    def surround(self, context: Context) -> None:
        """From now on, the rank leaves its surroundings for as long as it asks."""
        ask = context.ask
        assert ask is not None, "a rank is a plain function"

        def asked(op: Any) -> Any:
            self.leave()
            try:
                return ask(op)
            finally:
                self.enter()

        context.ask = asked
