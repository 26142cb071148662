"""Every set of this process iterated backwards, on request: `iter`, and `pop` as well.

Only while steps are compared, since it changes the types `set` and `frozenset` themselves. Threads
that do not ask for it iterate sets as ever.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from presage._core import (
    goes_backwards,
    may_go_backwards,
    never_go_backwards,
    notice_methods,
)

_pop = set.pop


def allow() -> bool:
    """Let `presage._core.backwards` have its effect; False where that is not possible."""
    return may_go_backwards() and _replace_pop(_pop_backwards)


def forbid() -> None:
    """Make sets what they were."""
    _replace_pop(_pop)
    never_go_backwards()


def _replace_pop(function: Callable[..., Any]) -> bool:
    attributes = gc.get_referents(vars(set))[0]
    if not isinstance(attributes, dict) or "pop" not in attributes:
        return False
    attributes["pop"] = function
    notice_methods(set)
    return True


def _pop_backwards(self: set[Any], /) -> Any:
    if not self or not goes_backwards():
        return _pop(self)
    first = next(iter(self))
    self.remove(first)
    return first
