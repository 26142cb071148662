"""What the interpreter shows a process while it runs: its modules, its arguments, its `__main__`.

A process has private copies of packages (`isolate`), the arguments of its command line, and, if it
is a script, a `__main__` of its own. All of that is put in place when the process begins to run and
taken away when it stops.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from presage.frontends.real.isolate import Copy, Isolation
from presage.frontends.real.machine.process import Part, Process

PLAIN = (type(None), bool, int, float, str, bytes)
PART = "surroundings"  # its name among the parts of a process


class Surroundings:
    """Those of one process; a part of it, which goes with it."""

    def __init__(self, isolation: Isolation, argv: list[str], owner: Any = None) -> None:
        self._isolation = isolation
        self.copy: Copy = isolation.take(owner)
        self.argv = list(argv)
        self.main: ModuleType | None = None  # of a script
        self._functions: dict[Any, Callable[..., Any]] = {}
        self._carried: set[int] = set()  # namespaces that have the values of those outside
        self._is_inside = False

    @contextmanager
    def inside(self) -> Iterator[None]:
        """While the code of its process runs, or is looked at."""
        if self._is_inside:
            yield
            return
        argv, main = sys.argv, sys.modules["__main__"]
        self.copy.enter()
        sys.argv = self.argv
        if self.main is not None:
            sys.modules["__main__"] = self.main
        self._is_inside = True
        try:
            yield
        finally:
            self._is_inside = False
            sys.argv, sys.modules["__main__"] = argv, main
            self.copy.leave()

    def function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function with the modules of this process; to be called inside."""
        known = self._functions.get(function)
        if known is None:
            known = self._functions[function] = self.copy.function(function)
            home = getattr(known, "__globals__", None)
            if id(home) not in self._carried:  # once: later the process has its own values there
                self._carried.add(id(home))
                _carry_over(function, known)
        return known

    def run_script(self, code: Any, file: str) -> None:
        """Run a script as `__main__`."""
        self.main = module = ModuleType("__main__")
        module.__file__ = file
        sys.modules["__main__"] = module
        exec(code, vars(module))

    def dispose(self) -> None:
        """The process is over: others may have its copies."""
        self._functions.clear()
        self._isolation.give_back(self.copy)


def _carry_over(function: Callable[..., Any], private: Callable[..., Any]) -> None:
    """Let a private copy of a module have the plain values that were set after it was loaded.

    `system(retries=3)` may keep a parameter in a global; the copy would not know of it.
    """
    here: dict[str, Any] = getattr(function, "__globals__", {})
    there: dict[str, Any] = getattr(private, "__globals__", here)
    if here is not there:
        for name, value in here.items():
            if type(value) in PLAIN and not name.startswith("__") and there.get(name) != value:
                there[name] = value


def around(process: Process) -> Surroundings:
    """The surroundings of a process."""
    found: Surroundings = process.__dict__[PART]
    return found


Part(PART, around)
