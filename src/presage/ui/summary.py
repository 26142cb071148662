"""The last lines of a check, painted and wrapped; `search/summary.py` has the sentences."""

from __future__ import annotations

from presage.search.report import Report
from presage.search.summary import numbers, sentences, verdict
from presage.ui.theme import Span, Theme, cells

STYLES = {
    "assumes": "warn",
    "heuristic": "warn",
    "not alike": "warn",
    "known": "warn",
    "error": "bad",
    "order": "bad",
    "memory": "bad",
    "never ran": "warn",
    "never ran so far": "warn",
    "warning": "warn",
    "coverage": "dim",
    "not covered": "",
    "note": "dim",
}


def render(report: Report, theme: Theme) -> str:
    """The closing lines of `report`, without a newline at the end."""
    lines = [_headline(report, theme), *marks(report.properties, theme)]
    for lead, texts in sentences(report).items():
        lines += _wrapped(lead, texts, STYLES.get(lead, ""), theme)
    return "\n".join(lines)


def _headline(report: Report, theme: Theme) -> str:
    pieces = verdict(report)
    head = "".join(text for text, _ in pieces)
    joined = ", ".join(numbers(report))
    painted = "".join(theme.paint(text, style) for text, style in pieces)
    if len(head) + 2 + len(joined) <= theme.width:
        return f"{painted}  {joined}"
    return "\n".join([painted, *theme.wrap("  ", joined)])


def marks(properties: dict[str, str], theme: Theme) -> list[str]:
    """Every property with its mark, as many to a line as fit."""
    lines: list[str] = []
    row: list[Span] = []
    room = theme.width
    for name, status in properties.items():
        span = mark(name, status, theme)
        columns = cells(span.text) + 2
        if row and columns > room:
            lines.append(theme.line(*row))
            row, room = [], theme.width
        row.append(Span(f"  {span.text}", span.style))
        room -= columns
    return [*lines, theme.line(*row)] if row else lines


def mark(name: str, status: str, theme: Theme) -> Span:
    """A property's name with the sign of its status, understood without colour."""
    name = theme.clean(name)
    if status in ("held", "reached"):
        told = " reached" if status == "reached" else ""
        return Span(f"{theme.symbol('holds')} {name}{told}")
    if status == "violated":
        return Span(f"{theme.symbol('fails')} {name}", "bad")
    if status in ("unreached", "unknown"):
        told = "not reached" if status == "unreached" else "unknown"
        return Span(f"? {name} {told}", "warn")
    if status == "open":  # while the search is still running
        return Span(f"? {name}", "dim")
    return Span(f"! {name} {status}", "bad")


def _wrapped(lead: str, texts: list[str], style: str, theme: Theme) -> list[str]:
    lines = []
    for text in texts:
        lines += [theme.paint(line, style) for line in theme.wrap(f"  {lead}: ", text)]
    return lines
