"""Every screen on every output: narrow, wide, with colour and without, in ASCII; hostile data."""

import io
import itertools
import re
from collections.abc import Callable

import pytest
from unit.debug.samples import drive, found, ordered
from unit.ui.samples import join, step, trace, violation
from unit.ui.test_progress import Snapshot

from presage.search.report import Report
from presage.trace.trace import Sent, Trace
from presage.ui import graph, story, summary
from presage.ui.progress import Limits, Progress
from presage.ui.theme import Theme, cells
from presage.ui.violation import LINES_MAX, render

Compare = Callable[[str, str], None]
ANSI = re.compile(r"\x1b\[[0-9;]*m")
OUTPUTS = [
    pytest.param(
        Theme(width=width, colour=colour, ascii=ascii),
        id=f"{width}{'-colour' * colour}{'-ascii' * ascii}",
    )
    for width, colour, ascii in itertools.product((80, 120), (False, True), (False, True))
]
HOSTILE = [
    "\x1b[2J\x1b[H\x07\x00\x9b31m",  # moves the cursor, rings, ends a string
    "line\nline\r\x0b\x0c\u2028\u2029line",  # breaks lines
    "\u202eevil\u2066\u200f \u05e2\u05d1\u05e8\u05d9\u05ea",  # right to left, forced and by nature
    "\U0001f469\u200d\U0001f680\U0001f1e9\U0001f1ea e\u0301\u0301\u0301 \ufeff\u6f22\u5b57",
    "</script><script>alert(1)</script>",
    "x" * 1_000_000,
    "\U0001f680" * 1_000_000,
    "word " * 200_000,
]


def screens(long: Trace, report: Report, theme: Theme) -> dict[str, str]:
    """What a person sees of a search: while it runs, when it held, when it did not."""
    shares = ((98, 60, 60), (99, 56, 60), (100, 0, 60))
    facts = {"kind": "liveness", "critical": 100, "dead": True, "recovery": shares}
    evidence = "none of 60 walks of 1,000 steps recovered"
    live = trace([join(1, "n0", "n1")], kind="live")
    dead = violation(long, evidence=evidence, live=live, live_path="live.trace", **facts)
    shown = Progress(io.StringIO(), theme, "RandTree", "4 nodes, bfs", limits=Limits(depth=12))
    return {
        "progress": "\n".join(shown.lines(Snapshot())),
        "success": summary.render(report, theme),
        "safety": render(violation(long), theme),
        "liveness": render(dead, theme, lambda _: "never told: there is no room"),
    }


@pytest.mark.parametrize("theme", OUTPUTS)
def test_every_screen_says_the_same_on_every_output(
    long_trace: Trace,
    report: Report,
    theme: Theme,
    snapshot: Compare,
    request: pytest.FixtureRequest,
) -> None:
    shown = screens(long_trace, report, theme)
    plain = screens(long_trace, report, Theme(theme.width, ascii=theme.ascii))
    for name, text in shown.items():
        assert ANSI.sub("", text) == plain[name], name
        assert ("\x1b" in text) <= theme.colour
        assert text.isascii() or not theme.ascii
        lines = ANSI.sub("", text).splitlines()
        assert len(lines) <= LINES_MAX
        commands = ("help: ", "           presage", "live: ")  # never cut: they are copied
        assert all(cells(line) <= theme.width or any(c in line for c in commands) for line in lines)
    snapshot(f"screens-{request.node.callspec.id}", "\n\n".join(shown.values()))


def test_what_explains_a_violation_is_told_where_there_is_room(short_trace: Trace) -> None:
    text = render(violation(short_trace), Theme(width=80), lambda _: "only step 5 matters")
    assert "\n   = in short: only step 5 matters\n" in text
    assert "in short" not in render(violation(short_trace), Theme(width=80), lambda _: "")


def hostile_trace(text: str) -> Trace:
    changes = {text: {text: (text, text + "!")}}
    first = step(1, text, "timer", text, detail=text, logs=(text,), records=(text,))
    sends = (Sent("n0", "n1", text),)
    last = join(2, "n0", "n1", label=text, detail=text, changes=changes, sends=sends, failure=text)
    return trace([first, last], prop=text, message=text, source=text, signature=text)


@pytest.mark.parametrize("theme", [OUTPUTS[0], OUTPUTS[-1]])
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_data_is_shown_as_text(text: str, theme: Theme) -> None:
    told = hostile_trace(text)
    found = violation(told, trace_path="a.trace")
    for shown in (
        render(found, theme),
        story.render(told, theme, message=text),
        graph.render(told, theme),
    ):
        for line in ANSI.sub("", shown).split("\n"):
            assert line.isprintable()
            assert line.isascii() or not theme.ascii
    assert len(render(found, theme).split("\n")) <= LINES_MAX


@pytest.mark.parametrize("text", HOSTILE[:5])
def test_hostile_text_typed_into_the_debugger_is_shown_as_text(text: str) -> None:
    typed = text.replace("\n", " ").replace("\r", " ")
    commands = (typed, f"note {typed}", f"grep {re.escape(typed)}", f"until {typed}", "notes")
    shown = drive(ordered(), seen(), *commands, f"branch {typed}", f"blame {typed}", echo=False)
    for line in shown.split("\n"):
        assert line.isprintable(), line


def seen() -> Trace:
    return found(ordered(), "in_order")
