"""Delta debugging: leave out ever smaller pieces, and keep what still does the same.

After Zeller and Hildebrandt, 2002. What is left can be smaller than what was asked for, since a
step that cannot happen without one that was left out is left out, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def minimize(
    items: Sequence[T],
    attempt: Callable[[Sequence[T]], Sequence[T] | None],
    go_on: Callable[[], bool],
) -> Sequence[T]:
    """The smallest part of `items` found for which `attempt` gives what it kept, not None.

    No single item can be left out of it, unless `go_on` said that it was enough.
    """
    best = items
    size = max(len(best) // 2, 1)
    while size and best and go_on():
        start, shorter = 0, False
        while start < len(best) and go_on():
            kept = attempt([*best[:start], *best[start + size :]])
            if kept is not None and len(kept) < len(best):
                best, shorter = kept, True
            else:
                start += size
        # A piece that could not go may go now that others are gone: repeat at this size.
        if not shorter:
            size //= 2
    return best
