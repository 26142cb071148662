"""Every set of this process iterated backwards, on request: `iter`, and `pop` as well.

Only for a process that compares and ends: it changes the types `set` and `frozenset` themselves.
"""

from __future__ import annotations

import ctypes
import gc
from typing import Any

from presage._core import goes_backwards, may_go_backwards

_pop = set.pop


def allow() -> bool:
    """Let `presage._core.backwards` have its effect; False where that is not possible."""
    if not may_go_backwards():
        return False
    attributes = gc.get_referents(vars(set))[0]
    if not isinstance(attributes, dict) or "pop" not in attributes:
        return False
    attributes["pop"] = _pop_backwards
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(set))
    return True


def _pop_backwards(self: set[Any], /) -> Any:
    if not self or not goes_backwards():
        return _pop(self)
    first = next(iter(self))
    self.remove(first)
    return first
