"""The report page: its template, style and scripts, with the data of one trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from presage.ui.page.assemble import Part, assembled, embedded

HERE = "presage.ui.page"
# One idea a file, put together in this order.
SCRIPTS = tuple(
    f"{name}.js"
    for name in (
        *("text", "view", "state", "layout", "diagram"),
        *("inspector", "panels", "explore", "page"),
    )
)
LOUD = (
    "assumes",
    "order",
    "error",
    "warning",
)  # how remarks begin that make a finding worth less, or more
LOUDLY = ' class="loud"'


def render(data: dict[str, Any]) -> str:
    """The page that shows `data`, as `page_data` makes it."""
    return assembled(
        Part(HERE, "page.html"),
        [Part(HERE, "page.css")],
        [Part(HERE, name) for name in SCRIPTS],
        "form-action 'self'" if "explore" in data else "form-action 'none'",
        {
            "TITLE": escape(f"{data['title']}: {data['fact']}"),
            "SEARCH": _remarks(data.get("remarks", ())) + _coverage(data.get("coverage", "")),
            "DATA": embedded(data),
        },
    )


def _remarks(remarks: Iterable[Sequence[str]]) -> str:
    """What is to know of the search; unfolded where something of it needs attention."""
    told = list(remarks)
    if not told:
        return ""
    loud = any(lead in LOUD for lead, _ in told)
    rows = "".join(
        f"<li{LOUDLY if lead in LOUD else ''}><b>{escape(lead)}</b> {escape(text)}</li>"
        for lead, text in told
    )
    about = f"About the search ({len(told)})"
    return (
        f'<details id="remarks"{" open" if loud else ""}><summary>{about}</summary>'
        f"<ul>{rows}</ul></details>"
    )


def _coverage(text: str) -> str:
    """What the search covered, to be unfolded."""
    if not text:
        return ""
    return f'<details id="coverage"><summary>Coverage</summary><pre>{escape(text)}</pre></details>'
