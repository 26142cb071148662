"""A violation as text, in the manner of a compiler's diagnostic.

The first line stands alone; the arrow points at the user's code; the table ends at the bad step
and folds what is far from it, saying how much; then why, what the step changed, and the command
that replays it. Never more than `LINES_MAX` lines: a violation fits on one screen.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from presage.search.report import Violation
from presage.trace.show import plural
from presage.trace.trace import Trace, TraceStep
from presage.ui.steps import Table, changes
from presage.ui.theme import Span, Theme, cells

LINES_MAX = 24
WHY_LINES_MAX = 4
CHANGE_LINES_MAX = 6
ROWS_AFTER = 2  # shown behind a critical step, to see how it goes on


def render(
    violation: Violation, theme: Theme, more: Callable[[Violation], str] | None = None
) -> str:
    """The text of `violation`, without a newline at its end.

    `more` explains it, if it likes; that is told only where there is room on the screen.
    """
    above = headline(violation, theme)
    below = [*reason(violation, theme), *_changed(violation, theme), *_help(violation, theme)]
    below = [*_explained(violation, theme, more, LINES_MAX - len(above + below)), *below]
    table: list[str] = []
    if violation.trace and violation.trace.steps:
        blanks = 2
        table = _table(violation, violation.trace, theme, LINES_MAX - len(above + below) - blanks)
    parts = [part for part in (above, table, below) if part]
    if not table:
        parts = [above + below]
    return "\n\n".join("\n".join(part) for part in parts)


def _explained(
    violation: Violation, theme: Theme, more: Callable[[Violation], str] | None, room: int
) -> list[str]:
    if more is None or violation.trace is None or len(violation.trace.steps) + 4 > room:
        return []
    text = more(violation)
    return theme.wrap("   = in short: ", text, lines_max=2) if text else []


def headline(violation: Violation, theme: Theme) -> list[str]:
    """What broke, and where the property is written."""
    head = f"violation[{violation.kind}]"
    lines = [theme.line(Span(head, "bad"), Span(f" {theme.clean(violation.fact)}", "strong"))]
    if violation.source:
        signature = f"   {theme.clean(violation.signature)}" if violation.signature else ""
        place = f" {theme.clean(violation.source)}"
        if cells("  -->" + place + signature) > theme.width:  # the place finds it
            signature = ""
        lines.append(theme.line(Span("  -->", "dim"), Span(place), Span(signature, "dim")))
    return lines


def assumptions(trace: Trace | None, theme: Theme) -> list[str]:
    """The seals of the system that an execution belongs to."""
    seals = [text for lead, text in (trace.remarks if trace else ()) if lead == "assumes"]
    return theme.wrap("   = assumes: ", "; ".join(seals), lines_max=2) if seals else []


def reason(violation: Violation, theme: Theme) -> list[str]:
    """Why the property does not hold, in its own words, and on what evidence."""
    lines = []
    if violation.message:
        lines = theme.wrap("   = why: ", violation.message, lines_max=WHY_LINES_MAX)
    lines += assumptions(violation.trace, theme)
    if violation.loop is not None:
        text = f"repeats from step {violation.loop}, fairness assumed: {violation.fairness}"
        lines += theme.wrap("   = loop: ", text, lines_max=2)
    if violation.dead and violation.evidence and not violation.evidence.startswith("exact"):
        # Walks are all that is known: nothing stronger is said of it.
        lines += theme.wrap("   = dead end: ", violation.evidence, lines_max=3)
    else:
        if violation.outlook:
            lines += theme.wrap("   = ", violation.outlook, lines_max=2)
        if violation.evidence not in ("", "exact"):
            lines += theme.wrap("   = evidence: ", violation.evidence, lines_max=3)
    if violation.live is not None:
        lead = f"   = nearest {nearest(violation)}: "
        lines += theme.wrap(lead, parting(violation), lines_max=3)
    return lines


def nearest(violation: Violation) -> str:
    """What the execution nearest to a violation is called that comes right."""
    return "live path" if violation.kind == "liveness" else "good run"


def parting(violation: Violation) -> str:
    """Where the nearest execution that comes right goes another way, and what comes of it."""
    assert violation.trace is not None and violation.live is not None
    steps, live, at = violation.trace.steps, violation.live.steps, violation.differs_at
    assert at is not None
    alike = at <= min(len(steps), len(live)) and steps[at - 1].label == live[at - 1].label
    if violation.kind != "liveness":
        return _decides(violation, at, alike)
    recovered = f"recovers at step {len(live):,}"
    if at > len(live):
        return recovered
    return f"step {at} is {_named(live[at - 1], alike)} instead; {recovered}"


def _decides(violation: Violation, at: int, alike: bool) -> str:
    """Which step decides that a safety property breaks, and on what evidence."""
    assert violation.trace is not None and violation.live is not None
    steps, live = violation.trace.steps, violation.live
    if at > len(steps):
        text = f"after its last step, {_named(live.steps[at - 1], alike)} and it {live.message}"
        return text if live.evidence == "exact" else f"{text}; {live.evidence}"
    bad = _named(steps[at - 1], alike)
    if at > len(live.steps):
        text = f"step {at} decides: without {bad} nothing more happens, and it holds"
    else:
        good = _named(live.steps[at - 1], alike)
        text = f"step {at} decides: after {good} instead of {bad} it {live.message}"
    return text if live.evidence == "exact" else f"{text}; {live.evidence}"


def _named(step: TraceStep, in_full: bool) -> str:
    """A step in a few words; a message with its content if its name alone could be another's."""
    if step.source is None:
        label = "" if step.label == step.kind else f" {step.label}"
        return f"{step.kind}{label} at {step.node}"
    if not in_full or not step.detail:
        return f"{step.kind} {step.label}"
    return f"{step.kind} {step.detail} {step.source} -> {step.node}"


