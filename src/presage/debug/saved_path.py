"""The path of a reader through a live system, as a trace that can be saved, replayed and tested.

A path that breaks a property tells of that violation. One that breaks nothing tells that all went
well: its replay compares every state, and fails if a step raises.
"""

from __future__ import annotations

import msgspec

from presage.debug.explore import Explorer
from presage.execution.protocol import NO_EXCEPTION
from presage.trace.show import plural
from presage.trace.trace import Trace

KINDS = {NO_EXCEPTION: "exception", "no_deadlock": "deadlock", "no_leftovers": "unmatched"}
LATER = frozenset({"eventually", "sometimes"})  # that these do not hold yet breaks nothing


def kept(explorer: Explorer) -> Trace:
    """The execution that led to where the explorer is."""
    trace, scene = explorer.trace(), explorer.scenes[-1]
    trace = msgspec.structs.replace(
        trace, target=explorer.target, parameters=dict(explorer.parameters)
    )
    failing = [name for name, said in scene.verdicts.items() if said.holds is False]
    broken = next((name for name in failing if scene.verdicts[name].kind not in LATER), None)
    if broken is None:
        message = f"holds after {plural(len(trace.steps), 'step')}"
        return msgspec.structs.replace(trace, prop=NO_EXCEPTION, kind="live", message=message)
    kind = "deadlock" if scene.verdicts[broken].kind == "deadlock" else KINDS.get(broken, "safety")
    why = scene.verdicts[broken].why
    return msgspec.structs.replace(trace, prop=broken, kind=kind, message=why)
