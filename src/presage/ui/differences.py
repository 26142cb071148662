"""What differs between two states as text: a line each, marked A for added, M, and D for deleted.

Every line names the node and the part, so that it can be read alone and asked for with `blame`.
"""

from __future__ import annotations

from collections.abc import Iterable

from presage.trace.diff import ADDED, DELETED, MODIFIED, Change, Path
from presage.trace.plain import TYPE, Plain, text_of
from presage.ui.steps import shorten
from presage.ui.theme import Span, Theme, cells, pad

NAME_COLUMNS_MAX = 36


def named(path: Path) -> str:
    """A part of a state, as people write it: `n0.table['x'].next`."""
    text = str(path[0]) if path else "everything"
    for part in path[1:]:
        plain = isinstance(part, str) and (part.isidentifier() or part.startswith("("))
        text += f".{part}" if plain else f"[{part}]"
    return text


def render(changes: Iterable[Change], lead: str, theme: Theme, *, join: str = "->") -> list[str]:
    """The lines of `changes` behind `lead`."""
    shown = [_message(change) for change in changes]
    names = [theme.clean(named(change.path)) for change in shown]
    columns = min(max(map(cells, names), default=0), NAME_COLUMNS_MAX)
    lines = []
    for change, name in zip(shown, names, strict=True):
        name = pad(theme.fit(name, columns), columns)
        room = theme.width - cells(lead) - columns - 4
        values = _values(change, room, theme, join)
        lines.append(theme.line(Span(f"{lead}{change.mark} "), Span(name, "node"), *values))
    return lines


def _message(change: Change) -> Change:
    """A message is what it is, not under which name so many copies of it are counted."""
    if change.path[1:2] != ("messages",) or len(change.path) != 3 or change.mark == MODIFIED:
        return change
    copies = change.after if change.mark == ADDED else change.before
    text: Plain = {TYPE: f"{change.path[2]}{'' if copies == 1 else f' ({copies} copies)'}"}
    return Change(change.mark, change.path[:2], text, text)


def _values(change: Change, room: int, theme: Theme, join: str) -> list[Span]:
    if change.mark == ADDED:
        return [Span("  "), Span(theme.fit(theme.clean(text_of(change.after)), room), "strong")]
    if change.mark == DELETED:
        return [Span("  "), Span(theme.fit(theme.clean(text_of(change.before)), room), "dim")]
    before, after = theme.clean(text_of(change.before)), theme.clean(text_of(change.after))
    before, after = shorten(before, after, room, theme)
    return [Span(f"  {before} {join} "), Span(after, "strong")]
