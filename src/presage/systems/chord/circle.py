"""The circle of identifiers. A node is named after its own: `n9` has the identifier 9.

Going round from a point back to itself is a whole circle, never nothing: a ring of one node owns
all there is. Distances are therefore 1 to SIZE, and intervals are compared by distance.
"""

from __future__ import annotations

BITS = 4  # of an identifier
SIZE = 1 << BITS
# Some pairs lie exactly a power of two apart: a finger then begins at a node.
IDENTIFIERS = (1, 5, 9, 14, 11)


def name_of(identifier: int) -> str:
    return f"n{identifier}"


def ident(node: str) -> int:
    return int(node[1:])


def ahead(start: int, point: int) -> int:
    """How far it is from `start` clockwise to `point`; a whole circle if they are the same."""
    return (point - start - 1) % SIZE + 1


def within(point: int, start: int, end: int) -> bool:
    """Whether `point` lies in [start, end), which is the whole circle if both are the same."""
    return (point - start) % SIZE < ahead(start, end)
