"""Native modules are loaded whole: a signal that comes meanwhile is answered when they are.

The code by which a native module starts may call Python, and not all of it expects an exception
from there. One that goes on without what it asked for loses the interrupt, and the process dies
when that is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader
from threading import get_ident
from types import FrameType
from typing import Any

LOADS = ("create_module", "exec_module")


class Whole:
    """A handler of signals that gives them to `answer`, though not while a native module loads."""

    def __init__(self, answer: Callable[[int, FrameType | None], None]) -> None:
        self._answer = answer
        self._thread = get_ident()  # where signals are answered
        self._depth = 0
        self._held: int | None = None
        for name in LOADS:
            setattr(ExtensionFileLoader, name, self._around(getattr(ExtensionFileLoader, name)))

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self._depth == 0:
            self._answer(number, frame)
        elif self._held is None:
            self._held = number

    def _around(self, load: Callable[..., Any]) -> Callable[..., Any]:
        def loading(*args: Any) -> Any:
            if get_ident() != self._thread:
                return load(*args)
            self._depth += 1
            try:
                return load(*args)
            finally:
                self._depth -= 1
                if self._depth == 0 and self._held is not None:
                    number, self._held = self._held, None
                    self._answer(number, None)

        return loading
