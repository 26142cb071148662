"""Commands that go another way: choose what happens next, by hand, by chance, until all is well."""

from __future__ import annotations

from presage.debug.branch import Option
from presage.debug.walk import LENGTH, WALKS
from presage.errors import BadCommand
from presage.model.world.event import Mail
from presage.trace.show import plural, show
from presage.trace.trace import common
from presage.ui.debug.commands.show import moved
from presage.ui.debug.registry import Commands, number
from presage.ui.debug.screen import Screen
from presage.ui.steps import KIND_COLUMNS
from presage.ui.theme import Span, cells, pad

command = Commands("go another way")
NODE_COLUMNS = 4
SWITCHES = {"on": True, "off": False}


@command("events", "what can happen next, numbered; what would change nothing is greyed")
def events(screen: Screen, rest: str) -> None:
    found = screen.session.options()
    if not found:
        screen.say(["nothing can happen here"])
        return
    widest = max(cells(screen.theme.clean(option.event.node)) for option in found)
    width = max(widest, NODE_COLUMNS)
    screen.say([_option(screen, at, option, width) for at, option in enumerate(found)])


def _option(screen: Screen, at: int, option: Option, width: int) -> str:
    event, theme = option.event, screen.theme
    known = {"fault": option.fault, "no change": option.idle, "refused": option.refused}
    remarks = [text for text, so in known.items() if so]
    choice = ", ".join(str(k + 1) for k in option.choices)
    behind = f"  choice {choice}" if choice else ""
    behind += f"   ({', '.join(remarks)})" if remarks else ""
    lead = f"{at:>5}  "
    node = f"{pad(theme.clean(event.node), width)}  "
    label = "" if str(event) == event.kind else theme.clean(str(event))
    if isinstance(event, Mail):
        ends = theme.clean(f" {event.source} -> {event.node}")
        taken = cells(lead + node + ends + behind) + KIND_COLUMNS + 2
        label = theme.fit(theme.clean(show(event.message)), theme.width - taken) + ends
    text = f"{event.kind:<{KIND_COLUMNS}}  {label}{behind}"
    style = "dim" if option.idle else "warn" if option.fault else ""
    return theme.line(Span(lead, style), Span(node, style or "node"), Span(text, style))


def chosen(screen: Screen, rest: str) -> Option:
    """The event of this number in what `events` lists."""
    found = screen.session.options()
    at = number(rest, "number of an event")
    if not 0 <= at < len(found):
        raise BadCommand(
            f"there is no event {at} here",
            "another step is the current one now",
            f"`events` lists {len(found)}, from 0",
        )
    return found[at]


@command("take K", "let event K of `events` happen; a bare number does, too", example="take 0")
def take(screen: Screen, rest: str) -> None:
    session = screen.session
    branch = session.branch
    session.take(chosen(screen, rest).taken)
    came(screen, branch)


def came(screen: Screen, before: str) -> None:
    """Tell where we are, and which branch that made."""
    branch = screen.session.branch
    if branch != before:
        screen.say([screen.dim(f"on a new branch, {branch}; `switch {before}` goes back")])
    moved(screen)


@command("random", "let chance choose, by the weights of the system", repeats=True)
def random(screen: Screen, rest: str) -> None:
    branch = screen.session.branch
    if screen.session.random() is None:
        screen.say(["nothing likely would change anything here"])
        return
    came(screen, branch)


@command("live [walks=N] [length=L]", "walk on calmly until every `eventually` holds")
def live(screen: Screen, rest: str) -> None:
    given = {"walks": WALKS, "length": LENGTH}
    for word in rest.split():
        name, _, value = word.partition("=")
        if name not in given:
            raise BadCommand(
                f"`{word}` is no setting", "a misspelt name", "`live walks=50 length=500`"
            )
        given[name] = number(value, "whole number")
    session = screen.session
    branch, step = session.branch, session.step
    walked = session.live(**given)
    if walked.steps is None:
        rest_ = f", {walked.rest} of which came to rest" if walked.rest else ""
        text = f"none of {walked.walks} calm walks of up to {walked.length:,} steps{rest_}"
        screen.say(screen.theme.wrap("", f"{text} got from step {step} to where all is well"))
    elif not walked.steps:
        screen.say(["all is well here already"])
    else:
        count = plural(len(walked.steps), "step")
        tried = f" (walk {walked.walks} of {given['walks']})" if walked.walks > 1 else ""
        screen.say([f"all is well again after {count}{tried}"])
        came(screen, branch)


@command(
    "calm [on|off]",
    "leave faults and unlikely answers out of what chance chooses",
    example="calm on",
)
def calm(screen: Screen, rest: str) -> None:
    session = screen.session
    if rest and rest not in SWITCHES:
        raise BadCommand(f"`calm {rest}`", "another word", "`calm on` or `calm off`")
    session.calm = SWITCHES[rest] if rest else not session.calm
    screen.say([f"calm is {'on: no faults by chance' if session.calm else 'off'}"])


@command("branch [NAME]", "a new branch from here")
def branch_(screen: Screen, rest: str) -> None:
    screen.say([f"on branch {screen.theme.clean(screen.session.fork(rest or None))}"])


@command("branches", "all branches, and where they part")
def branches(screen: Screen, rest: str) -> None:
    session = screen.session
    main = session.branches["main"]
    for name, execution in session.branches.items():
        last = common(main.steps, execution.steps)
        apart = "" if name == "main" else f", parts from main after step {last}"
        sign = ">" if name == session.branch else " "
        screen.say([f"{sign} {screen.theme.clean(name)}: {len(execution)} steps{apart}"])


@command("switch NAME", "to another branch", example="switch main")
def switch(screen: Screen, rest: str) -> None:
    screen.session.switch(rest or "main")
    moved(screen)
