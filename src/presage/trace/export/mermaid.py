"""For Mermaid: a sequence diagram, to paste where Markdown is shown.

An arrow stands where its message is handled. Mermaid draws neither thousands of steps nor long
texts, so a long trace is cut around the step that matters, and the diagram says so.
"""

from __future__ import annotations

import re

from presage.trace.causes import Causes
from presage.trace.trace import TraceStep

BEFORE, AFTER = 80, 20  # steps drawn around the one that matters
TEXT_MAX = 80
ARROWS = {"deliver": "->>", "receive": "->>", "drop": "--x", "duplicate": "-->>"}
KEYWORD = re.compile(r"\bend\b", re.IGNORECASE)


def mermaid(causes: Causes, focus: int) -> str:
    """The trace around step `focus` as a sequence diagram."""
    trace = causes.trace
    lanes = list(dict.fromkeys([*trace.nodes, *causes.lanes.values()]))
    names = {lane: f"p{number}" for number, lane in enumerate(lanes)}
    lines = ["sequenceDiagram"]
    lines += [f"    participant {name} as {_text(lane)}" for lane, name in names.items()]
    everyone = f"Note over {names[lanes[0]]},{names[lanes[-1]]}: " if lanes else ""
    first, last = max(1, focus - BEFORE), min(len(trace.steps), focus + AFTER)
    if first > 1:
        lines.append(f"    {everyone}{first - 1} steps before")
    for step in trace.steps[first - 1 : last]:
        told = _told(step, names, names[causes.lanes[step.index]])
        if step.index == trace.critical:
            told = ["rect rgba(194, 54, 31, 0.2)", f"    {told[0]}", *told[1:], "end"]
        lines += [f"    {line}" for line in told]
        if step.index == trace.loop:
            lines.append(f"    {everyone}repeats for ever from step {step.index}")
    if last < len(trace.steps):
        lines.append(f"    {everyone}{len(trace.steps) - last} steps after")
    return "\n".join(lines) + "\n"


def _told(step: TraceStep, names: dict[str, str], lane: str) -> list[str]:
    kind = "" if step.kind == step.label else f"{step.kind} "
    if step.source is not None and step.kind in ARROWS:
        arrow = f"{names[step.source]}{ARROWS[step.kind]}{names[step.node]}"
        lines = [f"{arrow}: {step.index} {_text(step.label.partition(' ')[0])}"]
        if step.kind not in ("deliver", "receive"):
            lines[0] += f" ({step.kind})"
    else:
        lines = [f"Note over {lane}: {step.index} {kind}{_text(step.label)}"]
    if step.failure is not None:
        lines.append(f"Note over {lane}: raises {_text(step.failure)}")
    return lines


def _text(text: str) -> str:
    """`text` without anything that Mermaid would read as its own."""
    short = text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 3] + "..."
    plain = KEYWORD.sub(lambda match: f"{match[0][0]}#8203;{match[0][1:]}", _escaped(short))
    return plain.strip() or "#8203;"


def _escaped(text: str) -> str:
    # Everything but the harmless is written as the number of its character.
    return "".join(
        each if each.isalnum() or each in " _.,()[]='>-+*/!" else f"#{ord(each)};" for each in text
    )
