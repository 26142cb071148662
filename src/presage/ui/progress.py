"""How far a search has come, told on standard error while it runs.

On a terminal three lines are redrawn in place, at most four times a second; elsewhere one plain
line is written every ten seconds. The search brings the time with each snapshot, so nothing here
reads a clock. `rich` is imported at the first drawing: a short run never pays for it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import field
from math import inf
from typing import TYPE_CHECKING, Any, TextIO

from msgspec import Struct

from presage.records import record
from presage.trace.show import plural
from presage.ui.estimate import Levels
from presage.ui.summary import mark
from presage.ui.theme import Span, Theme

if TYPE_CHECKING:
    from presage.search.progress import Snapshot

REDRAW_SECONDS = 0.25
LINE_SECONDS = 10.0
BAR_COLUMNS = 20
ESTIMATE_AFTER = 5.0  # seconds; what is over sooner needs no advice
LONG_SECONDS = 3600.0  # what takes longer is not waited for
TRY = "try `--search delay` or `presage hunt`; docs/howto/deep-bugs.md says what else helps"


class Limits(Struct, frozen=True):
    """The budget of the search, for the bar; None: no such limit."""

    depth: int | None = None
    states: int | None = None
    seconds: float | None = None
    walks: int | None = None

    def share(self, snapshot: Snapshot) -> float | None:
        """How much of the budget is used, by the limit that is nearest; None without a limit."""
        used = [
            have / limit
            for have, limit in (
                (snapshot.depth, self.depth),
                (snapshot.unique, self.states),
                (snapshot.seconds, self.seconds),
                (snapshot.walks, self.walks),
            )
            if limit
        ]
        return min(1.0, max(used)) if used else None


@record
class Progress:
    """Receives snapshots from a search and shows some of them."""

    stream: TextIO
    theme: Theme
    title: str  # the system's name
    subtitle: str  # its nodes, and the search
    limits: Limits = Limits()
    live: bool = False  # redraw in place; otherwise plain lines
    walked: bool = False  # execution by execution: neither depth nor states say how far it is
    by_delays: bool = False  # states come in the order of delays, not of depth
    estimates: bool = False  # breadth first: the levels say whether it will end
    _shown: float = field(default=0.0, init=False)  # seconds of the last snapshot shown
    _display: Any = field(default=None, init=False)  # rich's Live, once something was drawn
    _levels: Levels = field(default_factory=Levels, init=False)

    def update(self, snapshot: Snapshot) -> None:
        """Show `snapshot`, unless the last one was shown a moment ago."""
        if self.estimates:
            self._levels.note(snapshot.depth, snapshot.unique)
        pause = REDRAW_SECONDS if self.live else LINE_SECONDS
        if snapshot.seconds - self._shown < pause:
            return
        self._shown = snapshot.seconds
        with suppress(OSError):  # nobody reads it any more: no reason to stop the search
            if self.live:
                self._draw("\n".join(self.lines(snapshot)))
            else:
                self.stream.write(self.line(snapshot) + "\n")
                self.stream.flush()

    def done(self) -> None:
        """Take the lines away: the report says the rest. Harmless when called twice."""
        if self._display is not None:
            self._display.stop()
            self._display = None

    def line(self, snapshot: Snapshot) -> str:
        """One plain line, for logs."""
        facts = [*self._facts(snapshot), f"{snapshot.seconds:.0f} s", *self._saved(snapshot)]
        facts += self._outlook(snapshot)
        return f"checking {self.theme.clean(self.title)}: {', '.join(facts)}"

    def lines(self, snapshot: Snapshot) -> list[str]:
        """What is checked, how far it is, what the properties say so far, whether it will end."""
        theme = self.theme
        head = theme.line(
            Span("checking ", "dim"),
            Span(theme.clean(self.title), "strong"),
            Span(f"  {self.subtitle}", "dim"),
        )
        minutes, seconds = divmod(int(snapshot.seconds), 60)
        clock = f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
        first, *rest = self._facts(snapshot)
        facts = "  ".join([*rest, clock, *self._saved(snapshot)])
        middle = theme.line(Span(f"  {first}  {self._bar(snapshot)}{facts}"))
        marks = [mark(name, status, theme) for name, status in snapshot.properties.items()]
        lines = [head, middle]
        if marks:
            lines.append(theme.line(*(Span(f"  {m.text}", m.style) for m in marks)))
        lines += [theme.line(Span(f"  {text}", "warn")) for text in self._outlook(snapshot)]
        return lines

    def _outlook(self, snapshot: Snapshot) -> list[str]:
        """What to say of a search that will hardly end, as far as its levels tell."""
        if not self.estimates or snapshot.seconds < ESTIMATE_AFTER or snapshot.suspect is not None:
            return []
        left = self._levels.left()
        if left is None:
            return []
        if left == inf:
            return [f"too large to exhaust: the levels keep growing; {TRY}"]
        needed = left * snapshot.seconds / max(snapshot.unique, 1)
        allowed = self.limits.seconds
        room = LONG_SECONDS if allowed is None else max(0.0, allowed - snapshot.seconds)
        if needed <= room:
            return []
        return [f"too large to exhaust: about {_rough(left)} states, {_span(needed)} to go; {TRY}"]

    def _facts(self, snapshot: Snapshot) -> list[str]:
        """How far it is and how fast, the most important first."""
        if snapshot.suspect is not None:
            return [
                f"locating the critical transition, at step {snapshot.depth:,}"
                f" of {snapshot.suspect:,}",
                f"{snapshot.generated:,} transitions",
            ]
        if self.walked:
            done = _of(snapshot.walks, self.limits.walks)
            return [
                f"{done} execution{'' if snapshot.walks == 1 else 's'}",
                f"{snapshot.generated:,} transitions",
                f"{rate(snapshot):,.0f}/s",
                *([f"{snapshot.right:,} walks recovered"] if snapshot.right else []),
            ]
        depth = f"depth {_of(snapshot.depth, self.limits.depth)}"
        return [
            f"delays {snapshot.delays}" if self.by_delays else depth,
            f"{snapshot.unique:,} states",
            f"{rate(snapshot):,.0f}/s",
            f"{seen(snapshot):.0%} seen before",
            f"{snapshot.frontier:,} waiting",
        ]

    @staticmethod
    def _saved(snapshot: Snapshot) -> list[str]:
        told = []
        if snapshot.resumed_from:
            told.append(f"resumed from {snapshot.resumed_from:,}")
        if snapshot.checkpoints:
            told.append(plural(snapshot.checkpoints, "checkpoint"))
        return told

    def _bar(self, snapshot: Snapshot) -> str:
        share = self.limits.share(snapshot)
        if share is None or snapshot.suspect is not None or self.theme.width < 100:
            return ""
        full = round(share * BAR_COLUMNS)
        symbol = self.theme.symbol
        return symbol("full") * full + symbol("empty") * (BAR_COLUMNS - full) + "  "

    def _draw(self, text: str) -> None:
        from rich.text import Text

        if self._display is None:
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self.stream, force_terminal=True, highlight=False)
            self._display = Live(console=console, auto_refresh=False, transient=True)
            self._display.start()
        self._display.update(Text.from_ansi(text, no_wrap=True), refresh=True)


def _rough(count: float) -> str:
    """A guess, with no more digits than it deserves."""
    digits = max(0, len(str(int(count))) - 1)
    return f"{round(count, -digits):,.0f}"


def _span(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.0f} seconds"


def _of(count: int, limit: int | None) -> str:
    return f"{count:,}/{limit:,}" if limit else f"{count:,}"


def rate(snapshot: Snapshot) -> float:
    """Transitions per second so far."""
    return snapshot.generated / snapshot.seconds if snapshot.seconds > 0 else 0.0


def seen(snapshot: Snapshot) -> float:
    """The share of transitions that led to a known state: near 1 the end is near."""
    return 1 - snapshot.unique / snapshot.generated if snapshot.generated else 0.0
