"""What differs between two plain values, part by part, marked as added, modified or deleted.

Goes down into dicts (and so into records, sets and timers) by name, and into lists by aligning
them: an element put in at the front is one addition, not a modification of all the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from presage.records import NamedTuple
from presage.trace.plain import TYPE, Plain

ADDED, MODIFIED, DELETED = "A", "M", "D"
ALIGNED_MAX = 300  # elements; longer lists are compared by position

Path = tuple[str | int, ...]
Items = list[Plain] | tuple[Plain, ...]


class Change(NamedTuple):
    """One part that differs. Of an addition `before` is None, of a deletion `after`."""

    mark: str
    path: Path  # names of parts, and positions in lists (of a deleted element: where it was)
    before: Plain = None
    after: Plain = None


def diff(before: Plain, after: Plain) -> list[Change]:
    """Everything that differs, in the order of `after`."""
    return list(_diff(before, after, ()))


def same(one: Plain, other: Plain) -> bool:
    """Whether two plain values are equal; 1, 1.0 and True are not, though Python says so."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def _diff(before: Plain, after: Plain, path: Path) -> Iterator[Change]:
    if same(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        if before.get(TYPE) == after.get(TYPE):
            yield from _parts(before, after, path)
            return
    elif type(before) is type(after) and isinstance(before, list | tuple):
        yield from _elements(before, after, path)  # type: ignore[arg-type]
        return
    yield Change(MODIFIED, path, before, after)


def _parts(before: dict[str, Plain], after: dict[str, Plain], path: Path) -> Iterator[Change]:
    for name, value in before.items():
        if name not in after:
            yield Change(DELETED, (*path, name), before=value)
    for name, value in after.items():
        if name in before:
            yield from _diff(before[name], value, (*path, name))
        else:
            yield Change(ADDED, (*path, name), after=value)


def _elements(before: Items, after: Items, path: Path) -> Iterator[Change]:
    for tag, a, b, c, d in _aligned(before, after):
        if tag == "equal":
            continue
        paired = min(b - a, d - c)
        for offset in range(paired):
            yield from _diff(before[a + offset], after[c + offset], (*path, c + offset))
        for at in range(a + paired, b):
            yield Change(DELETED, (*path, at), before=before[at])
        for at in range(c + paired, d):
            yield Change(ADDED, (*path, at), after=after[at])


def _aligned(before: Items, after: Items) -> list[tuple[str, int, int, int, int]]:
    if max(len(before), len(after)) > ALIGNED_MAX:
        return [("replace", 0, len(before), 0, len(after))]
    old, new = list(map(repr, before)), list(map(repr, after))
    from difflib import SequenceMatcher  # which takes long to load

    matched = SequenceMatcher(None, old, new, autojunk=False)
    return list(matched.get_opcodes())
