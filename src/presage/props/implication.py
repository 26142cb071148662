"""`implies`: a claim with a condition, which says whether the condition was ever met.

A claim whose condition is never true holds without saying anything. Whoever judges properties
collects under `CONDITIONS` where `implies` was called, and whether its left side was true there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from presage.errors import PropertyError
from presage.model.source import frame_place
from presage.props.property import HOLDS, Verdict

# Where `implies` was called, and whether its left side was ever true there; None: nobody asks.
CONDITIONS: ContextVar[dict[str, bool] | None] = ContextVar("conditions", default=None)

Side = bool | Verdict


def implies(left: Side, right: Side | Callable[[], Side]) -> Verdict:
    """If `left` is true, so is `right`; a function as `right` is only called if `left` is true.

    A check whose `left` was true in no world that it came to says so.
    """
    condition = _truth("left", left)
    met = CONDITIONS.get()
    if met is not None:
        place = frame_place(sys._getframe(1))
        met[place] = met.get(place, False) or condition
    if not condition:
        return HOLDS
    answer = right() if callable(right) else right
    if _truth("right", answer):
        return HOLDS
    why = answer.why if isinstance(answer, Verdict) else ""
    return Verdict.fails(
        why or "the left side of an implication holds, and its right side does not"
    )


def _truth(side: str, value: Any) -> bool:
    if isinstance(value, bool | Verdict):
        return bool(value)
    raise PropertyError(
        f"{frame_place(sys._getframe(2))}: the {side} side of `implies` is {value!r}",
        "a value meant to be tested, or a function that lacks a `return`",
        "give a bool or a `Verdict`; as the right side, a function without parameters may be"
        " given, too",
    )
