"""The shortest way to keep many states: the first one, and what each step makes of it.

A patch is a list of `[path, value]`, to set a part, and `[path]`, to delete one. A path names the
parts of dicts and positions of lists; `[]` is the whole value.

Invariant: `same(apply(before, patch(before, after)), after)`, and `before` stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from presage.trace.diff import same
from presage.trace.plain import TYPE, Plain

Patch = list[list[Any]]


def patch(before: Plain, after: Plain) -> Patch:
    """What turns `before` into `after`."""
    return list(_changes(before, after, []))


def apply(value: Plain, changes: Patch) -> Plain:
    """`value` with `changes` made, sharing with it all that is not touched."""
    for path, *new in changes:
        value = _set(value, path, new)
    return value


def _changes(before: Plain, after: Plain, path: list[str | int]) -> Iterator[list[Any]]:
    if same(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict) and _alike(before, after):
        for name in before:
            if name not in after:
                yield [[*path, name]]
        for name, value in after.items():
            if name in before:
                yield from _changes(before[name], value, [*path, name])
            else:
                yield [[*path, name], value]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for at, value in enumerate(after):
            yield from _changes(before[at], value, [*path, at])
    else:
        yield [path, after]


def _alike(before: dict[str, Plain], after: dict[str, Plain]) -> bool:
    return before.get(TYPE) == after.get(TYPE)


def _set(value: Plain, path: list[Any], new: list[Any]) -> Plain:
    if not path:
        return new[0]  # type: ignore[no-any-return]
    first, *rest = path
    if isinstance(value, list):
        return [_set(each, rest, new) if at == first else each for at, each in enumerate(value)]
    assert isinstance(value, dict), "a patch was made for another value"
    if not rest and not new:
        return {name: each for name, each in value.items() if name != first}
    return value | {first: _set(value.get(first), rest, new)}
