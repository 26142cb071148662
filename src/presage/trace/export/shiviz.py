"""For ShiViz: a log with vector clocks, after the two lines that say how to read it.

The first line is the regular expression that finds events, the second, empty, the one that would
separate several executions; https://bestchai.bitbucket.io/shiviz/ takes such a file as it is.
"""

from __future__ import annotations

import re

import msgspec

from presage.trace.causes import Causes
from presage.trace.trace import TraceStep

EXPRESSION = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})"


def shiviz(causes: Causes) -> str:
    """The log of a trace: two lines an event, what happened, then where and the vector clock."""
    lines = [EXPRESSION, ""]
    for step in causes.trace.steps:
        clock = {_host(lane): count for lane, count in causes.clocks[step.index].items()}
        told = msgspec.json.encode(clock).decode()
        lines += [_event(causes, step), f"{_host(causes.lanes[step.index])} {told}"]
    return "\n".join(lines) + "\n"


def _host(lane: str) -> str:
    return re.sub(r"\s", "_", lane) or "_"


def _event(causes: Causes, step: TraceStep) -> str:
    kind = "" if step.kind == step.label else f"{step.kind} "
    mark = ", critical transition" if step.index == causes.trace.critical else ""
    return re.sub(r"\s+", " ", f"{step.index} {kind}{step.label}{mark}")