def _table(violation: Violation, trace: Trace, theme: Theme, rows_max: int) -> list[str]:
    steps = trace.steps
    focus = violation.critical or violation.step
    last = min(len(steps), focus + ROWS_AFTER if violation.critical else max(focus, 1))
    if violation.loop is not None:
        listed = len(steps) + 1 - min(violation.critical or violation.loop, violation.loop)
        if listed < rows_max or len(steps) <= rows_max:  # with a row for those before
            last = len(steps)
    behind = len(steps) - last
    room = rows_max - (1 if behind else 0)
    first = 1 if last <= room else last - (room - 1) + 1
    table = Table.of(steps[first - 1 : last], theme)
    rows = [table.fold(f"{plural(first - 1, 'step')} before")] if first > 1 else []
    for step in steps[first - 1 : last]:
        marked = step.index == marked_step(violation)
        rows.append(table.row(step, marked=marked, remark=remark(violation, step)))
    if behind:
        rows.append(table.fold(f"{plural(behind, 'step')} after"))
    return rows


def marked_step(violation: Violation) -> int | None:
    """The step that the violation is about; None if no step is more to blame than the others."""
    if violation.critical is not None:
        return violation.critical or None  # 0: it was dead from the start
    endless = violation.loop is not None or violation.walked is not None
    return None if endless else violation.step


def remark(violation: Violation, step: TraceStep) -> str:
    """What else there is to say of one step of a violation."""
    remarks = {"critical transition": violation.critical, "repeats from here": violation.loop}
    shares = [
        f"{recovered / walks:.0%} recover"
        for index, recovered, walks in violation.recovery
        if index == step.index
    ]
    return ", ".join(shares + [text for text, index in remarks.items() if index == step.index])


def _changed(violation: Violation, theme: Theme) -> list[str]:
    """The state diff of the bad step; a step that changed nothing is often the bug itself."""
    trace = violation.trace
    number = marked_step(violation) or 0
    if not trace or not 1 <= number <= len(trace.steps) or violation.kind == "deadlock":
        return []
    step = trace.steps[number - 1]
    if step.failure is not None:  # a failed node keeps its fields; `why` says what was raised
        return []
    lead = "   = changed: "
    lines = changes(step, lead, theme, lines_max=CHANGE_LINES_MAX)
    if trace.door == "process":  # what it has in its variables, nobody knows
        return lines
    return lines or [theme.line(Span(lead), Span(f"step {step.index} changed no field", "warn"))]


def _help(violation: Violation, theme: Theme) -> list[str]:
    if violation.trace_path is None:
        return []
    command = f"   = help: presage replay {shlex.quote(violation.trace_path)}"
    if violation.trace and violation.trace.target is None:
        command += " --target TARGET"
    lines = [(command, "      same steps, same states")]
    path = shlex.quote(violation.trace_path)
    lines.append((f"           presage debug {path}", "      step through it, try other events"))
    lines.append((f"           presage graph {path}", "      who sent what to whom"))
    page = f"      writes {Path(violation.trace_path).stem}.html"
    lines.append((f"           presage report {path}", page))
    if violation.live_path is not None:
        path = shlex.quote(violation.live_path)
        name = nearest(violation)
        lead = "live" if name == "live path" else "good"
        lines.append((f"   = {lead}: presage graph {path}", f"      the nearest {name}"))
    # A command is never cut: it is there to be copied.
    return [
        command + (remark if len(command + remark) <= theme.width else "")
        for command, remark in lines
    ]
