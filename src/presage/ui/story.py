"""A whole trace as text: every step with what it sent, recorded, logged and changed.

What `presage replay` prints. Nothing is folded: who replays a trace wants to see all of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from presage.search.report import Violation
from presage.trace.trace import Trace, TraceStep
from presage.ui.steps import Table, changes
from presage.ui.theme import Span, Theme
from presage.ui.violation import headline, marked_step, reason, remark


def render(trace: Trace, theme: Theme, *, message: str | None, rounds: int = 0) -> str:
    """The story of `trace`; `message` is why it violates its property now, None if it does not.

    `rounds` is how often its loop was gone round after the first time.
    """
    violation = violation_of(trace)
    live = trace.kind == "live"
    if live:
        lines = theme.wrap("", f"replay of a trace in which {trace.prop} {trace.message}")
    elif message is None:
        lines = theme.wrap("", f"replay of a trace in which {violation.fact}")
    else:
        lines = headline(violation, theme)
    lines.append("")
    table = Table.of(trace.steps, theme)
    for step in trace.steps:
        marked = message is not None and not live and step.index == marked_step(violation)
        lines.append(table.row(step, marked=marked, remark=remark(violation, step)))
        lines += effects(step, table)
    if trace.steps:
        lines.append("")
    count = f"{len(trace.steps):,} step{'' if len(trace.steps) == 1 else 's'}"
    if message is None:
        now = "does not hold after" if live else "is not violated by"
        lines += theme.wrap("not reproduced: ", f"{trace.prop} {now} the same {count}")
    else:
        violation.message = "" if live else message
        lines += reason(violation, theme)
        again = f", the loop {rounds} more time{'' if rounds == 1 else 's'}" if rounds else ""
        lines.append(f"reproduced: {count}{again}, every state the same")
    return "\n".join(lines)


def violation_of(trace: Trace) -> Violation:
    """The violation that `trace` tells of."""
    return Violation(
        prop=trace.prop,
        kind=trace.kind,
        message=trace.message,
        step=trace.step,
        steps=len(trace.steps),
        critical=trace.critical,
        loop=trace.loop,
        fairness=trace.fairness,
        dead=trace.dead,
        evidence=trace.evidence,
        walked=trace.walked,
        recovery=trace.recovery,
        trace=trace,
        source=trace.source,
        signature=trace.signature,
    )


def effects(step: TraceStep, table: Table) -> Iterator[str]:
    """What a step did, a line each, behind the columns of `table`."""
    theme, indent = table.theme, " " * table.indent
    shown = table.event(step)
    if shown and theme.clean(step.detail) not in shown and not step.detail.endswith("()"):
        yield theme.line(Span(f"{indent}{theme.clean(step.detail)}", "dim"))
    for sent in step.sends:
        text = f"{indent}sends {theme.clean(sent.message)} -> {theme.clean(sent.to)}"
        yield theme.line(Span(text, "dim"))
    for record in step.records:
        yield theme.line(Span(f"{indent}records {theme.clean(record)}", "dim"))
    for text in step.logs:
        yield theme.line(Span(f"{indent}logs {theme.clean(text)}", "dim"))
    yield from changes(step, indent, theme)
    if step.failure is not None:
        yield from theme.wrap(f"{indent}raises ", step.failure)
