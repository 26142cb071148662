"""For TLA+ tools: the states in Apalache's Informal Trace Format.

One variable a node, one for what is between them, and `action`, which names the step that led to
the state. Values that TLA+ has no notion of (fractions, None) are told as `#unserializable`.
https://apalache-mc.org/docs/adr/015adr-trace.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from presage.trace.plain import SET, TYPE, Plain
from presage.trace.trace import Trace

ACTION = "action"


def itf(trace: Trace, states: Sequence[dict[str, Plain]]) -> str:
    """The trace as ITF; `states[i]` is the state after step i."""
    action = ACTION if ACTION not in states[0] else f"({ACTION})"
    told: dict[str, Any] = {
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "source": trace.target or trace.system,
            "description": f"presage: {trace.prop}: {trace.message}",
        },
        "vars": [*states[0], action],
        "states": [
            {"#meta": {"index": index}}
            | {name: _record(value) for name, value in state.items()}
            | {action: _action(trace, index)}
            for index, state in enumerate(states)
        ],
    }
    if trace.loop is not None:
        told["loop"] = trace.loop - 1
    return msgspec.json.encode(told).decode()


def _record(value: Plain) -> Any:
    """What a node, or the network, is made of: always the same names, so a record."""
    assert isinstance(value, dict), "a state is made of dicts"
    return {name: expression(each) for name, each in value.items()}


def expression(value: Plain) -> Any:
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return {"#bigint": str(value)}
    if isinstance(value, list | tuple):
        return [expression(each) for each in value]
    if not isinstance(value, dict):
        return {"#unserializable": repr(value)}
    parts = {name: expression(each) for name, each in value.items() if name != TYPE}
    kind = value.get(TYPE)
    if kind == SET:
        return {"#set": list(parts.values())}
    if kind is None:
        return {"#map": [[name, each] for name, each in parts.items()]}
    if not parts and kind not in ("timers", "messages", "streams"):
        return {"#unserializable": str(kind)}
    if all(name.isidentifier() for name in parts) and parts:
        return parts
    return {"#map": [[name, each] for name, each in parts.items()]}


def _action(trace: Trace, index: int) -> str:
    if index == 0:
        return "start"
    step = trace.steps[index - 1]
    return f"{step.node} {step.kind} {step.label}"
