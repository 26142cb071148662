"""Guards that cannot be asked, and arrivals that are refused: named, while all else goes on.

A search ends there, since it would claim too much. Somebody who looks at one state after the other
only needs to know which event it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from presage.errors import PresageError
from presage.execution.sandbox import Sandbox
from presage.model.service.blame import FORGIVE
from presage.model.world.event import Act, Event, Made
from presage.model.world.system import System


class Refusals:
    def __init__(self, sandbox: Sandbox, *, lists: bool) -> None:
        self._sandbox = sandbox
        self._lists = lists
        self.found: list[tuple[Any, PresageError]] = []

    def __call__(self, what: Any, error: PresageError) -> bool:
        """Take note; whether the event counts as one that can happen."""
        self._sandbox.error = None  # it would repeat what it has to say
        self.found.append((what, error))
        return self._lists

    def of(self, system: System, event: Event) -> PresageError | None:
        return next((error for what, error in self.found if _is_of(system, what, event)), None)


@contextmanager
def forgiving(sandbox: Sandbox, *, lists: bool) -> Iterator[Refusals]:
    """Go on where a guard cannot be asked; with `lists`, its event counts as possible."""
    refusals = Refusals(sandbox, lists=lists)
    token = FORGIVE.set(refusals)
    try:
        yield refusals
    finally:
        FORGIVE.reset(token)


def _is_of(system: System, what: Any, event: Event) -> bool:
    if not isinstance(what, tuple) or not isinstance(event, Act | Made):
        return what is event
    guard, (service, *args) = what
    if service.presage.name != event.node:
        return False
    automaton = system.automata[system.index(event.node)]
    if isinstance(event, Made):
        return any(call.when is guard for call in automaton.workload)
    action = automaton.shape.actions[event.name]
    if action.over is guard:
        return True
    return action.guard is guard and (not args or tuple(args) == event.args)
