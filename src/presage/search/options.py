"""How an option is declared: its values, the searches it is for, its flag.

`Settings` and `Hunt` are dataclasses whose fields are declared here. The command line makes its
flags of a declaration, `check` its refusals, so that each option is described once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, fields
from functools import partial
from typing import Any

from msgspec import Struct

from presage.errors import BadSystem

# Of systems of services.
SEARCHES = ("bfs", "dfs", "delay", "cycles", "tree", "walk", "semantic", "hunt")
PROGRAM_SEARCHES = ("tree", "bfs", "delay")  # of programs
COUNT_MAX = 2**32 - 1  # what the core counts limits with
SECONDS_MAX = 1e9  # thirty years
CAUSES = {
    "count": "a limit that leaves nothing to do, or one beyond counting",
    "seconds": "a time that was over before it began, or no number at all",
    "words": "a misspelt name",
}


class Use(Struct, frozen=True):
    """The searches that an option, or one of its words, is for, and why it is not for others."""

    services: tuple[str, ...] = SEARCHES
    programs: tuple[str, ...] = PROGRAM_SEARCHES
    because: str = ""


class Option(Struct, frozen=True, kw_only=True):
    """What is known of an option, beside its name and its default."""

    kind: str  # count, seconds, words, switch, on_off, text; object: one without a flag
    help: str = ""
    group: str = ""  # of flags; "": the first one
    metavar: str | None = None
    flag: str = ""  # without its dashes, where it is not spelt like the name
    least: int = 1
    most: int = COUNT_MAX
    words: Mapping[str, Use] = {}
    cause: str = ""  # of a value that is not accepted, where it is not the usual one
    use: Use = Use()
    idle: tuple[Any, ...] = ()  # values that ask for no more than the default does
    hunts: bool = False  # `presage hunt` has the flag, too
    rare: bool = False  # the flag is for few, and described elsewhere

    def accepts(self, value: Any) -> bool:
        """Whether `value` makes sense."""
        if isinstance(value, str) and value in self.words:
            return True
        if self.kind == "count":
            whole = isinstance(value, int) and not isinstance(value, bool)
            return whole and self.least <= value <= self.most
        if self.kind == "seconds":
            return isinstance(value, int | float) and 0 < value <= SECONDS_MAX
        return self.kind != "words"

    def help_with(self, default: Any) -> str:
        """What `--help` says of the option."""
        if default is None or self.kind not in ("count", "seconds", "text"):
            return self.help
        said = f"default: {default if isinstance(default, str) else f'{default:,g}'}"
        return f"{self.help}; {said}" if self.help else said

    def refused(self, name: str, fact: str) -> BadSystem:
        remedy = f"give `{name}` from {self.least} to {self.most:,}, or leave it out"
        if self.kind == "seconds":
            remedy = f"give `{name}` above 0, up to {SECONDS_MAX:,.0f}, or leave it out"
        elif self.kind == "words":
            remedy = f"use one of {', '.join(f'`{word}`' for word in self.words)}"
        return BadSystem(fact, self.cause or CAUSES[self.kind], remedy)


def option(default: Any, help: str = "", group: str = "", **more: Any) -> Any:
    return field(default=default, metadata={"option": Option(help=help, group=group, **more)})


count = partial(option, kind="count", metavar="N")
seconds = partial(option, kind="seconds", metavar="S")
switch = partial(option, False, kind="switch")
on_off = partial(option, False, kind="on_off")
text = partial(option, kind="text", metavar="DIR")


def words(default: str | None, known: Any, help: str, group: str = "", **more: Any) -> Any:
    """One of some words, each of which may have searches that it is for."""
    uses = known if isinstance(known, Mapping) else dict.fromkeys(known, Use())
    return option(default, help, group, kind="words", words=uses, **more)


def options(settings: Any) -> Iterator[tuple[str, Option, Any]]:
    """The name, declaration and default of every option, in the order of their declarations."""
    for each in fields(settings):
        if "option" in each.metadata:
            yield each.name, each.metadata["option"], each.default


def refuse_values(settings: Any) -> None:
    """Refuse values that make no sense, for whatever search."""
    for name, declared, default in options(settings):
        value = getattr(settings, name)
        if value != default and not declared.accepts(value):
            is_word = declared.kind == "words"
            fact = f"there is no {name} `{value}`" if is_word else f"`{name}` is {value!r}"
            raise declared.refused(name, fact)


def refuse_use(settings: Any, search: str, *, program: bool) -> None:
    """Refuse options that are given for a search, or a kind of thing, that they are not for."""
    for name, declared, default in options(settings):
        value = getattr(settings, name)
        if value in (default, *declared.idle):
            continue
        flag = f" (`--{declared.flag}`)" if declared.flag else ""
        if declared.kind == "words":
            _refuse(declared.words[value], f"the {name} `{value}`", search, program=program)
        _refuse(declared.use, f"`{name}`{flag}", search, program=program)


def _refuse(use: Use, named: str, search: str, *, program: bool) -> None:
    searches = use.programs if program else use.services
    if not searches:
        raise misplaced(named, program=program)
    if search not in searches:
        fact = f"{named} is given for the search `{search}`"
        raise BadSystem(fact, use.because, f"leave it out, or use `{searches[0]}`")


def misplaced(named: str, *, program: bool) -> BadSystem:
    """The error of an option that means nothing to a program, or to a system."""
    given, other = ("program", "system") if program else ("system", "program")
    fact = f"{named} was given for a {given}"
    return BadSystem(fact, f"an option that is for {other}s only", f"leave out {named}")
