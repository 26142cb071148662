"""What is said of several systems: what became of each, how far a sweep came, what broke."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from presage.search.report import Report
from presage.search.summary import numbers, verdict
from presage.search.sweep import Item, causes, frontier
from presage.ui.theme import Span, Theme, cells, pad

STYLES = {"violated": "bad", "error": "bad", "cut": "warn", "untried": "dim"}
WHERE_MAX = 3  # items that a cause is named with
MARKS = {"exhausted": "holds", "violated": "fails"}


def render(items: Sequence[Item], theme: Theme) -> str:
    """The closing lines of a sweep, or of a folder, without a newline at the end."""
    columns = max(cells(item.name) for item in items) + 2
    lines = [line for item in items for line in _item(item, columns, theme)]
    for (prop, cause), where in causes(items).items():
        named = ", ".join(item.name for item in where[:WHERE_MAX])
        more = f" and {len(where) - WHERE_MAX} more" if len(where) > WHERE_MAX else ""
        said = cause if cause != prop else "broken"
        text = f"{prop}: {said}; at {named}{more}"
        lines += [theme.paint(line, "bad") for line in theme.wrap("  cause: ", text)]
    for lead, text in _reached(items):
        lines += theme.wrap(f"  {lead}: ", text)
    return "\n".join(lines)


def _item(item: Item, columns: int, theme: Theme) -> Iterator[str]:
    style = STYLES.get(item.status, "")
    mark = theme.symbol(MARKS[item.status]) if item.status in MARKS else "?"
    lead = f"{mark} {pad(item.name, columns)}"
    first, *rest = theme.wrap(lead, _said(item))
    yield theme.line(Span(lead, style or "strong"), Span(first[len(lead) :], style))
    yield from rest


def _said(item: Item) -> str:
    if item.report is None:
        return f"{'failed' if item.error else 'not tried'}: {item.reason}"
    head = "".join(text for text, _ in verdict(item.report))
    cut = f", cut by {item.reason}" if item.status == "cut" and item.reason else ""
    return f"{head}{cut}  {', '.join(_numbers(item.report))}"


def _numbers(report: Report) -> list[str]:
    return [text for text in numbers(report) if not text.startswith("seed")]


def _reached(items: Sequence[Item]) -> Iterator[tuple[str, str]]:
    """How far a sweep came: what was searched whole, and what was not."""
    if not any(item.place for item in items):
        return
    largest = "; ".join(item.name for item in frontier(items))
    yield "exhausted up to", largest or "nothing: no size was searched whole"
    for status, lead in (("cut", "cut"), ("untried", "not tried")):
        names = [item.name for item in items if item.status == status]
        if names:
            yield lead, "; ".join(names)
