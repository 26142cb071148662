"""Steps of a trace as table rows, and what one of them changed.

One row per step: number, node, kind, event. The same columns in every view, so that a person who
has read one violation can read them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from presage.trace.labels import body_and_ends, fitted, told_apart
from presage.trace.trace import TraceStep
from presage.ui.theme import Span, Theme, cells, pad

NUMBER_COLUMNS = 5
KIND_COLUMNS = 9  # "duplicate" is the longest
NODE_COLUMNS_MAX = 16
DETAIL_COLUMNS_MIN = 20  # less of a message than this says less than its name
LABEL_COLUMNS_MIN = 12  # and less of a name than this says nothing
CONTEXT = 8  # characters kept of what two long values have in common


class Table(Struct, frozen=True):
    """The columns that the rows of one trace share."""

    theme: Theme
    node_columns: int
    short: dict[str, str] = {}  # events in full, and as they fit

    @classmethod
    def of(cls, steps: Iterable[TraceStep], theme: Theme) -> Table:
        steps = list(steps)
        widths = [cells(theme.clean(step.node)) for step in steps]
        table = cls(theme, min(max(widths, default=2), NODE_COLUMNS_MAX))
        events = [body_and_ends(step) for step in steps]
        most = max((cells(theme.clean(ends)) for _, ends in events), default=0)
        room = max(theme.width - table.indent - most, DETAIL_COLUMNS_MIN)
        return replace(table, short=short_texts((body for body, _ in events), room, theme))

    @property
    def indent(self) -> int:
        """Where the event column begins."""
        return 1 + NUMBER_COLUMNS + 2 + self.node_columns + 2 + KIND_COLUMNS + 2

    def row(self, step: TraceStep, *, marked: bool = False, remark: str = "") -> str:
        """One step; the marked one is the step the violation is about."""
        node = pad(
            self.theme.fit(self.theme.clean(step.node), self.node_columns), self.node_columns
        )
        style = "bad" if marked else ""
        notes = [Span(_choices(step), "dim"), Span(f"   {remark}" if remark else "", style)]
        taken = sum(cells(note.text) for note in notes)
        event = self.event(step, taken)
        spans = [
            Span(">" if marked else " ", style),
            Span(f"{step.index:>{NUMBER_COLUMNS}}  ", style),
            Span(node + "  ", "node"),
            Span(f"{step.kind:<{KIND_COLUMNS}}  ", style),
            Span(event, style),
        ]
        if not event:
            notes = [Span(note.text.removeprefix("   "), note.style) for note in notes]
        return self.theme.line(*spans, *notes)

    def rows(self, step: TraceStep, *, marked: bool = False, remark: str = "") -> list[str]:
        """One step, its remark below it where both do not fit side by side."""
        body, ends = map(self.theme.clean, body_and_ends(step))
        row = self.row(step, marked=marked, remark=remark)
        if not remark or ends in row and self.short.get(body, body) in row:
            return [row]
        below = " " * self.indent + remark
        return [self.row(step, marked=marked), self.theme.line(Span(below, "bad" * marked))]

    def event(self, step: TraceStep, taken: int = 0) -> str:
        """The event in a few words; a message with its content, as far as that fits.

        `taken` columns are left free behind it: a remark says more than the rest of a message.
        """
        body, ends = (self.theme.clean(text) for text in body_and_ends(step))
        room = self.theme.width - self.indent - taken - cells(ends)
        if ends and room < min(DETAIL_COLUMNS_MIN, cells(body)):
            room += cells(ends)
            return self.theme.fit(self.theme.clean(step.label), max(room, LABEL_COLUMNS_MIN))
        if cells(body) > room:
            body = self.short.get(body, body)
        if cells(body) > room:
            body = fitted(body, room, mark=self.theme.symbol("ellipsis"))
        return self.theme.fit(body, max(room, LABEL_COLUMNS_MIN)) + ends

    def fold(self, text: str) -> str:
        """The row that stands for rows left out; `text` says how many."""
        lead = pad(" " * NUMBER_COLUMNS + self.theme.symbol("ellipsis"), self.indent)
        return self.theme.line(Span(lead + text, "dim"))


def short_texts(texts: Iterable[str], room: int, theme: Theme) -> dict[str, str]:
    """Texts of events, cleaned, by their full text: no two different ones look the same."""
    return told_apart(map(theme.clean, texts), room, mark=theme.symbol("ellipsis"))


def changes(
    step: TraceStep, lead: str, theme: Theme, *, lines_max: int = 0, wrapped: int = 1
) -> list[str]:
    """`node.field  before -> after` for every field `step` changed, behind `lead`.

    A change may take `wrapped` lines; of a longer one the middle of what agrees is left out.
    """
    changed = [
        (f"{node}.{field}", before, after)
        for node, fields in step.changes.items()
        for field, (before, after) in fields.items()
    ]
    left_out = len(changed) - lines_max + 1 if lines_max and len(changed) > lines_max else 0
    told = changed[: len(changed) - left_out]
    columns = min(max((cells(theme.clean(name)) for name, _, _ in told), default=0), 30)
    lines = []
    for name, before, after in told:
        name = pad(theme.fit(theme.clean(name), columns), columns)
        room = theme.width - len(lead) - columns - 2
        before, after = shorten(theme.clean(before), theme.clean(after), room * wrapped, theme)
        if cells(before) + cells(after) + len(" -> ") > room:
            lines += _on_lines(lead + name + "  ", before, after, theme)
        else:
            spans = Span(lead), Span(name, "node"), Span(f"  {before} -> "), Span(after, "strong")
            lines.append(theme.line(*spans))
        lead = " " * len(lead)
    if left_out:
        text = f"{theme.symbol('ellipsis')} and {left_out} more fields"
        lines.append(theme.line(Span(lead), Span(text, "dim")))
    return lines


def _on_lines(lead: str, before: str, after: str, theme: Theme) -> list[str]:
    """A change that does not fit on one line: what was, and below it what is."""
    return [
        *theme.wrap(lead, before),
        *(theme.paint(line, "strong") for line in theme.wrap(" " * len(lead) + "-> ", after)),
    ]


def shorten(before: str, after: str, room: int, theme: Theme) -> tuple[str, str]:
    """Both values in `room` columns together with an arrow, cut where they agree."""
    room -= len(" -> ")
    if cells(before) + cells(after) <= room:
        return before, after
    end = theme.symbol("ellipsis")
    common = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))))
    if common > CONTEXT + len(end):
        before, after = end + before[common - CONTEXT :], end + after[common - CONTEXT :]
    # The shorter one may leave room to the longer one.
    half = room // 2
    first = max(half, room - cells(after)) if cells(after) < half else half
    before = theme.fit(before, first)
    return before, theme.fit(after, room - cells(before))


def _choices(step: TraceStep) -> str:
    made: Sequence[str] = [f"{k + 1} of {n}" for k, n in step.choices]
    return f"   choice {', '.join(made)}" if made else ""
