"""Commands about the debugger itself: help, with examples that work right here; clear; quit."""

from __future__ import annotations

from presage.ui.debug.registry import COMMANDS, Command, Commands, resolve
from presage.ui.debug.screen import Screen
from presage.ui.theme import Span

command = Commands("the rest")
GROUPS = ("go", "look", "ask", "go another way", "break something", "keep", command.group)
CLEAR = "\x1b[2J\x1b[H"


@command("clear", "an empty screen")
def clear(screen: Screen, rest: str) -> None:
    if screen.theme.colour:
        screen.stdout.write(CLEAR)
        screen.stdout.flush()


@command("help [COMMAND]", "this, or more of one command, on the current step")
def help_(screen: Screen, rest: str) -> None:
    if rest:
        screen.say(_told(screen, resolve(rest)[0]))
        return
    lines = ["whole words, or any beginning that is unique; a bare Enter steps on"]
    services = screen.session.here.of_services
    found = {
        group: [
            each
            for each in COMMANDS.values()
            if each.group == group and (services or not each.of_services)
        ]
        for group in GROUPS
    }
    for group in (name for name in GROUPS if found[name]):
        lines += ["", screen.theme.line(Span(group, "strong"))]
        for each in found[group]:
            lines += screen.theme.wrap(f"  {each.usage:<34}  ", each.about)
    screen.say([*lines, "", "`help COMMAND` shows one at work on the step we are at"])


def _told(screen: Screen, found: Command) -> list[str]:
    lines = [found.usage, *screen.theme.wrap("  ", found.about)]
    if found.letters:
        lines.append(f"  also: {found.letters}")
    return [*lines, f"  here: {screen.theme.clean(found.example(screen))}"]


@command("quit", "the end")
def quit_(screen: Screen, rest: str) -> None:
    """The screen ends before it comes to this."""
