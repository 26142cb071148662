"""Commands that break something by hand, within what the system allows or beyond it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presage.errors import BadCommand, explain
from presage.model.event import (
    Crash,
    Cut,
    Deliver,
    Drop,
    Duplicate,
    Event,
    Heal,
    Own,
    Reset,
    Restart,
    SilentReset,
    Slow,
    Wake,
)
from presage.ui.debug.acting import came, chosen
from presage.ui.debug.commands import BREAKING, command

if TYPE_CHECKING:
    from presage.ui.debug.console import Console

GROUP = BREAKING


def some_node(console: Console) -> str:
    """A node, for an example."""
    return console.session.names[-1]


def strike(console: Console, event: Event) -> None:
    """Let a fault happen, and say if no search would."""
    session = console.session
    branch = session.branch
    _, beyond = session.fault(event)
    if beyond:
        told = "beyond what the system allows: no search goes there, no replay accepts it"
        console.say(console.theme.wrap("", told))
    came(console, branch)


def _mail(console: Console, rest: str, kind: type[Drop | Duplicate]) -> None:
    event = chosen(console, rest).event
    if not isinstance(event, Deliver | Drop | Duplicate):
        raise BadCommand(
            explain(
                f"event {rest} is `{event}`, not a message of the network",
                "a stream loses nothing by itself, and a timer is no message",
                "`events` numbers the deliveries; `cut A B` breaks a stream",
            )
        )
    strike(console, kind(event.node, event.source, event.message))


@command("drop K", "lose the message of event K", group=GROUP, example="drop 0")
def drop(console: Console, rest: str) -> None:
    _mail(console, rest, Drop)


@command(
    "duplicate K",
    "make a second copy of the message of event K",
    group=GROUP,
    example="duplicate 0",
)
def duplicate(console: Console, rest: str) -> None:
    _mail(console, rest, Duplicate)


def _own(console: Console, rest: str, kind: type[Own]) -> None:
    session = console.session
    if rest not in session.names:
        raise BadCommand(explain(f"there is no node `{rest}`", "a slip", ", ".join(session.names)))
    strike(console, kind(rest))


@command("crash NODE", "a node goes down", group=GROUP, example=lambda c: f"crash {some_node(c)}")
def crash(console: Console, rest: str) -> None:
    _own(console, rest, Crash)


@command("restart NODE", "it comes back", group=GROUP, example=lambda c: f"restart {some_node(c)}")
def restart(console: Console, rest: str) -> None:
    _own(console, rest, Restart)


@command(
    "reset NODE", "down and up at once", group=GROUP, example=lambda c: f"reset {some_node(c)}"
)
def reset(console: Console, rest: str) -> None:
    _own(console, rest, Reset)


@command(
    "silent NODE",
    "the same, nobody is told",
    group=GROUP,
    example=lambda c: f"silent {some_node(c)}",
)
def silent(console: Console, rest: str) -> None:
    _own(console, rest, SilentReset)


@command(
    "slow NODE",
    "it takes no step until it wakes",
    group=GROUP,
    example=lambda c: f"slow {some_node(c)}",
)
def slow(console: Console, rest: str) -> None:
    _own(console, rest, Slow)


@command("wake NODE", "a slow node goes on", group=GROUP, example=lambda c: f"wake {some_node(c)}")
def wake(console: Console, rest: str) -> None:
    _own(console, rest, Wake)


@command(
    "cut A B",
    "the connection between two nodes breaks",
    group=GROUP,
    example=lambda c: f"cut {c.session.names[0]} {some_node(c)}",
)
def cut(console: Console, rest: str) -> None:
    words, names = rest.split(), console.session.names
    if len(words) != 2 or not set(words) <= set(names):
        raise BadCommand(explain(f"`cut {rest}`", "two nodes have to be named", ", ".join(names)))
    one, other = sorted(words, key=names.index)
    strike(console, Cut(one, other))


@command("heal", "a network that fell apart is whole again", group=GROUP)
def heal(console: Console, rest: str) -> None:
    strike(console, Heal())
