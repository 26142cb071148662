"""What GitHub shows beside the lines of a change: its workflow commands, one line each."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from presage.search.report import Violation
from presage.search.summary import not_covered, verdict
from presage.search.sweep import Item

PLACE = re.compile(r"(.+):(\d+)")


def lines(items: Sequence[Item], root: str | None) -> Iterator[str]:
    """An error for each violation and failure, a warning for what was not looked at.

    `root`: the folder that GitHub counts paths from.
    """
    for item in items:
        if item.error is not None:
            yield _command("error", f"presage check {item.name}", str(item.error))
        if item.report is None:
            continue
        for violation in item.report.violations:
            yield _violation(violation, item, root)
        for problem in [*item.report.errors, *map(str, item.report.orders)]:
            yield _command("error", f"presage check {item.name}", problem)
        if item.status == "cut":
            said = "".join(text for text, _ in verdict(item.report))
            left = "; ".join(not_covered(item.report))
            yield _command("warning", f"presage check {item.name}", f"{said}; not covered: {left}")


def _violation(violation: Violation, item: Item, root: str | None) -> str:
    text = f"{item.name}: {violation.explanation()}"
    return _command("error", violation.fact, text, _place(violation.source, root))


def _place(source: str, root: str | None) -> dict[str, str]:
    found = PLACE.fullmatch(source)
    if found is None:
        return {}
    file = os.path.abspath(found[1])
    return {"file": os.path.relpath(file, root) if root else found[1], "line": found[2]}


def _command(kind: str, title: str, text: str, place: dict[str, str] | None = None) -> str:
    facts = {**(place or {}), "title": title}
    properties = ",".join(f"{name}={_property(value)}" for name, value in facts.items())
    return f"::{kind} {properties}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
