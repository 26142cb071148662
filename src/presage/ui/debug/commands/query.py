"""Commands that answer questions: why it fails, who wrote a value, what led to a step."""

from __future__ import annotations

from presage.debug.explain import explain as explanation
from presage.debug.query import blame
from presage.errors import BadCommand
from presage.trace.diff import ADDED, DELETED, MODIFIED, Change
from presage.trace.plain import text_of
from presage.ui import differences
from presage.ui.debug.commands.show import nearest_live
from presage.ui.debug.registry import Commands, number
from presage.ui.debug.screen import Screen

command = Commands("ask")
SIGNS = {True: "holds", False: "fails", None: "unknown"}


def some_field(screen: Screen) -> str:
    """A part of the state that was changed here, for an example."""
    step = screen.session.current
    for node, fields in (step.changes if step else {}).items():
        return f"{node}.{next(iter(fields))}"
    return f"{screen.session.names[0]}.up"


@command("why [PROP]", "why a property does not hold here, with its witnesses")
def why(screen: Screen, rest: str) -> None:
    session, theme = screen.session, screen.theme
    said = session.judge()
    name = rest or session.trace.prop
    if not rest and said.get(name) is not None and said[name].holds is not False:
        name = next((each for each, verdict in said.items() if verdict.holds is False), name)
    if name not in said:
        raise BadCommand(f"there is no property `{name}`", "a misspelt name", ", ".join(said))
    verdict = said[name]
    if verdict.holds is True:
        screen.say([f"{theme.clean(name)} holds after step {session.step}"])
        return
    if verdict.holds is None:
        screen.say(theme.wrap("", f"{name} says nothing here{_because(verdict.why)}"))
        return
    parts = session.conjuncts(name)
    own = "" if any(verdict.why.startswith(f"`{part.text}`") for part in parts) else verdict.why
    lines = theme.wrap("", f"{name} does not hold after step {session.step}{_because(own)}")
    for part in parts if len(parts) > 1 or (parts and parts[0].why != verdict.why) else []:
        sign = theme.symbol(SIGNS[part.holds])
        lines += theme.wrap(f"  {sign} ", f"{part.text}{_because(part.why)}")
    screen.say(lines)


def _because(why: str) -> str:
    return f": {why}" if why else ""


@command("explain", "the whole trace in one paragraph: what broke, which steps matter")
def explain_(screen: Screen, rest: str) -> None:
    session = screen.session
    if session.trace.kind == "live":
        raise BadCommand(
            "a live path breaks nothing", "the kind of trace", "explain the other trace"
        )
    live = nearest_live(screen)
    paragraph = explanation(session, screen.violation.fact, live[1] if live else None)
    screen.say(screen.theme.wrap("", paragraph.text))


@command(
    "blame NODE.FIELD",
    "the step that wrote it last; Enter then jumps there",
    example=lambda screen: f"blame {some_field(screen)}",
)
def blame_(screen: Screen, rest: str) -> None:
    if not rest:
        raise BadCommand("no field is named", "it was left out", f"`blame {some_field(screen)}`")
    session = screen.session
    found = blame(session, rest)
    if found.step == 0:
        value = screen.theme.clean(text_of(found.after))
        screen.say(screen.theme.wrap("", f"{rest} is as it began: {value}"))
        return
    step = session.here.steps[found.step - 1]
    mark = ADDED if found.before is None else DELETED if found.after is None else MODIFIED
    change = Change(mark, (rest,), found.before, found.after)
    lines = [screen.table().row(step), *differences.render([change], "        ", screen.theme)]
    if found.step != session.step:
        lines.append(screen.dim(f"Enter jumps to step {found.step}"))
        screen.repeat = f"jump {found.step}"
    screen.say(lines)


@command("past [N]", "the steps that led to this one, and no others")
def past(screen: Screen, rest: str) -> None:
    session = screen.session
    step = number(rest, "step", session.step)
    if not 1 <= step <= session.last:
        raise BadCommand(f"step {step} has no past", "it is the beginning", f"1 to {session.last}")
    found = session.here.past(session.as_trace(), step)
    table = screen.table()
    lines = [table.row(session.here.steps[at - 1], marked=at == step) for at in found]
    text = f"{len(found)} of the {step} steps up to here; the others had no influence on it"
    if len(found) == step:
        text = "every step up to here had some influence on it"
    screen.say([*lines, screen.dim(text)])
