"""The table that `presage status` prints: one line per node; of one node, its state.

Where nodes look ahead it also has how many violations were seen, and how many steps kept out.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any

from presage.ui.theme import Span, Theme, pad

COLUMNS = ("steps", "connections", "messages_queued", "datagrams_waiting", "timers_late", "life")
TITLES = ("steps", "peers", "queued", "waiting", "late", "life")
STEERING = {"ahead": ("predicted",), "kept out": ("filtered", "refused")}  # title -> counters
NUMBER_COLUMNS = 9
STATE_COLUMNS = 24


def render(nodes: Mapping[str, Mapping[str, Any]], theme: Theme) -> str:
    """The table, without a newline at its end."""
    names = max((len(name) for name in nodes), default=0) + 2
    steering = STEERING if any("steering" in facts for facts in nodes.values()) else {}
    numbers = "".join(title.rjust(NUMBER_COLUMNS) for title in (*TITLES, *steering))
    lines = [theme.line(Span(" " * (names + STATE_COLUMNS) + numbers, "dim"))]
    for name, facts in nodes.items():
        state, style = _state(facts)
        columns = [facts.get(each, "") for each in COLUMNS]
        counts = facts.get("steering", {})
        columns += [sum(counts.get(each, 0) for each in parts) for parts in steering.values()]
        values = "".join(str(each).rjust(NUMBER_COLUMNS) for each in columns)
        lines.append(
            theme.line(
                Span(pad(theme.clean(name), names), "node"),
                Span(pad(state, STATE_COLUMNS), style),
                Span(values),
            )
        )
        for field, value in facts.get("state", {}).items():
            lines += theme.wrap(f"  {theme.clean(field)} = ", theme.clean(value))
    return "\n".join(lines)


def _state(facts: Mapping[str, Any]) -> tuple[str, str]:
    if facts.get("running"):
        return f"runs, process {facts.get('pid', '')}", ""
    status = facts.get("status")
    if status is None:
        return "starts", "warn"
    if status == 0:
        return "ended", "warn"
    return f"ended, {signal.Signals(-status).name if status < 0 else f'status {status}'}", "bad"
