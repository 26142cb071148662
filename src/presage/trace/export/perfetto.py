"""For Perfetto and Chrome's tracing page: a thread per node, a slice per step, a flow per message.

Time is the number of the step: a trace has an order and no clock.
"""

from __future__ import annotations

from typing import Any

import msgspec

from presage.trace.causes import Causes
from presage.trace.flow import LOST
from presage.trace.trace import TraceStep

TICK, LENGTH = 1_000, 600  # microseconds from one step to the next, and of a slice


def perfetto(causes: Causes) -> str:
    """The trace as Chrome-trace JSON."""
    trace = causes.trace
    lanes = list(dict.fromkeys([*trace.nodes, *causes.lanes.values()]))
    threads = {lane: number for number, lane in enumerate(lanes, 1)}
    events: list[dict[str, Any]] = [_named("process_name", 0, trace.system)]
    for lane, thread in threads.items():
        events.append(_named("thread_name", thread, lane))
        events.append(_named("thread_sort_index", thread, thread, "sort_index"))
    for step in trace.steps:
        events.append(_slice(step, threads[causes.lanes[step.index]], step.index == trace.critical))
    number = 0
    for flights in causes.flow.sent.values():
        for flight in flights:
            if flight.step is None or not flight.sent or flight.fate == LOST:
                continue
            number += 1
            common = {"cat": "message", "name": flight.message[:80], "id": number, "pid": 1}
            ends = (("s", flight.sent), ("f", flight.step))
            for phase, at in ends:
                thread = threads[causes.lanes[at]]
                place = {"ph": phase, "ts": at * TICK + LENGTH // 2, "tid": thread, "bp": "e"}
                events.append(common | place)
    told = {"traceEvents": events, "displayTimeUnit": "ms", "otherData": {"property": trace.prop}}
    return msgspec.json.encode(told).decode()


def _named(what: str, thread: int, value: Any, key: str = "name") -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": 1, "tid": thread, "args": {key: value}}


def _slice(step: TraceStep, thread: int, critical: bool) -> dict[str, Any]:
    args: dict[str, Any] = {"step": step.index, "detail": step.detail, "changes": step.changes}
    if step.logs:
        args["log"] = list(step.logs)
    if step.failure is not None:
        args["raises"] = step.failure
    colour = {"cname": "terrible"} if critical else {}
    return {
        "ph": "X",
        "cat": step.kind,
        "name": ("critical: " if critical else "") + step.label,
        "pid": 1,
        "tid": thread,
        "ts": step.index * TICK,
        "dur": LENGTH,
        "args": args,
        **colour,
    }
