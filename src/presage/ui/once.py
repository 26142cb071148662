"""One ordinary run as text: every step with what it did, and how it ended."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from presage.search.once import Once, ended
from presage.trace.trace import Sent
from presage.ui import story, summary
from presage.ui.theme import Span, Theme
from presage.ui.violation import assumptions, headline, marked_step, reason


def render(done: Once, command: str, path: str, theme: Theme) -> str:
    """The text of `done`, saved at `path`; `command` is what looks at all executions."""
    trace, violation = done.trace, story.violation_of(done.trace)
    title = f"one run of {theme.clean(trace.system)}, seed {trace.seed}"
    lines = [theme.line(Span(title, "strong")), "", *_opening(done.opening, theme)]
    marked = marked_step(violation) if done.is_broken else None
    lines += story.told(trace, theme, marked=marked)
    if done.is_broken:
        lines += [*headline(violation, theme), *reason(violation, theme)]
    else:
        lines += theme.wrap("", ended(len(trace.steps), at_rest=done.at_rest))
        lines += assumptions(trace, theme)
    lines += summary.marks(done.properties, theme)
    quoted = shlex.quote(path)
    lines.append(f"   = help: presage replay {quoted}")
    lines.append(f"           presage report {quoted}")
    told = (
        f"one execution of many: `--seed {trace.seed + 1}` shows another,"
        f" `{command}` looks at all of them"
    )
    return "\n".join([*lines, *theme.wrap("   = note: ", told)])


def _opening(sent: tuple[Sent, ...], theme: Theme) -> Iterator[str]:
    """What the nodes sent when they started."""
    if not sent:
        return
    yield "     0  start"
    for each in sent:
        source, to = theme.clean(each.source), theme.clean(each.to)
        yield theme.line(Span(f"        {source} sends {theme.clean(each.message)} -> {to}", "dim"))
    yield ""
