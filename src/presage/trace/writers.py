"""Who wrote it: the step that gave a part of the state the value it has."""

from __future__ import annotations

from collections.abc import Sequence

from presage.trace.diff import Path, same
from presage.trace.plain import Plain


def writer(states: Sequence[Plain], step: int, path: Path) -> int:
    """The last step up to `step` that changed the part at `path`; 0: it is as it began.

    `states[i]` is the state after step i. A part inside an element of a list has no place of its
    own, since others come and go before it: ask for the list.
    """
    now = part(states[step], path)
    for at in range(step, 0, -1):
        before = part(states[at - 1], path)
        if not same(before, now):
            return at
        now = before
    return 0


def part(state: Plain, path: Path) -> Plain:
    """What is at `path`; None if nothing is."""
    for name in path:
        if isinstance(state, dict) and isinstance(name, str):
            state = state.get(name)
        elif isinstance(state, list | tuple) and isinstance(name, int) and name < len(state):
            state = state[name]
        else:
            return None
    return state
