"""A whole trace as text: every step with what it sent, recorded, logged and changed.

What `presage replay` prints. Nothing is folded: who replays a trace wants to see all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from presage.search.report import Violation
from presage.trace.labels import body_and_ends
from presage.trace.show import plural
from presage.trace.trace import ORDINARY, Trace, TraceStep
from presage.ui.steps import Table, changes
from presage.ui.theme import Theme
from presage.ui.violation import headline, marked_step, reason, remark

# What a violation and its trace have in common.
SHARED = {each.name for each in fields(Violation)} & {*Trace.__struct_fields__} - {"steps", "live"}
CHANGE_LINES_MAX = 4  # of one field


def render(trace: Trace, theme: Theme, *, message: str | None, rounds: int = 0) -> str:
    """The story of `trace`; `message` is why it violates its property now, None if it does not.

    `rounds` is how often its loop was gone round after the first time.
    """
    violation = violation_of(trace)
    live = trace.kind == "live"
    if trace.prop == ORDINARY:
        lines = theme.wrap("", f"replay of an ordinary run: {trace.message}")
    elif live:
        lines = theme.wrap("", f"replay of a trace in which {trace.prop} {trace.message}")
    elif message is None:
        lines = theme.wrap("", f"replay of a trace in which {violation.fact}")
    else:
        lines = headline(violation, theme)
    broken = message is not None and not live
    lines += ["", *told(trace, theme, marked=marked_step(violation) if broken else None)]
    count = plural(len(trace.steps), "step")
    if message is None:
        now = "does not hold after" if live else "is not violated by"
        lines += theme.wrap("not reproduced: ", f"{trace.prop} {now} the same {count}")
    else:
        lines += reason(replace(violation, message="" if live else message), theme)
        again = f", the loop {plural(rounds, 'more time')}" if rounds else ""
        lines.append(f"reproduced: {count}{again}, every state the same")
    return "\n".join(lines)


def told(trace: Trace, theme: Theme, *, marked: int | None) -> Iterator[str]:
    """Every step with what it did, and then an empty line."""
    violation, table = violation_of(trace), Table.of(trace.steps, theme)
    for step in trace.steps:
        yield from table.rows(step, marked=step.index == marked, remark=remark(violation, step))
        yield from effects(step, table)
    if trace.steps:
        yield ""


def violation_of(trace: Trace) -> Violation:
    """The violation that `trace` tells of."""
    facts = {name: getattr(trace, name) for name in SHARED}
    return Violation(steps=len(trace.steps), trace=trace, **facts)


def effects(step: TraceStep, table: Table) -> Iterator[str]:
    """What a step did, a line each, behind the columns of `table`."""
    theme, indent = table.theme, " " * table.indent

    def dim(lead: str, text: str) -> Iterator[str]:
        for line in theme.wrap(indent + lead, text):
            yield theme.paint(line, "dim")

    shown, (body, _) = table.event(step), body_and_ends(step)
    told_below = step.source is None and any(sent.message in body for sent in step.sends)
    if shown and theme.clean(body) not in shown and not told_below:
        yield from dim("", body)
    for sent in step.sends:
        yield from dim("sends ", f"{sent.message} -> {sent.to}")
    for record in step.records:
        yield from dim("records ", record)
    for text in step.logs:
        yield from dim("logs ", text)
    yield from changes(step, indent, theme, wrapped=CHANGE_LINES_MAX)
    if step.failure is not None:
        yield from theme.wrap(f"{indent}raises ", step.failure)
