"""Commands that show: a step and what it changed, a list of steps, differences, the event graph."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from presage.debug.asking import Filter, lines_of, pattern
from presage.debug.session import MAIN
from presage.errors import BadCommand, explain
from presage.search.states import State
from presage.trace import codec
from presage.trace.diff import diff
from presage.trace.trace import Trace
from presage.ui import differences, graph
from presage.ui.debug.commands import command
from presage.ui.story import effects
from presage.ui.summary import mark
from presage.ui.theme import Span
from presage.ui.violation import remark

if TYPE_CHECKING:
    from presage.ui.debug.console import Console

GROUP = "look"
AROUND = 8  # steps listed before and after the one we are at
NO_BREAK = "\0"
LINES_MAX = 400  # of one listing
FAILING = {False: "violated", True: "held", None: "open"}


def moved(console: Console, end: str | bool = "") -> None:
    """Tell where we are now; `end` is said before it."""
    lines = [console.dim(f"this is {end}")] if end else []
    console.say([*lines, *step_lines(console, console.session.step)])


def step_lines(console: Console, step: int) -> list[str]:
    """One step: the event, what it sent and logged, which parts of the state it changed."""
    session, theme = console.session, console.theme
    if step == 0:
        lines = [theme.line(Span("     0  the initial state", "strong"))]
        for node, text in session.ground.opening(session.here):
            lines.append(console.dim(f"        {theme.clean(f'{node} logs {text}')}"))
        return [*lines, *strip(console, step)]
    told, table = session.here.told[step - 1], console.table()
    indent, marked = " " * table.indent, session.branch == MAIN and step == session.critical
    lines = [table.row(told, marked=marked, remark=_remark(console, step))]
    if place := session.ground.place(session.here, step):
        lines.append(console.dim(f"{indent}at {theme.clean(place)}"))
    lines += effects(msgspec.structs.replace(told, changes={}), table)
    changed = diff(session.state(step - 1), session.state(step))
    lines += differences.render(changed, indent, theme)
    if not changed:
        lines.append(theme.line(Span(f"{indent}this step changed no state", "warn")))
    return [*lines, *strip(console, step)]


def _remark(console: Console, step: int) -> str:
    session = console.session
    told = session.here.told[step - 1]
    parts = [remark(console.violation, told)] if session.branch == MAIN else []
    if session.branch != MAIN and session.here.taken(step).beyond:
        parts.append("beyond the budget")
    parts += [f"note: {text}" for at, text in session.notes if at == step]
    return ", ".join(part for part in parts if part)


def strip(console: Console, step: int) -> list[str]:
    """What the properties say of the state after `step`, if that is wanted."""
    if not console.strip:
        return []
    session, theme = console.session, console.theme
    sometimes = {prop.name for prop in session.ground.properties if prop.kind == "sometimes"}
    spans: list[Span] = []
    rows: list[str] = []
    for name, said in session.judge(step).items():
        status = FAILING[said.holds]
        if name in sometimes:
            status = "reached" if said.holds else "open"
        span = mark(name, status, theme)
        if spans and sum(len(each.text) for each in spans) + len(span.text) + 2 > theme.width:
            rows.append(theme.line(*spans))
            spans = []
        spans.append(Span(f"  {span.text}", span.style))
    return [*rows, theme.line(*spans)]


@command("show [N]", "a step: event, place, sends, logs, changed parts", group=GROUP)
def show(console: Console, rest: str) -> None:
    from presage.ui.debug.moving import number

    step = number(rest, "step", console.session.step)
    console.say(step_lines(console, _known(console, step)))


@command("list [FROM..TO]", "the steps around here, as far as the filter lets them", group=GROUP)
def list_(console: Console, rest: str) -> None:
    session = console.session
    first, last = span(console, rest, AROUND)
    table, lines = console.table(), []
    for step in session.here.told[max(first, 1) - 1 : last]:
        chosen = session.node is None or step.node == session.node
        if chosen and console.filter.keeps(step):
            here = step.index == session.step
            lines.append(table.row(step, marked=here, remark=_remark(console, step.index)))
    if console.filter.text:
        lines.append(console.dim(f"filter: {console.filter.text}"))
    console.say(lines or ["nothing to list"])


def span(console: Console, text: str, around: int) -> tuple[int, int]:
    """`FROM..TO` as it was typed, or so many steps around this one."""
    session = console.session
    if not text:
        return max(session.step - around, 0), min(session.step + around, session.last)
    found = re.fullmatch(r"(\d*)\s*(?:\.\.|-|\s)\s*(\d*)|(\d+)", text)
    if found is None:
        raise BadCommand(
            explain(f"`{text}` is no range of steps", "a word where numbers belong", "`3..11`")
        )
    if found[3]:
        return int(found[3]), int(found[3])
    return int(found[1] or 0), min(int(found[2] or session.last), session.last)


def _known(console: Console, step: int) -> int:
    if 0 <= step <= console.session.last:
        return step
    raise BadCommand(
        explain(
            f"there is no step {step}",
            "a step of another branch",
            f"one from 0 to {console.session.last}",
        )
    )


@command(
    "diff A B",
    "what differs between two steps; `diff A --with FILE[:B]` another trace, `diff live`",
    group=GROUP,
    example=lambda console: f"diff {max(console.session.step - 1, 0)} {console.session.step}",
)
def diff_(console: Console, rest: str) -> None:
    session, words = console.session, rest.split()
    if words == ["live"]:
        _against_live(console)
        return
    if "--with" in words:
        at = words.index("--with")
        if len(words) == at + 1:
            raise BadCommand(explain("no file is named", "it was left out", "`diff --with FILE`"))
        step = int(words[0]) if at and words[0].isdigit() else session.step
        name, _, other = words[at + 1].rpartition(":")
        if not other.isdigit():
            name, other = words[at + 1], str(step)
        _against(console, _known(console, step), codec.read(name), int(other), Path(name).name)
        return
    numbers = [int(word) for word in words if word.isdigit()]
    if len(numbers) != len(words) or len(numbers) > 2:
        raise BadCommand(
            explain(f"`diff {rest}`: steps are numbers", "a slip", "`diff 3 11`, `diff live`")
        )
    before = numbers[0] if numbers else max(session.step - 1, 0)
    after = numbers[1] if len(numbers) == 2 else session.step
    states = session.state(_known(console, before)), session.state(_known(console, after))
    _compare(console, states, f"step {before}", f"step {after}", "->")


def _compare(
    console: Console, states: tuple[State, State], one: str, other: str, join: str
) -> None:
    found = diff(*states)
    head = f"{one} {join} {other}: "
    many = f"{len(found)} part{'' if len(found) == 1 else 's'} differ{'s' * (len(found) == 1)}"
    lines = [console.theme.line(Span(head + (many if found else "no difference"), "strong"))]
    console.say([*lines, *differences.render(found, "  ", console.theme, join=join)])


def _against_live(console: Console) -> None:
    """The same step of the nearest live path: of the file beside the trace, or found here."""
    session = console.session
    live = nearest_live(console)
    if live is None:
        raise BadCommand(
            explain(
                "no live path is known",
                "a check saves the nearest one beside the trace, if it met one",
                "`live` looks for one from here; go back a few steps if it finds none",
            )
        )
    branch, trace = live
    step = min(session.step, len(trace.steps))
    name = f"live path, step {step}" + (f" (branch {branch})" if branch else "")
    _against(console, session.step, trace, step, name)


def nearest_live(console: Console) -> tuple[str, Trace] | None:
    """The live path, and the branch it is if it is one."""
    session = console.session
    branch = next((name for name in reversed(session.branches) if name.startswith("live")), None)
    if branch is not None and branch != session.branch:
        steps = tuple(session.branches[branch].told)
        return branch, msgspec.structs.replace(session.trace, steps=steps, kind="live")
    if console.live is None and console.path is not None:
        path = codec.live_of(console.path, session.trace)
        console.live = codec.read(path) if path else None
    return None if console.live is None else ("", console.live)


def _against(console: Console, step: int, trace: Trace, other: int, name: str) -> None:
    session = console.session
    if not 0 <= other <= len(trace.steps):
        raise BadCommand(
            explain(f"{name} has no step {other}", "it is shorter", f"up to {len(trace.steps)}")
        )
    there = session.ground.state(session.ground.begin(trace), other)
    join = console.theme.symbol("differs")
    _compare(console, (session.state(step), there), f"step {step} here", name, join)


@command(
    "filter +RE -RE node:N kind:K",
    "which steps `list`, `grep` and `graph` show; alone it clears",
    group=GROUP,
    example=lambda console: f"filter node:{console.session.names[0]} -timer",
)
def filter_(console: Console, rest: str) -> None:
    console.filter = Filter.of(_words(rest, console.session.names))
    kept = sum(console.filter.keeps(step) for step in console.session.here.told)
    told = f"{kept} of {console.session.last} steps" if rest else "no filter: all steps"
    console.say([told])


def _words(text: str, names: tuple[str, ...]) -> list[str]:
    """What is between spaces; a name with spaces in it, behind `node:`, is one word."""
    spaced = sorted((name for name in names if " " in name), key=len, reverse=True)
    for name in spaced:
        text = text.replace(f"node:{name}", f"node:{name.replace(' ', NO_BREAK)}")
    return [word.replace(NO_BREAK, " ") for word in text.split(" ") if word]


@command(
    "find RE", "highlight in all that is shown; alone it stops", group=GROUP, example="find n0"
)
def find(console: Console, rest: str) -> None:
    console.highlight = pattern(rest) if rest else None
    if console.highlight is None:
        console.say(["nothing is highlighted"])
        return
    hits = [s.index for s in console.session.here.told if _hits(console.highlight, s)]
    after = next((step for step in hits if step > console.session.step), None)
    told = f"; the next is {after}" if after else ""
    console.say([f"{len(hits)} of {console.session.last} steps match{told}"])


def _hits(wanted: re.Pattern[str], step: object) -> list[str]:
    from presage.trace.trace import TraceStep

    assert isinstance(step, TraceStep)
    return [line for line in lines_of(step) if wanted.search(line)]


@command(
    "grep RE",
    "all matching lines of all steps, with their steps",
    group=GROUP,
    example="grep sends",
)
def grep(console: Console, rest: str) -> None:
    wanted, theme, lines = pattern(rest), console.theme, []
    for step in console.session.here.told:
        if console.filter.keeps(step):
            lines += [
                theme.line(Span(f"{step.index:>6}  ", "dim"), Span(theme.clean(line)))
                for line in _hits(wanted, step)
            ]
    more = len(lines) - LINES_MAX
    if more > 0:
        lines = [*lines[:LINES_MAX], f"{theme.symbol('ellipsis')} and {more} more lines"]
    console.say(lines or [f"no line matches `{theme.clean(rest)}`"])


@command(
    "props [on|off]",
    "what each property says here, and whether that follows every step",
    group=GROUP,
)
def props(console: Console, rest: str) -> None:
    if rest in ("on", "off"):
        console.strip = rest == "on"
        console.say([f"properties are {'shown' if console.strip else 'left out'} after every step"])
        return
    theme, lines = console.theme, []
    for name, said in console.session.judge().items():
        sign = mark(name, FAILING[said.holds], theme)
        lines.append(theme.line(Span(f"  {sign.text}", sign.style)))
        if said.why and said.holds is not True:
            lines += theme.wrap("      ", said.why)
    console.say(lines)


@command(
    "graph [FROM..TO]", "the event graph: a column per node", group=GROUP, example="graph 1..5"
)
def graph_(console: Console, rest: str) -> None:
    first, last = span(console, rest, AROUND)
    trace = console.session.as_trace()
    kept = {step.index for step in trace.steps if console.filter.keeps(step)}
    text = graph.render(trace, console.theme, first=max(first, 1), last=max(last, 1), only=kept)
    console.say(text.splitlines())
