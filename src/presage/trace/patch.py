"""From one state to the next: what `diff` found is also all that is needed to make it happen.

So many states take little room: the first one, and the changes of each step. A position in a list
means the old list for what was deleted, the new one for everything else; hence the order here:
outer parts before inner ones, and of one list first what goes, from its end, then what comes.

Invariant: `same(apply(before, diff(before, after)), after)`, and `before` stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable

from presage.trace.diff import ADDED, DELETED, Change
from presage.trace.plain import Plain


def apply(value: Plain, changes: Iterable[Change]) -> Plain:
    """`value` with `changes` made, sharing with it all that is not touched."""
    for change in sorted(changes, key=_order):
        value = _changed(value, change, 0)
    return value


def _order(change: Change) -> tuple[int, int, int]:
    last = change.path[-1] if change.path else 0
    at = last if isinstance(last, int) else 0
    if change.mark == DELETED:
        return (len(change.path), 0, -at)
    return (len(change.path), 1 if change.mark == ADDED else 2, at)


def _changed(value: Plain, change: Change, depth: int) -> Plain:
    if depth == len(change.path):
        return change.after
    name, last = change.path[depth], depth == len(change.path) - 1
    if isinstance(value, list | tuple) and isinstance(name, int):
        before, rest = list(value[:name]), list(value[name:])
        if last and change.mark == DELETED:
            made = before + rest[1:]
        elif last and change.mark == ADDED:
            made = [*before, change.after, *rest]
        else:
            made = [*before, _changed(rest[0], change, depth + 1), *rest[1:]]
        return made if isinstance(value, list) else tuple(made)
    assert isinstance(value, dict) and isinstance(name, str), "made for another value"
    if last and change.mark == DELETED:
        return {key: each for key, each in value.items() if key != name}
    return value | {name: _changed(value.get(name), change, depth + 1)}
