"""The event graph of a trace as text: a column per node, a row per step, an arrow per message.

After MaceMC's: `*` where a step happens, `X` where a node fails, and below it what it sent. An
arrow ends in `>` or `<` if the message is delivered, in `x` if it is dropped, in `?` if it is still
under way where the trace ends; a bracket tells at which step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from presage.trace.flow import START, Flight, Flow
from presage.trace.trace import Trace, TraceStep
from presage.ui.story import violation_of
from presage.ui.theme import Span, Theme, cells, pad
from presage.ui.violation import remark

NUMBER_COLUMNS = 6
LANE_COLUMNS = 8  # or more where there is room
KIND_COLUMNS = 9
MESSAGE_COLUMNS_MIN = 8
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
        lines.append(lanes.step(step, flow, marked=marked, remark=remark(violation, step)))
        lines += [lanes.arrow(flight) for flight in flow.sent[step.index]]
        lines += lanes.below(step)
    if shown and shown[-1].index < len(trace.steps):
        more = "" if last else f"; --last {len(trace.steps)} draws them"
        lines.append(lanes.fold(len(trace.steps) - shown[-1].index, f"after{more}"))
    return "\n".join(lines)


class Lanes:
    """The columns of the nodes of one trace."""

    def __init__(self, trace: Trace, theme: Theme) -> None:
        named = {step.node for step in trace.steps} - set(trace.nodes)
        self._nodes = [*trace.nodes, *sorted(named)]
        self._theme = theme
        widest = max((cells(theme.clean(node)) for node in self._nodes), default=1)
        share = theme.width // 2 // max(len(self._nodes), 1) - 2  # half the line is for the steps
        self._columns = min(widest, max(share, LANE_COLUMNS)) + 2

    def head(self) -> str:
        """The names of the nodes, each above its lane."""
        names = (self._theme.clean(node) for node in self._nodes)
        lanes = "".join(
            pad(self._theme.fit_middle(name, self._columns - 2), self._columns) for name in names
        )
        return self._theme.line(Span(f"{'step':>{NUMBER_COLUMNS}}  "), Span(lanes, "node"))

    def step(self, step: TraceStep, flow: Flow, *, marked: bool, remark: str) -> str:
        """The row of one step."""
        sign = "X" if step.kind in FAILURES or step.failure is not None else "*"
        lanes = "".join(self._cell(sign if node == step.node else ".") for node in self._nodes)
        flight = flow.handled.get(step.index)
        since = ""
        if flight is not None:
            since = "  (sent at the start)" if flight.sent == START else f"  (sent {flight.sent})"
        style = "bad" if marked or sign == "X" else ""
        label = "" if step.label == step.kind else self._theme.clean(step.label)
        return self._theme.line(
            Span(f"{'>' if marked else ' '}{step.index:>{NUMBER_COLUMNS - 1}}  ", style),
            Span(lanes, style),
            Span(f"{step.kind:<{KIND_COLUMNS}}  {label}", style),
            Span(since, "dim"),
            Span(f"{'   ' if label else ''}{remark}" if remark else "", style),
        )

    def arrow(self, flight: Flight) -> str:
        """The row of one message that a step sent."""
        start = end = self._nodes.index(flight.source)
        if flight.to in self._nodes:  # not so if nobody has taken it from its mailbox
            end = self._nodes.index(flight.to)
        head = {"delivered": ">" if end > start else "<", "dropped": "x"}.get(flight.fate, "?")
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
        message, to = self._theme.clean(flight.message), f" -> {self._theme.clean(flight.to)}"
        room = self._theme.width - NUMBER_COLUMNS - 2 - len(lanes) - len(fate) - 6 - cells(to)
        return self._theme.line(
            Span(" " * (NUMBER_COLUMNS + 2) + lanes, "dim"),
            Span(f"  {self._theme.fit(message, max(room, MESSAGE_COLUMNS_MIN))}{to}"),
            Span(f"  [{fate}]", "dim" if flight.fate == "delivered" else "warn"),
        )

    def below(self, step: TraceStep) -> Iterator[str]:
        """What a step logged, recorded and raised."""
        indent = " " * (NUMBER_COLUMNS + 2 + self._columns * len(self._nodes) + 2)
        for text in (*step.records, *step.logs):
            yield self._theme.line(Span(f"{indent}{self._theme.clean(text)}", "dim"))
        if step.failure is not None:
            yield self._theme.line(Span(f"{indent}! {self._theme.clean(step.failure)}", "bad"))

    def fold(self, steps: int, where: str) -> str:
        """The row that stands for steps left out."""
        count = f"{steps:,} step{'' if steps == 1 else 's'} {where}"
        lead = " " * (NUMBER_COLUMNS - 1) + self._theme.symbol("ellipsis")
        return self._theme.line(Span(f"{lead}  {count}", "dim"))

    def _cell(self, mark: str) -> str:
        return pad(mark, self._columns)
