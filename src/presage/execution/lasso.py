"""Go round a loop on live code: same states each time, the property never, everybody in turn.

A loop found on tables is believed only after live code has gone round it, every fingerprint has
come again, the property was asked in every state, and fairness was judged by what is enabled there.
"""

from __future__ import annotations

from typing import Protocol

from presage.errors import Diverged
from presage.execution.fairness import is_fair, unit_of
from presage.execution.sandbox import Sandbox
from presage.model.world.event import Event, Step
from presage.model.world.system import System
from presage.model.world.world import World


class Looping(Protocol):
    """An execution of services that has just gone round a loop."""

    system: System
    sandbox: Sandbox
    world: World
    steps: list[Step]

    def lacks(self) -> str | None:
        """Why the property does not hold here; None if it does."""


def endless(run: Looping, initial: int, loop: int, fairness: str, rounds: int) -> str | None:
    """Go round the steps of `run` from step `loop` on, which it has just taken once.

    Gives why the property never holds on the loop, None if it does or if the loop is not fair.
    Raises `Diverged` where a state is not the one it was before.
    """
    steps = run.steps[loop - 1 :]
    before = run.steps[loop - 2].fingerprint if loop > 1 else initial
    _same(run, before, f"the end of the loop (step {len(run.steps)})")
    enabled, taken = [], []
    why = ""
    for _ in range(rounds):
        for number, step in enumerate(steps, loop):
            verdict = run.lacks()
            if verdict is None:
                return None
            why = verdict
            events: list[Event] = run.sandbox.run(run.world.enabled)
            enabled.append([unit for event in events if (unit := unit_of(run.system, event))])
            taken.append(unit_of(run.system, step.event))
            run.sandbox.run(run.world.apply, step.event, tuple(k for k, _ in step.choices))
            _same(run, step.fingerprint, f"step {number} (`{step.event}`), taken once more,")
    return why if is_fair(fairness, enabled, [unit for unit in taken if unit]) else None


def _same(run: Looping, fingerprint: int, where: str) -> None:
    if run.world.fingerprint != fingerprint:
        raise Diverged(where, fingerprint, run.world.fingerprint)
