"""Commands about the debugger itself: help, with examples that work right here; clear; quit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presage.ui.debug.commands import COMMANDS, Command, command, resolve
from presage.ui.theme import Span

if TYPE_CHECKING:
    from presage.ui.debug.console import Console

GROUP = "the rest"
GROUPS = ("go", "look", "ask", "go another way", "break something", "keep", GROUP)
CLEAR = "\x1b[2J\x1b[H"


@command("clear", "an empty screen", group=GROUP)
def clear(console: Console, rest: str) -> None:
    if console.theme.colour:
        console.stdout.write(CLEAR)
        console.stdout.flush()


@command("help [COMMAND]", "this, or more of one command, on the current step", group=GROUP)
def help_(console: Console, rest: str) -> None:
    if rest:
        console.say(_told(console, resolve(rest)[0]))
        return
    lines = ["whole words, or any beginning that is unique; a bare Enter steps on"]
    services = console.session.ground.of_services
    found = {
        group: [
            each
            for each in COMMANDS.values()
            if each.group == group and (services or not each.of_services)
        ]
        for group in GROUPS
    }
    for group in (name for name in GROUPS if found[name]):
        lines += ["", console.theme.line(Span(group, "strong"))]
        for each in found[group]:
            lines += console.theme.wrap(f"  {each.usage:<34}  ", each.about)
    console.say([*lines, "", "`help COMMAND` shows one at work on the step we are at"])


def _told(console: Console, found: Command) -> list[str]:
    lines = [found.usage, *console.theme.wrap("  ", found.about)]
    if found.letters:
        lines.append(f"  also: {found.letters}")
    return [*lines, f"  here: {console.theme.clean(found.example(console))}"]


@command("quit", "the end", group=GROUP)
def quit_(console: Console, rest: str) -> None:
    """The console ends before it comes to this."""
