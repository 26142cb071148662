"""The circle of identifiers: numbers of three digits of base four. `n120` has 120, which is 24."""

from __future__ import annotations

from collections.abc import Iterable

BASE = 4
DIGITS = 3  # as many as a routing table has rows
SIZE: int = BASE**DIGITS
# In the order in which the nodes are taken; the first begins the ring. No two lie as far apart.
NAMES = ("n021", "n110", "n302", "n132", "n233")


def ident(node: str) -> int:
    return int(node[1:], BASE)


def name_of(identifier: int) -> str:
    """The node that has, or would have, that identifier."""
    digits = [identifier // BASE**place % BASE for place in reversed(range(DIGITS))]
    return "n" + "".join(map(str, digits))


def shared(a: str, b: str) -> int:
    """How many digits two nodes have in common, from the first."""
    pairs = zip(a[1:], b[1:], strict=True)
    return next((i for i, (x, y) in enumerate(pairs) if x != y), DIGITS)


def ahead(start: int, point: int) -> int:
    """How far it is from `start` clockwise to `point`."""
    return (point - start) % SIZE


def apart(a: int, b: int) -> int:
    """How far two points are apart, the shorter way."""
    return min(ahead(a, b), ahead(b, a))


def within(point: int, start: int, end: int) -> bool:
    """Whether `point` lies in [start, end), which is the whole circle if both are the same."""
    return ahead(start, point) < (ahead(start, end) or SIZE)


def halves(here: int, nodes: Iterable[str], half: int) -> tuple[list[str], list[str]]:
    """Of `nodes`, the nearest to the left and to the right of `here`, nearest first.

    At most `half` on each side, and nobody on both: a node too few is missing on the left.
    """
    clockwise = sorted(nodes, key=lambda node: ahead(here, ident(node)))
    count = len(clockwise)
    right = min(half, (count + 1) // 2)
    left = min(half, count - right)
    return clockwise[count - left :][::-1], clockwise[:right]
