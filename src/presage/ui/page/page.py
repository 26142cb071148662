"""One self-contained HTML file: template, style, script and data put together.

Nothing in it comes from elsewhere, and a content-security policy says so: the script and the style
run because their digests are in it, and nothing else may be loaded or run. Data is text to the
page: `<` cannot occur in it, and the script only ever sets text.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

import msgspec

MARK = re.compile("@([A-Z]+)@")
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
DANGEROUS = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def render(data: dict[str, Any]) -> str:
    """The page that shows `data`, as `page_data` makes it."""
    style, script = _part("page.css"), "\n".join(map(_part, SCRIPTS))
    posts = "'self'" if "explore" in data else "'none'"
    policy = (
        f"default-src 'none'; base-uri 'none'; form-action {posts};"
        f" style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    )
    parts = {
        "POLICY": policy,
        "TITLE": escape(f"{data['title']}: {data['fact']}"),
        "STYLE": style,
        "SCRIPT": script,
        "SEARCH": _remarks(data.get("remarks", ())) + _coverage(data.get("coverage", "")),
        "DATA": embedded(data),
    }
    # In one pass, so that nothing in the data is taken for a mark.
    return MARK.sub(lambda mark: parts[mark[1]], _part("page.html"))


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


def embedded(data: dict[str, Any]) -> str:
    """`data` as JSON that no HTML parser takes for anything but text."""
    text = msgspec.json.encode(data).decode()
    for character, escaped in DANGEROUS.items():
        text = text.replace(character, escaped)
    return text


def _part(name: str) -> str:
    return files("presage.ui.page").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
