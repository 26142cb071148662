"""A part of a search that is divided: which executions are its own.

An execution depends on the seed and on its number alone. So a part is a range of numbers, and a
hunt besides takes every so-manieth end of its systematic executions. A part of a tree of executions
is what lies below a node. Parts do not depend on where and in which order they are done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct


class Part(Struct, frozen=True):
    """A range of executions; `share` of `shares` of those that have no number."""

    first: int = 0
    walks: int | None = None  # None: as many as time allows
    share: int = 0
    shares: int = 1
    # Searches in place of this process's kernel, for states that are shared by others: is given
    # the kernel, the limits and what is learned beside the states; gives an outcome.
    elsewhere: Callable[..., Any] | None = None
    # Of a tree of executions, all below one node; at most `walks` of them.
    below: bytes | None = None
    is_whole: bool = True  # else what `elsewhere` gives is not all there is

    def halves(self) -> tuple[Part, ...]:
        """Two parts that together are this one; () where it cannot be divided."""
        if self.below is not None or self.walks is None or self.walks < 2:
            return ()
        less = self.walks // 2
        shares = 2 * self.shares
        return (
            Part(self.first, less, self.share, shares),
            Part(self.first + less, self.walks - less, self.share + self.shares, shares),
        )


WHOLE = Part()
