"""The event graph of a trace as text: a column per node, a row per step, an arrow per message.

After MaceMC's: `*` where a step happens, `X` where a node fails, and below it what it sent. An
arrow ends in `>` or `<` if the message is delivered, in `x` if it is dropped, in `?` if it is still
under way where the trace ends; a bracket tells at which step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from presage.trace.flow import START, Flight, Flow
from presage.trace.labels import body_and_ends
from presage.trace.show import plural
from presage.trace.trace import Trace, TraceStep
from presage.ui.steps import short_texts
from presage.ui.story import violation_of
from presage.ui.theme import Span, Theme, cells, pad
from presage.ui.violation import remark

NUMBER_COLUMNS = 6
LANE_COLUMNS = 8  # or more where there is room
KIND_COLUMNS = 9
TEXT_COLUMNS_MIN = 30  # where lanes leave less, the text stands below them
LINES = 2  # that a message may take before it is shortened
AROUND_COLUMNS = 40  # of those lines: kind, ends, fate
STEPS_AFTER = 10  # drawn behind a critical transition, unless more is asked for
FAILURES = frozenset({"crash", "reset", "silent"})


def render(
    trace: Trace,
    theme: Theme,
    *,
    first: int = 1,
    last: int | None = None,
    only: Collection[int] | None = None,
) -> str:
    """The graph of the steps `first` to `last` of `trace`, or of those of them in `only`.

    Unless told, it ends a few steps after the critical transition: nothing comes right there.
    """
    lanes = Lanes(trace, theme)
    flow = Flow(trace)
    violation = violation_of(trace)
    told = f"{trace.prop}: {trace.message}" if trace.kind == "live" else violation.fact
    lines = [*theme.wrap("", told), "", lanes.head()]
    end = last or len(trace.steps)
    if last is None and violation.critical is not None and violation.loop is None:
        end = max(violation.critical, first) + STEPS_AFTER
    shown = [step for step in trace.steps if first <= step.index <= end]
    if only is not None:
        shown = [step for step in shown if step.index in only]
    if shown and shown[0].index > 1:
        lines.append(lanes.fold(shown[0].index - 1, "before"))
    for step in shown:
        marked = step.index == violation.critical
        lines += lanes.step(step, flow, marked=marked, remark=remark(violation, step))
        lines += [line for flight in flow.sent[step.index] for line in lanes.arrow(flight)]
        lines += lanes.below(step)
    if shown and shown[-1].index < len(trace.steps):
        more = "" if last else f"; --last {len(trace.steps)} draws them"
        lines.append(lanes.fold(len(trace.steps) - shown[-1].index, f"after{more}"))
    return "\n".join(lines)


class Lanes:
    """The columns of the nodes of one trace."""

    def __init__(self, trace: Trace, theme: Theme) -> None:
        named = {step.node for step in trace.steps}
        named |= {sent.source for step in trace.steps for sent in step.sends}
        self._nodes = [*trace.nodes, *sorted(named - set(trace.nodes))]
        self._theme = theme
        widest = max((cells(theme.clean(node)) for node in self._nodes), default=1)
        share = theme.width // 2 // max(len(self._nodes), 1) - 2  # half the line is for the steps
        self._columns = min(widest, max(share, LANE_COLUMNS)) + 2
        lanes = NUMBER_COLUMNS + 2 + self._columns * len(self._nodes)
        self._is_beside = theme.width - lanes >= TEXT_COLUMNS_MIN
        self._text_at = lanes if self._is_beside else NUMBER_COLUMNS + 2
        events = [body_and_ends(step)[0] for step in trace.steps]
        messages = [sent.message for step in trace.steps for sent in step.sends]
        room = LINES * (theme.width - self._text_at) - AROUND_COLUMNS
        self._short = short_texts([*events, *messages], max(room, TEXT_COLUMNS_MIN), theme)

    def head(self) -> str:
        """The names of the nodes, each above its lane."""
        names = (self._theme.clean(node) for node in self._nodes)
        lanes = "".join(
            pad(self._theme.fit_middle(name, self._columns - 2), self._columns) for name in names
        )
        return self._theme.line(Span(f"{'step':>{NUMBER_COLUMNS}}  "), Span(lanes, "node"))

    def step(self, step: TraceStep, flow: Flow, *, marked: bool, remark: str) -> list[str]:
        sign = "X" if step.kind in FAILURES or step.failure is not None else "*"
        marks = (sign if node == step.node else "." for node in self._nodes)
        lanes = "".join(pad(mark, self._columns) for mark in marks)
        flight = flow.handled.get(step.index)
        since = ""
        if flight is not None:
            since = "  (sent at the start)" if flight.sent == START else f"  (sent {flight.sent})"
        style = "bad" if marked or sign == "X" else ""
        body, ends = map(self._theme.clean, body_and_ends(step))
        event = self._short.get(body, body) + ends
        remark = f"{'   ' if event else ''}{remark}" if remark else ""
        number = f"{'>' if marked else ' '}{step.index:>{NUMBER_COLUMNS - 1}}  "
        text = f"{step.kind:<{KIND_COLUMNS}}  {event}{since}{remark}"
        return self._rows(number + lanes, text, (style, style))

    def arrow(self, flight: Flight) -> list[str]:
        """The rows of one message that a step sent."""
        start = end = self._nodes.index(flight.source)
        if flight.to in self._nodes:  # not so if nobody has taken it from its mailbox
            end = self._nodes.index(flight.to)
        head = {"delivered": ">" if end > start else "<", "dropped": "x", "lost": "x"}.get(
            flight.fate, "?"
        )
        if start == end:
            drawn = {start: "^" if flight.fate == "delivered" else head}
            inside = range(0)
        else:
            drawn = {start: "o", end: head}
            inside = range(min(start, end), max(start, end))
        lanes = ""
        for at in range(len(self._nodes)):
            mark = drawn.get(at, "-" if at in inside else ".")
            lanes += pad(mark, self._columns).replace(" ", "-" if at in inside else " ")
        fate = flight.fate if flight.step is None else f"{flight.fate} {flight.step}"
        message = self._theme.clean(flight.message)
        text = f"{self._short.get(message, message)} -> {self._theme.clean(flight.to)}  [{fate}]"
        style = "" if flight.fate == "delivered" else "warn"
        return self._rows(" " * (NUMBER_COLUMNS + 2) + lanes, text, ("dim", style), inset=2)

    def _rows(self, lead: str, text: str, styles: tuple[str, str], inset: int = 0) -> list[str]:
        """`text` in as many lines as it takes beside the lanes, or below where they leave none."""
        columns, (lead_style, style) = self._text_at + inset, styles
        lead = self._theme.paint(lead + " " * inset if self._is_beside else lead, lead_style)
        lines = [line[columns:] for line in self._theme.wrap(" " * columns, text)]
        if not self._is_beside:
            lines.insert(0, "")
        blank = " " * columns
        return [
            (lead if at == 0 else blank) + self._theme.paint(line.rstrip(), style)
            for at, line in enumerate(lines)
        ]

    def below(self, step: TraceStep) -> Iterator[str]:
        """What a step logged, recorded and raised."""
        indent = " " * (self._text_at + 2)
        for text in (*step.records, *step.logs):
            yield from (self._theme.paint(each, "dim") for each in self._theme.wrap(indent, text))
        if step.failure is not None:
            lines = self._theme.wrap(f"{indent}! ", step.failure)
            yield from (self._theme.paint(each, "bad") for each in lines)

    def fold(self, steps: int, where: str) -> str:
        """The row that stands for steps left out."""
        count = f"{plural(steps, 'step')} {where}"
        lead = " " * (NUMBER_COLUMNS - 1) + self._theme.symbol("ellipsis")
        return self._theme.line(Span(f"{lead}  {count}", "dim"))
