"""Commands that go another way: choose what happens next, by hand, by chance, until all is well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presage.debug.walking import LENGTH, WALKS, Option
from presage.errors import BadCommand, explain
from presage.model.event import Deliver, Drop, Duplicate, Receive
from presage.trace.show import show
from presage.ui.debug.commands import command
from presage.ui.debug.looking import moved
from presage.ui.debug.moving import number
from presage.ui.steps import KIND_COLUMNS
from presage.ui.theme import Span, cells, pad

if TYPE_CHECKING:
    from presage.ui.debug.console import Console

GROUP = "go another way"
NODE_COLUMNS = 4
SWITCHES = {"on": True, "off": False}


@command(
    "events", "what can happen next, numbered; what would change nothing is greyed", group=GROUP
)
def events(console: Console, rest: str) -> None:
    found = console.session.options()
    if not found:
        console.say(["nothing can happen here"])
        return
    widest = max(cells(console.theme.clean(option.event.node)) for option in found)
    width = max(widest, NODE_COLUMNS)
    console.say([_option(console, at, option, width) for at, option in enumerate(found)])


def _option(console: Console, at: int, option: Option, width: int) -> str:
    event, theme = option.event, console.theme
    known = {"fault": option.fault, "no change": option.idle, "refused": option.refused}
    remarks = [text for text, so in known.items() if so]
    choice = ", ".join(str(k + 1) for k in option.choices)
    behind = f"  choice {choice}" if choice else ""
    behind += f"   ({', '.join(remarks)})" if remarks else ""
    lead = f"{at:>5}  "
    node = f"{pad(theme.clean(event.node), width)}  "
    label = "" if str(event) == event.kind else theme.clean(str(event))
    if isinstance(event, Deliver | Receive | Drop | Duplicate):
        ends = theme.clean(f" {event.source} -> {event.node}")
        taken = cells(lead + node + ends + behind) + KIND_COLUMNS + 2
        label = theme.fit(theme.clean(show(event.message)), theme.width - taken) + ends
    text = f"{event.kind:<{KIND_COLUMNS}}  {label}{behind}"
    style = "dim" if option.idle else "warn" if option.fault else ""
    return theme.line(Span(lead, style), Span(node, style or "node"), Span(text, style))


def chosen(console: Console, rest: str) -> Option:
    """The event of this number in what `events` lists."""
    found = console.session.options()
    at = number(rest, "number of an event")
    if not 0 <= at < len(found):
        raise BadCommand(
            explain(
                f"there is no event {at} here",
                "another step is the current one now",
                f"`events` lists {len(found)}, from 0",
            )
        )
    return found[at]


@command(
    "take K",
    "let event K of `events` happen; a bare number does, too",
    group=GROUP,
    example="take 0",
)
def take(console: Console, rest: str) -> None:
    session = console.session
    branch = session.branch
    session.take(chosen(console, rest).taken)
    came(console, branch)


def came(console: Console, before: str) -> None:
    """Tell where we are, and which branch that made."""
    branch = console.session.branch
    if branch != before:
        console.say([console.dim(f"on a new branch, {branch}; `switch {before}` goes back")])
    moved(console)


@command("random", "let chance choose, by the weights of the system", group=GROUP, repeats=True)
def random(console: Console, rest: str) -> None:
    branch = console.session.branch
    if console.session.random() is None:
        console.say(["nothing likely would change anything here"])
        return
    came(console, branch)


@command("live [walks=N] [length=L]", "walk on calmly until every `eventually` holds", group=GROUP)
def live(console: Console, rest: str) -> None:
    given = {"walks": WALKS, "length": LENGTH}
    for word in rest.split():
        name, _, value = word.partition("=")
        if name not in given:
            raise BadCommand(
                explain(f"`{word}` is no setting", "a misspelt name", "`live walks=50 length=500`")
            )
        given[name] = number(value, "whole number")
    session = console.session
    branch, step = session.branch, session.step
    walked = session.live(**given)
    if walked.steps is None:
        rest_ = f", {walked.rest} of which came to rest" if walked.rest else ""
        told = f"none of {walked.walks} calm walks of up to {walked.length:,} steps{rest_}"
        console.say(console.theme.wrap("", f"{told} got from step {step} to where all is well"))
    elif not walked.steps:
        console.say(["all is well here already"])
    else:
        count = f"{len(walked.steps):,} step{'' if len(walked.steps) == 1 else 's'}"
        tried = f" (walk {walked.walks} of {given['walks']})" if walked.walks > 1 else ""
        console.say([f"all is well again after {count}{tried}"])
        came(console, branch)


@command(
    "calm [on|off]",
    "leave faults and unlikely answers out of what chance chooses",
    group=GROUP,
    example="calm on",
)
def calm(console: Console, rest: str) -> None:
    session = console.session
    if rest and rest not in SWITCHES:
        raise BadCommand(explain(f"`calm {rest}`", "another word", "`calm on` or `calm off`"))
    session.calm = SWITCHES[rest] if rest else not session.calm
    console.say([f"calm is {'on: no faults by chance' if session.calm else 'off'}"])


@command("branch [NAME]", "a new branch from here", group=GROUP)
def branch_(console: Console, rest: str) -> None:
    console.say([f"on branch {console.theme.clean(console.session.fork(rest or None))}"])


@command("branches", "all branches, and where they part", group=GROUP)
def branches(console: Console, rest: str) -> None:
    session = console.session
    main = session.branches["main"]
    for name, execution in session.branches.items():
        pairs = zip(main.told, execution.told, strict=False)
        common = next(
            (at for at, (one, other) in enumerate(pairs) if one.fingerprint != other.fingerprint),
            min(len(main), len(execution)),
        )
        apart = "" if name == "main" else f", parts from main after step {common}"
        sign = ">" if name == session.branch else " "
        console.say([f"{sign} {console.theme.clean(name)}: {len(execution)} steps{apart}"])


@command("switch NAME", "to another branch", group=GROUP, example="switch main")
def switch(console: Console, rest: str) -> None:
    console.session.switch(rest or "main")
    moved(console)
