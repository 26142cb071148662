"""Fewer steps, same violation.

Delta debugging over events (Zeller and Hildebrandt, 2002): leave out ever smaller pieces and keep
what still breaks the property. A step that cannot happen without one that was left out is left out
too, so most attempts are executions, not errors. Every attempt runs on live code.

Invariant: what is returned has been executed and breaks the same property.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from presage.errors import BadChoice, NotEnabled
from presage.model.event import Event
from presage.model.system import System
from presage.model.world import World
from presage.search.confirm import Confirmed, Run
from presage.search.watch import NOW, Watch

STEPS_MAX = 200_000  # live steps spent on one violation

Taken = tuple[Event, tuple[int, ...]]


def shrink(
    system: System, watch: Watch, confirmed: Confirmed, seconds: float | None = None
) -> tuple[Confirmed, bool]:
    """A shorter execution with the same violation, or `confirmed` itself; and whether there was
    time to try all."""
    spent = 0
    end = NOW() + (inf if seconds is None else seconds)
    best = confirmed
    size = max(len(best.steps) // 2, 1)
    while size:
        start, shorter = 0, False
        while start < len(best.steps) and spent < STEPS_MAX:
            if NOW() >= end:
                return best, False
            kept = _taken(best)
            attempt = _attempt(system, watch, best, kept[:start] + kept[start + size :])
            spent += len(kept)
            if attempt is not None and len(attempt.steps) < len(best.steps):
                best, shorter = attempt, True
            else:
                start += size
        # A piece that could not go may go now that others are gone: repeat at this size.
        if not (shorter and spent < STEPS_MAX):
            size //= 2
    return best, True


def _taken(confirmed: Confirmed) -> list[Taken]:
    return [(step.event, tuple(k for k, _ in step.choices)) for step in confirmed.steps]


def _attempt(
    system: System, watch: Watch, confirmed: Confirmed, events: Sequence[Taken]
) -> Confirmed | None:
    """Let what is possible of `events` happen, up to the first state that breaks the property."""
    world: World = watch.run(World.initial, system, confirmed.choices)
    run = Run(system, watch, world, confirmed.prop)
    why = run.verdict()
    for event, choices in events:
        if why is not None:
            break
        try:
            run.apply(event, choices)
        except (NotEnabled, BadChoice):
            continue
        why = run.verdict()
    if why is None:
        return None
    steps = tuple(run.steps)
    return Confirmed(confirmed.prop, why, confirmed.choices, confirmed.initial, steps)
