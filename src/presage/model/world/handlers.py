"""Which function of the user's code an event runs, and where it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from presage.model.source import place_of
from presage.model.world.event import (
    Act,
    Deliver,
    Event,
    Fire,
    Lost,
    Made,
    Receive,
    Reset,
    Restart,
    Save,
    SilentReset,
)
from presage.model.world.system import System


def handling(system: System, event: Event) -> Callable[..., Any] | None:
    """The function that `event` runs; None if it runs none."""
    if event.node not in system.indices:
        return None
    automaton = system.automata[system.index(event.node)]
    shape = automaton.shape
    match event:
        case Deliver() | Receive():
            handler = shape.handler(type(event.message))
            return handler.function if handler else None
        case Lost():
            return shape.broken[1] if shape.broken else None
        case Fire():
            return shape.timers[event.name].function
        case Act():
            return shape.actions[event.name].function
        case Made():
            function: Callable[..., Any] = getattr(automaton.service, event.name)
            return function
        case Save():
            return shape.written.function if shape.written else None
        case Restart() | Reset() | SilentReset():
            return automaton.service.start if shape.starts else None
    return None


def place_of_handler(system: System, event: Event) -> str:
    """`file:line` of the function that `event` runs; "" if it runs none."""
    function = handling(system, event)
    return place_of(function) if function is not None else ""
