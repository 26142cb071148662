"""Commands that show: a step and what it changed, a list of steps, differences, the event graph."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from presage.debug.query import Filter, lines_of, pattern
from presage.debug.session import MAIN
from presage.errors import BadCommand
from presage.execution.state import State
from presage.trace import codec
from presage.trace.diff import diff
from presage.trace.trace import Trace, TraceStep
from presage.ui import differences, graph
from presage.ui.debug.registry import Commands, number
from presage.ui.debug.screen import Screen
from presage.ui.story import effects
from presage.ui.summary import mark, marks
from presage.ui.theme import Span
from presage.ui.violation import remark

command = Commands("look")
AROUND = 8  # steps listed before and after the one we are at
NO_BREAK = "\0"
LINES_MAX = 400  # of one listing
FAILING = {False: "violated", True: "held", None: "open"}


def moved(screen: Screen, end: str | bool = "") -> None:
    """Tell where we are now; `end` is said before it."""
    lines = [screen.dim(f"this is {end}")] if end else []
    screen.say([*lines, *step_lines(screen, screen.session.step)])


def step_lines(screen: Screen, step: int) -> list[str]:
    """One step: the event, what it sent and logged, which parts of the state it changed."""
    session, theme = screen.session, screen.theme
    if step == 0:
        lines = [theme.line(Span("     0  the initial state", "strong"))]
        for node, text in session.here.opening():
            lines.append(screen.dim(f"        {theme.clean(f'{node} logs {text}')}"))
        return [*lines, *strip(screen, step)]
    recorded, table = session.here.steps[step - 1], screen.table()
    indent, marked = " " * table.indent, session.branch == MAIN and step == session.critical
    lines = [table.row(recorded, marked=marked, remark=_remark(screen, step))]
    if place := session.here.place(step):
        lines.append(screen.dim(f"{indent}at {theme.clean(place)}"))
    lines += effects(msgspec.structs.replace(recorded, changes={}), table)
    changed = diff(session.state(step - 1), session.state(step))
    lines += differences.render(changed, indent, theme)
    if not changed:
        lines.append(theme.line(Span(f"{indent}this step changed no state", "warn")))
    return [*lines, *strip(screen, step)]


def _remark(screen: Screen, step: int) -> str:
    session = screen.session
    recorded = session.here.steps[step - 1]
    parts = [remark(screen.violation, recorded)] if session.branch == MAIN else []
    if session.branch != MAIN and session.here.taken(step).beyond:
        parts.append("beyond the budget")
    parts += [f"note: {text}" for at, text in session.notes if at == step]
    return ", ".join(part for part in parts if part)


def strip(screen: Screen, step: int) -> list[str]:
    """What the properties say of the state after `step`, if that is wanted."""
    if not screen.strip:
        return []
    session = screen.session
    sometimes = {prop.name for prop in session.here.properties if prop.kind == "sometimes"}
    reached = FAILING | {True: "reached", False: "open"}
    said = session.judge(step).items()
    statuses = {n: (reached if n in sometimes else FAILING)[each.holds] for n, each in said}
    return marks(statuses, screen.theme)


@command("show [N]", "a step: event, place, sends, logs, changed parts")
def show(screen: Screen, rest: str) -> None:
    step = number(rest, "step", screen.session.step)
    screen.say(step_lines(screen, _known(screen, step)))


@command("list [FROM..TO]", "the steps around here, as far as the filter lets them")
def list_(screen: Screen, rest: str) -> None:
    session = screen.session
    first, last = span(screen, rest, AROUND)
    table, lines = screen.table(), []
    for step in session.here.steps[max(first, 1) - 1 : last]:
        chosen = session.node is None or step.node == session.node
        if chosen and screen.filter.keeps(step):
            here = step.index == session.step
            lines.append(table.row(step, marked=here, remark=_remark(screen, step.index)))
    if screen.filter.text:
        lines.append(screen.dim(f"filter: {screen.filter.text}"))
    screen.say(lines or ["nothing to list"])


def span(screen: Screen, text: str, around: int) -> tuple[int, int]:
    """`FROM..TO` as it was typed, or so many steps around this one."""
    session = screen.session
    if not text:
        return max(session.step - around, 0), min(session.step + around, session.last)
    found = re.fullmatch(r"(\d*)\s*(?:\.\.|-|\s)\s*(\d*)|(\d+)", text)
    if found is None:
        raise BadCommand(f"`{text}` is no range of steps", "a word where numbers belong", "`3..11`")
    if found[3]:
        return int(found[3]), int(found[3])
    return int(found[1] or 0), min(int(found[2] or session.last), session.last)


def _known(screen: Screen, step: int) -> int:
    if 0 <= step <= screen.session.last:
        return step
    raise BadCommand(
        f"there is no step {step}",
        "a step of another branch",
        f"one from 0 to {screen.session.last}",
    )


@command(
    "diff A B",
    "what differs between two steps; `diff A --with FILE[:B]` another trace, `diff live`",
    example=lambda screen: f"diff {max(screen.session.step - 1, 0)} {screen.session.step}",
)
def diff_(screen: Screen, rest: str) -> None:
    session, words = screen.session, rest.split()
    if words == ["live"]:
        _against_live(screen)
        return
    if "--with" in words:
        at = words.index("--with")
        if len(words) == at + 1:
            raise BadCommand("no file is named", "it was left out", "`diff --with FILE`")
        step = int(words[0]) if at and words[0].isdigit() else session.step
        name, _, other = words[at + 1].rpartition(":")
        if not other.isdigit():
            name, other = words[at + 1], str(step)
        _against(screen, _known(screen, step), codec.read(name), int(other), Path(name).name)
        return
    numbers = [int(word) for word in words if word.isdigit()]
    if len(numbers) != len(words) or len(numbers) > 2:
        raise BadCommand(f"`diff {rest}`: steps are numbers", "a slip", "`diff 3 11`, `diff live`")
    before = numbers[0] if numbers else max(session.step - 1, 0)
    after = numbers[1] if len(numbers) == 2 else session.step
    states = session.state(_known(screen, before)), session.state(_known(screen, after))
    _compare(screen, states, f"step {before}", f"step {after}", "->")


def _compare(screen: Screen, states: tuple[State, State], one: str, other: str, join: str) -> None:
    found = diff(*states)
    head = f"{one} {join} {other}: "
    many = f"{len(found)} part{'' if len(found) == 1 else 's'} differ{'s' * (len(found) == 1)}"
    lines = [screen.theme.line(Span(head + (many if found else "no difference"), "strong"))]
    screen.say([*lines, *differences.render(found, "  ", screen.theme, join=join)])


def _against_live(screen: Screen) -> None:
    """The same step of the nearest live path: of the file beside the trace, or found here."""
    session = screen.session
    live = nearest_live(screen)
    if live is None:
        raise BadCommand(
            "no live path is known",
            "a check saves the nearest one beside the trace, if it met one",
            "`live` looks for one from here; go back a few steps if it finds none",
        )
    branch, trace = live
    step = min(session.step, len(trace.steps))
    name = f"live path, step {step}" + (f" (branch {branch})" if branch else "")
    _against(screen, session.step, trace, step, name)


def nearest_live(screen: Screen) -> tuple[str, Trace] | None:
    """The live path, and the branch it is if it is one."""
    session = screen.session
    branch = next((name for name in reversed(session.branches) if name.startswith("live")), None)
    if branch is not None and branch != session.branch:
        steps = tuple(session.branches[branch].steps)
        return branch, msgspec.structs.replace(session.trace, steps=steps, kind="live")
    if screen.live is None and screen.path is not None:
        path = codec.live_of(screen.path, session.trace)
        screen.live = codec.read(path) if path else None
    return None if screen.live is None else ("", screen.live)


def _against(screen: Screen, step: int, trace: Trace, other: int, name: str) -> None:
    session = screen.session
    if not 0 <= other <= len(trace.steps):
        raise BadCommand(
            f"{name} has no step {other}", "it is shorter", f"up to {len(trace.steps)}"
        )
    there = session.here.begin(trace).state(other)
    join = screen.theme.symbol("differs")
    _compare(screen, (session.state(step), there), f"step {step} here", name, join)


@command(
    "filter +RE -RE node:N kind:K",
    "which steps `list`, `grep` and `graph` show; alone it clears",
    example=lambda screen: f"filter node:{screen.session.names[0]} -timer",
)
def filter_(screen: Screen, rest: str) -> None:
    screen.filter = Filter.of(_words(rest, screen.session.names))
    kept = sum(screen.filter.keeps(step) for step in screen.session.here.steps)
    text = f"{kept} of {screen.session.last} steps" if rest else "no filter: all steps"
    screen.say([text])


def _words(text: str, names: tuple[str, ...]) -> list[str]:
    """What is between spaces; a name with spaces in it, behind `node:`, is one word."""
    spaced = sorted((name for name in names if " " in name), key=len, reverse=True)
    for name in spaced:
        text = text.replace(f"node:{name}", f"node:{name.replace(' ', NO_BREAK)}")
    return [word.replace(NO_BREAK, " ") for word in text.split(" ") if word]


@command("find RE", "highlight in all that is shown; alone it stops", example="find n0")
def find(screen: Screen, rest: str) -> None:
    screen.highlight = pattern(rest) if rest else None
    if screen.highlight is None:
        screen.say(["nothing is highlighted"])
        return
    hits = [s.index for s in screen.session.here.steps if _hits(screen.highlight, s)]
    after = next((step for step in hits if step > screen.session.step), None)
    following = f"; the next is {after}" if after else ""
    screen.say([f"{len(hits)} of {screen.session.last} steps match{following}"])


def _hits(wanted: re.Pattern[str], step: object) -> list[str]:
    assert isinstance(step, TraceStep)
    return [line for line in lines_of(step) if wanted.search(line)]


@command("grep RE", "all matching lines of all steps, with their steps", example="grep sends")
def grep(screen: Screen, rest: str) -> None:
    wanted, theme, lines = pattern(rest), screen.theme, []
    for step in screen.session.here.steps:
        if screen.filter.keeps(step):
            lines += [
                theme.line(Span(f"{step.index:>6}  ", "dim"), Span(theme.clean(line)))
                for line in _hits(wanted, step)
            ]
    more = len(lines) - LINES_MAX
    if more > 0:
        lines = [*lines[:LINES_MAX], f"{theme.symbol('ellipsis')} and {more} more lines"]
    screen.say(lines or [f"no line matches `{theme.clean(rest)}`"])


@command("props [on|off]", "what each property says here, and whether that follows every step")
def props(screen: Screen, rest: str) -> None:
    if rest in ("on", "off"):
        screen.strip = rest == "on"
        screen.say([f"properties are {'shown' if screen.strip else 'left out'} after every step"])
        return
    theme, lines = screen.theme, []
    for name, said in screen.session.judge().items():
        sign = mark(name, FAILING[said.holds], theme)
        lines.append(theme.line(Span(f"  {sign.text}", sign.style)))
        if said.why and said.holds is not True:
            lines += theme.wrap("      ", said.why)
    screen.say(lines)


@command("graph [FROM..TO]", "the event graph: a column per node", example="graph 1..5")
def graph_(screen: Screen, rest: str) -> None:
    first, last = span(screen, rest, AROUND)
    trace = screen.session.as_trace()
    kept = {step.index for step in trace.steps if screen.filter.keeps(step)}
    text = graph.render(trace, screen.theme, first=max(first, 1), last=max(last, 1), only=kept)
    screen.say(text.splitlines())
