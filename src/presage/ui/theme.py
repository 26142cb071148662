"""Colours, symbols and widths: the only module that knows them.

Meaning never rests on colour alone: without it every text still says the same. Text from the
checked system passes through `clean`, so that it can neither move the cursor nor break a line.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping
from typing import TextIO

from msgspec import Struct

from presage.ui.terminal import columns

WIDTH_MIN = 60
WIDTH_MAX = 120  # longer lines are harder to read, not easier
WIDTH_WHOLE = 1_000  # but tables and drawings have the whole terminal
TEXT_MAX = 10_000  # characters of one text; nobody reads more of it in a terminal
WIDTH_UNKNOWN = 100  # where the output is not a terminal

# Red for the violation only, yellow for the suspicious, cyan for nodes, dim for the rest.
STYLES = {"": "", "bad": "1;31", "warn": "33", "node": "36", "dim": "2", "strong": "1"}

SYMBOLS = {  # and what stands for each in ASCII
    "ellipsis": ("…", "..."),
    "holds": ("✓", "+"),
    "fails": ("✗", "x"),
    "full": ("━", "#"),
    "empty": ("─", "-"),
    "most": ("≤", "<="),
    "differs": ("≠", "!="),
    "unknown": ("?", "?"),
}


class Span(Struct, frozen=True):
    """A stretch of one line in one style."""

    text: str
    style: str = ""


class Theme(Struct, frozen=True):
    """How to write for one output."""

    width: int = 80
    colour: bool = False
    ascii: bool = False

    @classmethod
    def of(
        cls,
        stream: TextIO,
        *,
        ascii: bool = False,
        colour: bool = True,
        width_max: int = WIDTH_MAX,
        environ: Mapping[str, str] = os.environ,
    ) -> Theme:
        """What suits `stream`: the flags can only take away from what it can do."""
        terminal = stream.isatty()
        symbols = "".join(symbol for symbol, _ in SYMBOLS.values())
        plain = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
        return cls(
            width=max(WIDTH_MIN, min(width_max, columns(WIDTH_UNKNOWN))),
            colour=colour and terminal and not plain,
            ascii=ascii or not _can_write(stream, symbols),
        )

    def symbol(self, name: str) -> str:
        return SYMBOLS[name][self.ascii]

    def paint(self, text: str, style: str) -> str:
        code = STYLES[style]
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code and text else text

    def clean(self, text: str) -> str:
        """`text` on one line, with control characters (and, in ASCII, all others) escaped."""
        if len(text) > TEXT_MAX:
            text = f"{text[:TEXT_MAX]}{self.symbol('ellipsis')} ({len(text):,} characters)"
        shown = text
        if not text.isprintable():
            shown = "".join(c if c.isprintable() else _escape(c) for c in text)
        return shown.encode("ascii", "backslashreplace").decode() if self.ascii else shown

    def fit(self, text: str, room: int) -> str:
        """`text`, cut to `room` columns with an ellipsis."""
        if _reach(text, 0, room) == len(text):
            return text
        end = self.symbol("ellipsis")[: max(room, 0)]
        return text[: _reach(text, 0, room - len(end))] + end

    def fit_middle(self, text: str, room: int) -> str:
        """`text`, cut to `room` columns in its middle: what is told apart by its end stays so."""
        if _reach(text, 0, room) == len(text):
            return text
        mark = self.symbol("ellipsis")
        tail = text[len(text) - (room - len(mark)) // 2 :]
        return self.fit(text, room - cells(tail)) + tail if cells(tail) < room else tail

    def line(self, *spans: Span) -> str:
        """One line of `spans`, cut to the width, painted."""
        shown: list[Span] = []
        room = self.width
        for span in spans:
            text = self.fit(span.text, room)
            shown.append(Span(text, span.style))
            room -= cells(text)
            if text != span.text:
                break
        while shown and not shown[-1].text.strip():  # blanks at the end, painted or not
            shown.pop()
        if shown:
            shown[-1] = Span(shown[-1].text.rstrip(), shown[-1].style)
        return "".join(self.paint(span.text, span.style) for span in shown)

    def wrap(self, lead: str, text: str, *, lines_max: int = 0) -> list[str]:
        """`text` behind `lead`, broken at spaces and aligned; at most `lines_max` lines."""
        wrapped: list[str] = []
        indent = " " * len(lead)
        for paragraph in text.splitlines():
            for part in _broken(self.clean(paragraph.rstrip()), self.width - len(lead)):
                wrapped.append((indent if wrapped else lead) + part)
        wrapped = wrapped or [lead.rstrip()]
        if lines_max and len(wrapped) > lines_max:
            end = self.symbol("ellipsis")
            last = self.fit(wrapped[lines_max - 1], self.width - len(end) - 1)
            wrapped = [*wrapped[: lines_max - 1], last.removesuffix(end) + " " + end]
        return wrapped


def pad(text: str, columns: int) -> str:
    """`text` and blanks up to `columns`."""
    return text + " " * (columns - cells(text))


def cells(text: str) -> int:
    """Columns that `text` takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _broken(text: str, room: int) -> list[str]:
    """`text` in lines of at most `room` columns, broken at spaces where there are any."""
    lines = []
    at, start = 0, len(text) - len(text.lstrip())
    while (end := _reach(text, at, room)) < len(text):
        end = max(end, at + 1)
        space = text.rfind(" ", at + start + 1, end + 1)
        end = space if space > 0 else end
        lines.append(text[at:end].rstrip())
        while end < len(text) and text[end].isspace():
            end += 1
        at, start = end, 0
    return [*lines, text[at:]]


def _reach(text: str, at: int, room: int) -> int:
    """How far `text` goes from `at` on within `room` columns; long texts are not measured whole."""
    if room <= 0:
        return at
    ahead = text[at : at + room + 1]
    if ahead.isascii():
        return at + min(room, len(ahead))
    while at < len(text):
        room -= _columns(text[at])
        if room < 0:
            break
        at += 1
    return at


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _escape(character: str) -> str:
    return " " if character in "\n\t" else repr(character)[1:-1]


def _can_write(stream: TextIO, text: str) -> bool:
    try:
        text.encode(stream.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True
