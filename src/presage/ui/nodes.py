"""The table that `presage status` prints: one line per node; of one node, its state.

Where nodes look ahead it also has how many violations were seen, and how many steps kept out.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from typing import Any

from presage.ui.theme import Span, Theme, pad

COLUMNS = ("steps", "connections", "messages_queued", "datagrams_waiting", "timers_late", "life")
TITLES = ("steps", "peers", "queued", "waiting", "late", "life")
STEERING = {"ahead": ("predicted",), "kept out": ("filtered", "refused")}  # title -> counters
GAP = 2  # columns between two of them, where they fit; else 1


def render(nodes: Mapping[str, Mapping[str, Any]], theme: Theme) -> str:
    """The table, without a newline at its end."""
    steering = STEERING if any("steering" in facts for facts in nodes.values()) else {}
    rows = [_numbers(facts, steering) for facts in nodes.values()]
    states = [_state(facts) for facts in nodes.values()]
    names = max((len(theme.clean(name)) for name in nodes), default=0) + GAP
    room = max((len(state) for state, _ in states), default=0)
    titles = (*TITLES, *steering)
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    fits = names + room + sum(widths) + GAP * len(widths) <= theme.width
    widths = [width + (GAP if fits else 1) for width in widths]
    lines = [theme.line(Span(" " * (names + room) + _row(titles, widths), "dim"))]
    for (name, facts), (state, style), row in zip(nodes.items(), states, rows, strict=True):
        lines.append(
            theme.line(
                Span(pad(theme.clean(name), names), "node"),
                Span(pad(state, room), style),
                Span(_row(row, widths)),
            )
        )
        for field, value in facts.get("state", {}).items():
            lines += theme.wrap(f"  {theme.clean(field)} = ", theme.clean(value))
    return "\n".join(lines)


def _numbers(facts: Mapping[str, Any], steering: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The numbers of one node, as text."""
    counts = facts.get("steering", {})
    kept = [sum(counts.get(each, 0) for each in parts) for parts in steering.values()]
    return [str(each) for each in (*(facts.get(name, "") for name in COLUMNS), *kept)]


def _row(texts: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(text.rjust(width) for text, width in zip(texts, widths, strict=True))


def _state(facts: Mapping[str, Any]) -> tuple[str, str]:
    if facts.get("running"):
        silent = "steps" not in facts
        return f"{'silent' if silent else 'runs'}, process {facts.get('pid', '')}", "warn" * silent
    status = facts.get("status")
    if status is None:
        return "starts", "warn"
    if status == 0:
        return "ended", "warn"
    return f"ended, {signal.Signals(-status).name if status < 0 else f'status {status}'}", "bad"
