"""Steps of a trace as table rows, and what one of them changed.

One row per step: number, node, kind, event. The same columns in every view, so that a person who
has read one violation can read them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from presage.trace.trace import TraceStep
from presage.ui.theme import Span, Theme, cells, pad

NUMBER_COLUMNS = 5
KIND_COLUMNS = 9  # "duplicate" is the longest
NODE_COLUMNS_MAX = 16
DETAIL_COLUMNS_MIN = 20  # less of a message than this says less than its name
LABEL_COLUMNS_MIN = 12  # and less of a name than this says nothing
CONTEXT = 8  # characters kept of what two long values have in common


@dataclass(frozen=True)
class Table:
    """The columns that the rows of one trace share."""

    theme: Theme
    node_columns: int

    @classmethod
    def of(cls, steps: Iterable[TraceStep], theme: Theme) -> Table:
        widths = [cells(theme.clean(step.node)) for step in steps]
        return cls(theme, min(max(widths, default=2), NODE_COLUMNS_MAX))

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

    def event(self, step: TraceStep, taken: int = 0) -> str:
        """The event in a few words; a message with its content, as far as that fits.

        `taken` columns are left free behind it: a remark says more than the rest of a message.
        """
        room = self.theme.width - self.indent - taken
        label = self.theme.fit(self.theme.clean(step.label), max(room, LABEL_COLUMNS_MIN))
        if step.label == step.kind:  # a crash is a crash
            return ""
        if step.source is None or step.detail.endswith("()"):
            return label
        ends = self.theme.clean(f" {step.source} -> {step.node}")
        room -= cells(ends)
        detail = self.theme.clean(step.detail)
        if room < min(DETAIL_COLUMNS_MIN, cells(detail)):
            return label
        return self.theme.fit(detail, room) + ends

    def fold(self, text: str) -> str:
        """The row that stands for rows left out; `text` says how many."""
        lead = pad(" " * NUMBER_COLUMNS + self.theme.symbol("ellipsis"), self.indent)
        return self.theme.line(Span(lead + text, "dim"))


def changes(step: TraceStep, lead: str, theme: Theme, *, lines_max: int = 0) -> list[str]:
    """`node.field  before -> after` for every field `step` changed, behind `lead`."""
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
        before, after = shorten(theme.clean(before), theme.clean(after), room, theme)
        spans = Span(lead), Span(name, "node"), Span(f"  {before} -> "), Span(after, "strong")
        lines.append(theme.line(*spans))
        lead = " " * len(lead)
    if left_out:
        text = f"{theme.symbol('ellipsis')} and {left_out} more fields"
        lines.append(theme.line(Span(lead), Span(text, "dim")))
    return lines


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
