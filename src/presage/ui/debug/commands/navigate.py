"""Commands that go somewhere: a step, a number, the critical step, where something is true."""

from __future__ import annotations

from presage.debug.query import Found, until
from presage.errors import BadCommand
from presage.ui.debug.commands.show import moved
from presage.ui.debug.registry import Commands, number
from presage.ui.debug.screen import Screen

command = Commands("go")


@command("next [k]", "a step on; of the node that is selected", repeats=True)
def next_(screen: Screen, rest: str) -> None:
    session = screen.session
    rounds, wanted = session.rounds, number(rest, "number of steps", 1)
    done = session.forward(wanted)
    if session.rounds > rounds:
        again = f"round {session.rounds + 1} of the loop: the same states again"
        screen.say([screen.dim(again)])
    moved(screen, done < wanted and f"the last step{of_node(screen)}")


@command("prev [k]", "a step back; of the node that is selected", repeats=True)
def prev(screen: Screen, rest: str) -> None:
    wanted = number(rest, "number of steps", 1)
    done = screen.session.backward(wanted)
    moved(screen, done < wanted and f"the first step{of_node(screen)}")


def of_node(screen: Screen) -> str:
    """Which steps are gone through, if not all."""
    node = screen.session.node
    return f" of {node}" if node else " there is" if screen.session.step else ": the beginning"


@command(
    "jump N",
    "to step N; 0 is the initial state",
    example=lambda screen: f"jump {screen.session.critical or screen.session.last}",
)
def jump(screen: Screen, rest: str) -> None:
    screen.session.jump(number(rest, "step"))
    moved(screen)


@command("first", "to the first step")
def first(screen: Screen, rest: str) -> None:
    screen.session.jump(min(1, screen.session.last))
    moved(screen)


@command("last", "to the last step")
def last(screen: Screen, rest: str) -> None:
    screen.session.jump(screen.session.last)
    moved(screen)


@command("critical", "to the step that the violation is about")
def critical(screen: Screen, rest: str) -> None:
    session = screen.session
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
            f"no step of this trace is critical: {reason}", "the kind of trace", "`last`"
        )
    if session.branch != "main":
        session.switch("main")
    session.jump(session.critical)
    moved(screen)


@command(
    "node NAME",
    "step and list by one node; `node all` by all",
    example=lambda screen: f"node {screen.session.names[0]}",
)
def node(screen: Screen, rest: str) -> None:
    session = screen.session
    session.select(None if rest in ("", "all", "-1") else rest)
    step = session.current
    if session.node and (step is None or step.node != session.node):
        if not session.backward() and not session.forward():
            screen.say([f"{session.node} takes no step on this branch"])
            return
    moved(screen)


def over(screen: Screen) -> str:
    """An expression that says that the first node does nothing any more."""
    name = repr(screen.session.names[0])
    return f"not world[{name}].up" if screen.session.here.of_services else f"{name} in ended"


def under_way(screen: Screen) -> str:
    """An expression that says the opposite."""
    name = repr(screen.session.names[0])
    return f"world[{name}].up" if screen.session.here.of_services else f"{name} not in ended"


@command(
    "until EXPR",
    "on to the first step after which a Python expression over `world` is true",
    example=lambda screen: f"until {over(screen)}",
)
def until_(screen: Screen, rest: str) -> None:
    steps = range(screen.session.step + 1, screen.session.last + 1)
    arrive(screen, rest, until(screen.session, _asked(screen, rest), steps))


@command(
    "back until EXPR",
    "back to the first step before, after which it is true",
    example=lambda screen: f"back until {under_way(screen)}",
)
def back(screen: Screen, rest: str) -> None:
    text = rest.removeprefix("until").strip()
    steps = range(screen.session.step - 1, -1, -1)
    arrive(screen, text, until(screen.session, _asked(screen, text), steps))


def _asked(screen: Screen, text: str) -> str:
    if text:
        return text
    raise BadCommand("there is no expression", "nothing was typed", f"`until {over(screen)}`")


def arrive(screen: Screen, text: str, found: Found) -> None:
    """Go where an expression is true, or say why not."""
    raised = ""
    if found.raised is not None:
        step, how = found.raised
        raised = f"at step {step} it raised {screen.theme.clean(how)}"
    if found.step is None:
        never = f"`{text}` is true after none of {found.looked} steps"
        screen.say(screen.theme.wrap("", f"{never}; {raised}" if raised else never))
        return
    if raised:
        screen.say(screen.theme.wrap("", f"{raised}, which counted as not true"))
    screen.session.jump(found.step)
    moved(screen)
