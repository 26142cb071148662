"""Commands that break something by hand, within what the system allows or beyond it."""

from __future__ import annotations

from presage.errors import BadCommand
from presage.model.world.event import OWN, Cut, Deliver, Drop, Duplicate, Event, Heal
from presage.ui.debug.commands.choose import came, chosen
from presage.ui.debug.registry import BREAKING, Commands
from presage.ui.debug.screen import Screen

command = Commands(BREAKING)


def some_node(screen: Screen) -> str:
    return screen.session.names[-1]


def strike(screen: Screen, event: Event) -> None:
    """Let a fault happen, and say if no search would."""
    session = screen.session
    branch = session.branch
    _, beyond = session.fault(event)
    if beyond:
        text = "beyond what the system allows: no search goes there, no replay accepts it"
        screen.say(screen.theme.wrap("", text))
    came(screen, branch)


def _mail(screen: Screen, rest: str, kind: type[Drop | Duplicate]) -> None:
    event = chosen(screen, rest).event
    if not isinstance(event, Deliver | Drop | Duplicate):
        raise BadCommand(
            f"event {rest} is `{event}`, not a message of the network",
            "a stream loses nothing by itself, and a timer is no message",
            "`events` numbers the deliveries; `cut A B` breaks a stream",
        )
    strike(screen, kind(event.node, event.source, event.message))


@command("drop K", "lose the message of event K", example="drop 0")
def drop(screen: Screen, rest: str) -> None:
    _mail(screen, rest, Drop)


@command("duplicate K", "make a second copy of the message of event K", example="duplicate 0")
def duplicate(screen: Screen, rest: str) -> None:
    _mail(screen, rest, Duplicate)


def _own(name: str, does: str) -> None:
    @command(f"{name} NODE", does, example=lambda c: f"{name} {some_node(c)}")
    def inject(screen: Screen, rest: str) -> None:
        names = screen.session.names
        if rest not in names:
            raise BadCommand(f"there is no node `{rest}`", "a slip", ", ".join(names))
        strike(screen, OWN[name](rest))


_own("crash", "a node goes down")
_own("restart", "it comes back")
_own("reset", "down and up at once")
_own("silent", "the same, nobody is told")
_own("slow", "it takes no step until it wakes")
_own("wake", "a slow node goes on")


@command(
    "cut A B",
    "the connection between two nodes breaks",
    example=lambda c: f"cut {c.session.names[0]} {some_node(c)}",
)
def cut(screen: Screen, rest: str) -> None:
    words, names = rest.split(), screen.session.names
    if len(words) != 2 or not set(words) <= set(names):
        raise BadCommand(f"`cut {rest}`", "two nodes have to be named", ", ".join(names))
    one, other = sorted(words, key=names.index)
    strike(screen, Cut(one, other))


@command("heal", "a network that fell apart is whole again")
def heal(screen: Screen, rest: str) -> None:
    strike(screen, Heal())
