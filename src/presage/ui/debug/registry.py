"""What the debugger's commands are called: whole words, any unique beginning, and MDB's letters."""

from __future__ import annotations

from collections.abc import Callable

from presage.errors import BadCommand
from presage.records import record
from presage.ui.debug.screen import Screen

Run = Callable[[Screen, str], None]
Example = Callable[[Screen], str]

# MDB's keys, where one word does not say it all. What is typed behind them stays behind.
LETTERS = {
    "n": "next",
    "p": "prev",
    "j": "jump",
    "w": "node",
    "l": "show",
    "P": "show",
    "L": "show",
    "d": "diff",
    "m": "diff --with",
    "i": "filter +",
    "e": "filter -",
    "I": "filter node:",
    "E": "filter -node:",
    "s": "find",
    "x": "grep",
    "t": "props",
    "a": "events",
    "r": "random",
    "R": "live",
    "B": "branch",
    "G": "calm",
    "g": "graph",
    "c": "clear",
    "h": "help",
    "q": "quit",
}


@record(frozen=True)
class Command:
    """One word that the debugger understands."""

    name: str
    usage: str
    about: str
    group: str
    run: Run
    example: Example
    repeats: bool = False  # a bare Enter does it again

    @property
    def of_services(self) -> bool:
        """Whether it means nothing to processes."""
        return self.group == BREAKING or self.name in ONLY_SERVICES

    @property
    def letters(self) -> str:
        """MDB's keys for it."""
        return " ".join(key for key, word in LETTERS.items() if word.split()[0] == self.name)


BREAKING = "break something"
ONLY_SERVICES = ("live", "calm")

COMMANDS: dict[str, Command] = {}


@record(frozen=True)
class Commands:
    """What makes functions commands of a group; the first word of `usage` is a command's name."""

    group: str

    def __call__(
        self, usage: str, about: str, *, example: str | Example = "", repeats: bool = False
    ) -> Callable[[Run], Run]:
        name = usage.split()[0]

        def add(run: Run) -> Run:
            shown: Example = example if callable(example) else lambda _: example or name
            COMMANDS[name] = Command(name, usage, about, self.group, run, shown, repeats)
            return run

        return add


def resolve(line: str) -> tuple[Command, str]:
    """The command that `line` begins with, and what is behind its name."""
    word, _, rest = line.strip().partition(" ")
    if word.isdigit():
        word, rest = "take", f"{word} {rest}"
    if word in LETTERS:
        full = LETTERS[word]
        word, _, more = full.partition(" ")
        glued = more.endswith(("+", "-", ":"))
        rest = f"{more}{rest}" if glued and rest.strip() else "" if glued else f"{more} {rest}"
    if word in COMMANDS:
        return COMMANDS[word], rest.strip()
    matching = [name for name in COMMANDS if name.startswith(word)]
    shortest = min(matching, key=len, default="")
    if matching and all(name.startswith(shortest) for name in matching):
        return COMMANDS[shortest], rest.strip()
    fact = f"`{word}` may be {' or '.join(matching)}" if matching else f"`{word}` is no command"
    cause = "too few letters of it" if matching else "a misspelt word"
    raise BadCommand(fact, cause, "`help` lists the commands")


def number(text: str, what: str, default: int | None = None) -> int:
    """A whole number that was typed."""
    if not text and default is not None:
        return default
    try:
        return int(text)
    except ValueError:
        raise BadCommand(
            f"`{text}` is no {what}", "a word where a number belongs", f"give a {what}"
        ) from None
