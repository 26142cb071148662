"""The reference of commands and options, written from the parser of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from presage.cli import _parser

ABOUT = """\
# Commands and options

Written from the parser of the command line: what `presage COMMAND --help` prints. The pages on the
[command line](command-line.md) and on [live commands](live-commands.md) explain it.
"""


def options_page() -> str:
    """All commands in the order of `presage --help`, each with its usage and its options."""
    [commands] = [
        action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction)
    ]
    abouts = {action.dest: action.help for action in commands._choices_actions}
    parts = [ABOUT]
    for name, command in commands.choices.items():
        if command.fill is not None:
            command.fill(command)
        parts += [f"\n## `presage {name}`\n", _sentence(abouts[name]), ""]
        parts += ["```{program} presage " + name, "```", "", "```text", _usage(command), "```", ""]
        parts += _groups(command)
    return "\n".join(parts)


def _usage(command: argparse.ArgumentParser) -> str:
    formatter = argparse.HelpFormatter(command.prog, width=100)
    formatter.add_usage(command.usage, command._actions, [], prefix="")
    return formatter.format_help().strip()


def _groups(command: argparse.ArgumentParser) -> Iterator[str]:
    for group in command._action_groups:
        actions = [each for each in group._group_actions if each.help is not argparse.SUPPRESS]
        if not actions:
            continue
        yield f"**{_sentence(group.title or 'options').rstrip('.')}**\n"
        for action in actions:
            about = f":no-contents-entry:\n\n{_sentence(_help(action))}"
            yield f"```{{option}} {_spelt(action)}\n{about}\n```\n"


def _spelt(action: argparse.Action) -> str:
    """An option as a user writes it: all its names, and what stands for its value."""
    value = _value(action)
    if not action.option_strings:
        return value
    return ", ".join(f"{name} {value}".strip() for name in action.option_strings)


def _value(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    if action.metavar is not None:
        given = action.metavar
        return given if isinstance(given, str) else " ".join(given)
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper() if action.option_strings else action.dest


def _help(action: argparse.Action) -> str:
    values: dict[str, Any] = {"default": action.default, "prog": "presage"}
    return (action.help or "") % values if "%" in (action.help or "") else action.help or ""


def _sentence(text: str | None) -> str:
    """A help text as prose: with a capital letter, unless it begins with a name, and a stop."""
    text = (text or "").strip()
    first = text.split(" ")[0].strip(",;:")
    begin = text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text
    return begin if begin.endswith((".", "!", "?")) or not begin else begin + "."
