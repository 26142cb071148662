"""Commands that go somewhere: a step, a number, the critical step, where something is true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presage.debug.asking import Found, until
from presage.errors import BadCommand, explain
from presage.ui.debug.commands import command
from presage.ui.debug.looking import moved

if TYPE_CHECKING:
    from presage.ui.debug.console import Console

GROUP = "go"


def number(text: str, what: str, default: int | None = None) -> int:
    """A whole number that was typed."""
    if not text and default is not None:
        return default
    try:
        return int(text)
    except ValueError:
        raise BadCommand(
            explain(f"`{text}` is no {what}", "a word where a number belongs", f"give a {what}")
        ) from None


@command("next [k]", "a step on; of the node that is selected", group=GROUP, repeats=True)
def next_(console: Console, rest: str) -> None:
    session = console.session
    rounds, wanted = session.rounds, number(rest, "number of steps", 1)
    done = session.forward(wanted)
    if session.rounds > rounds:
        again = f"round {session.rounds + 1} of the loop: the same states again"
        console.say([console.dim(again)])
    moved(console, done < wanted and f"the last step{of_node(console)}")


@command("prev [k]", "a step back; of the node that is selected", group=GROUP, repeats=True)
def prev(console: Console, rest: str) -> None:
    wanted = number(rest, "number of steps", 1)
    done = console.session.backward(wanted)
    moved(console, done < wanted and f"the first step{of_node(console)}")


def of_node(console: Console) -> str:
    """Which steps are gone through, if not all."""
    node = console.session.node
    return f" of {node}" if node else " there is" if console.session.step else ": the beginning"


@command(
    "jump N",
    "to step N; 0 is the initial state",
    group=GROUP,
    example=lambda console: f"jump {console.session.critical or console.session.last}",
)
def jump(console: Console, rest: str) -> None:
    console.session.jump(number(rest, "step"))
    moved(console)


@command("first", "to the first step", group=GROUP)
def first(console: Console, rest: str) -> None:
    console.session.jump(min(1, console.session.last))
    moved(console)


@command("last", "to the last step", group=GROUP)
def last(console: Console, rest: str) -> None:
    console.session.jump(console.session.last)
    moved(console)


@command("critical", "to the step that the violation is about", group=GROUP)
def critical(console: Console, rest: str) -> None:
    session = console.session
    if session.critical is None:
        trace = session.trace
        reason = (
            "it is a live path: nothing breaks"
            if trace.kind == "live"
            else (
                f"its steps repeat from {trace.loop} on, none is more to blame than the others"
                if trace.loop
                else "walks still recovered, or were too few to tell"
            )
        )
        raise BadCommand(
            explain(f"no step of this trace is critical: {reason}", "the kind of trace", "`last`")
        )
    if session.branch != "main":
        session.switch("main")
    session.jump(session.critical)
    moved(console)


@command(
    "node NAME",
    "step and list by one node; `node all` by all",
    group=GROUP,
    example=lambda console: f"node {console.session.names[0]}",
)
def node(console: Console, rest: str) -> None:
    session = console.session
    session.select(None if rest in ("", "all", "-1") else rest)
    told = session.told
    if session.node and (told is None or told.node != session.node):
        if not session.backward() and not session.forward():
            console.say([f"{session.node} takes no step on this branch"])
            return
    moved(console)


def over(console: Console) -> str:
    """An expression that says that the first node does nothing any more."""
    name = repr(console.session.names[0])
    return f"not world[{name}].up" if console.session.ground.of_services else f"{name} in ended"


def under_way(console: Console) -> str:
    """An expression that says the opposite."""
    name = repr(console.session.names[0])
    return f"world[{name}].up" if console.session.ground.of_services else f"{name} not in ended"


@command(
    "until EXPR",
    "on to the first step after which a Python expression over `world` is true",
    group=GROUP,
    example=lambda console: f"until {over(console)}",
)
def until_(console: Console, rest: str) -> None:
    steps = range(console.session.step + 1, console.session.last + 1)
    arrive(console, rest, until(console.session, _asked(console, rest), steps))


@command(
    "back until EXPR",
    "back to the first step before, after which it is true",
    group=GROUP,
    example=lambda console: f"back until {under_way(console)}",
)
def back(console: Console, rest: str) -> None:
    text = rest.removeprefix("until").strip()
    steps = range(console.session.step - 1, -1, -1)
    arrive(console, text, until(console.session, _asked(console, text), steps))


def _asked(console: Console, text: str) -> str:
    if text:
        return text
    raise BadCommand(
        explain("there is no expression", "nothing was typed", f"`until {over(console)}`")
    )


def arrive(console: Console, text: str, found: Found) -> None:
    """Go where an expression is true, or say why not."""
    raised = ""
    if found.raised is not None:
        step, how = found.raised
        raised = f"at step {step} it raised {console.theme.clean(how)}"
    if found.step is None:
        never = f"`{text}` is true after none of {found.looked} steps"
        console.say(console.theme.wrap("", f"{never}; {raised}" if raised else never))
        return
    if raised:
        console.say(console.theme.wrap("", f"{raised}, which counted as not true"))
    console.session.jump(found.step)
    moved(console)
