"""What the doctor found, as text: the step and the field or effect that differed."""

from __future__ import annotations

from presage.search.doctor import Examined
from presage.ui.theme import Span, Theme

FINDING_LINES_MAX = 12


def render(examined: Examined, target: str, theme: Theme) -> str:
    """The text for `examined`, without a newline at its end."""
    seeds = " and ".join(str(seed) for seed in examined.seeds)
    looked = f"{examined.steps:,} steps, each run twice, under hash seeds {seeds}"
    name = theme.clean(target)
    if not examined.findings:
        rest = "" if examined.exhausted else "; there are more steps than those"
        rest += f"; assumes: {'; '.join(examined.assumes)}" if examined.assumes else ""
        rest += _idle(examined)
        return "\n".join(theme.wrap(f"{name}: ", f"nothing found in {looked}{rest}"))
    lines = [theme.line(Span("nondeterminism", "bad"), Span(f" in {name}", "strong"))]
    for finding in examined.findings:
        lines += theme.wrap("   = ", finding, lines_max=FINDING_LINES_MAX)
    return "\n".join([*lines, *theme.wrap("", f"looked at {looked}")])


def _idle(examined: Examined) -> str:
    """A floor: where nothing happens, nothing can be found."""
    if not examined.idle:
        return ""
    return f"; did nothing at all that others could see: {', '.join(examined.idle)}"
