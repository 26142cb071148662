"""What clients asked and were answered when, read off the states of an observer of histories.

An operation lasts from the step after which it is in flight to the step after which it is
answered; the page draws it as an interval of its client.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.execution.frames import Frame
from presage.trace.plain import TYPE, Plain, shortened, text_of

HISTORY = "History"
OPERATIONS_MAX = 2_000  # of one observer


def histories(scenes: Sequence[Frame], between: str) -> list[dict[str, Any]]:
    """Each observer that keeps a history: its name, and the operations of its clients."""
    observers = _observers(scenes[-1], between)
    return [
        {"name": name, "clients": _clients(scenes, between, name)}
        for name, state in observers.items()
        if isinstance(state, dict) and state.get(TYPE) == HISTORY and "clients" in state
    ]


def _clients(scenes: Sequence[Frame], between: str, observer: str) -> list[dict[str, Any]]:
    found: dict[str, list[dict[str, Any]]] = {}
    before: Plain = None
    for scene in scenes:
        state = _observers(scene, between).get(observer)
        if state is before:
            continue
        before = state
        for client in _parts(state, "clients"):
            name, done = str(_part(client, "name")), _parts(client, "done")
            operations = found.setdefault(name, [])
            pending = _part(client, "pending")
            for at, each in enumerate([*done, *([] if pending is None else [pending])]):
                if at == len(operations) < OPERATIONS_MAX:
                    op = shortened(text_of(_part(each, "op")))
                    operations.append({"op": op, "result": None, "from": scene.index, "to": None})
                if at < min(len(done), len(operations)) and operations[at]["to"] is None:
                    result = shortened(text_of(_part(each, "result")))
                    operations[at] |= {"result": result, "to": scene.index}
    return [{"name": name, "ops": operations} for name, operations in found.items()]


def _observers(scene: Frame, between: str) -> dict[str, Plain]:
    observers = _part(scene.state[between], "observers")
    return observers if isinstance(observers, dict) else {}


def _part(value: Plain, name: str) -> Plain:
    return value.get(name) if isinstance(value, dict) else None


def _parts(value: Plain, name: str) -> list[Plain]:
    part = _part(value, name)
    return list(part) if isinstance(part, list | tuple) else []
