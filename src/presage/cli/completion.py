"""`presage completion SHELL`: a script that completes commands, options and their values.

It is made of the parser of the command line, so that it knows what that knows. Targets are files,
folders and the names of shipped systems.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator

from presage.cli.common import EXIT_HELD
from presage.cli.options import Parser
from presage.records import record
from presage.systems import SHIPPED
from presage.ui.output import write

HELP_MAX = 60


@record(frozen=True)
class Flag:
    """An option of a command."""

    name: str
    about: str
    takes: bool  # whether a value follows
    values: tuple[str, ...]


@record(frozen=True)
class Command:
    """A command: its options, and whether it takes a target."""

    name: str
    about: str
    flags: tuple[Flag, ...]
    values: tuple[str, ...]  # of what it takes by place


def add_completion(parser: argparse.ArgumentParser) -> None:
    """The options of `presage completion`."""
    parser.add_argument("shell", metavar="SHELL", choices=tuple(SHELLS), help="bash, zsh, fish")


def run_completion(args: argparse.Namespace) -> int:
    """Print the script of a shell."""
    write(SHELLS[args.shell](list(commands(args.parser()))))
    return EXIT_HELD


def commands(parser: Parser) -> Iterator[Command]:
    """Every command that `parser` knows."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            abouts = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, each in action.choices.items():
                yield _command(name, abouts.get(name, ""), each)


def _command(name: str, about: str, parser: Parser) -> Command:
    if parser.fill is not None:
        fill, parser.fill = parser.fill, None
        fill(parser)
    values: tuple[str, ...] = ()
    flags = []
    for action in parser._actions:
        if action.option_strings:
            flags += [_flag(option, action) for option in action.option_strings if "--" in option]
        elif action.dest == "target":
            values = tuple(sorted(SHIPPED))
        elif action.choices:
            values = tuple(map(str, action.choices))
    return Command(name, about, tuple(flags), values)


def _flag(option: str, action: argparse.Action) -> Flag:
    shown = action.help if action.help and action.help != argparse.SUPPRESS else ""
    values = tuple(map(str, action.choices or ()))
    return Flag(option, shown[:HELP_MAX], action.nargs != 0, values)


def bash(found: list[Command]) -> str:
    """Completion for bash, from version 3 on."""
    cases = []
    for command in found:
        options = " ".join(flag.name for flag in command.flags)
        cases.append(f"    {command.name}) options={shlex.quote(options)}")
        cases.append(f"      words={shlex.quote(' '.join(command.values))} ;;")
    valued = [
        f"    {shlex.quote(f'{command.name} {flag.name}')}) words={shlex.quote(_joined(flag))};"
        " options= ;;"
        for command in found
        for flag in command.flags
        if flag.values
    ]
    first = shlex.quote(" ".join([*(command.name for command in found), "--version", "--help"]))
    return "\n".join(
        [
            "# presage: source this, or put it into a folder of bash-completion.",
            "_presage() {",
            "  local current=${COMP_WORDS[COMP_CWORD]} options= words=",
            "  COMPREPLY=()",
            '  if [ "$COMP_CWORD" -eq 1 ]; then',
            f'    COMPREPLY=($(compgen -W {first} -- "$current"))',
            "    return",
            "  fi",
            '  case "${COMP_WORDS[1]}" in',
            *cases,
            "  esac",
            '  case "${COMP_WORDS[1]} ${COMP_WORDS[COMP_CWORD-1]}" in',
            *valued,
            "  esac",
            '  case "$current" in',
            '    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;',
            '    *) COMPREPLY=($(compgen -W "$words" -- "$current"))',
            '      [ -z "$options" ] || COMPREPLY+=($(compgen -f -- "$current")) ;;',
            "  esac",
            "}",
            "complete -o filenames -F _presage presage",
        ]
    )


def zsh(found: list[Command]) -> str:
    """Completion for zsh, as a file of its `fpath`, or sourced."""
    lines = ["#compdef presage", "_presage() {", "  local -a commands", "  commands=("]
    lines += [f"    {shlex.quote(f'{each.name}:{each.about}')}" for each in found]
    lines += [
        "  )",
        "  if (( CURRENT == 2 )); then",
        "    _describe command commands",
        "    return",
    ]
    lines += ["  fi", "  local command=$words[2]", "  shift words", "  (( CURRENT-- ))"]
    lines += ["  case $command in"]
    for each in found:
        specs = [shlex.quote(_zsh_flag(flag)) for flag in each.flags]
        targets = f"*: :{{_alternative 'words:word:({' '.join(each.values)})' 'files:file:_files'}}"
        specs.append(shlex.quote(targets))
        lines.append(f"    {each.name}) _arguments \\")
        lines += [f"      {spec} \\" for spec in specs[:-1]]
        lines.append(f"      {specs[-1]} ;;")
    return "\n".join([*lines, "  esac", "}", "compdef _presage presage"])


def _zsh_flag(flag: Flag) -> str:
    about = flag.about.translate(str.maketrans("[]:", "() "))
    if not flag.takes:
        return f"*{flag.name}[{about}]"
    return f"*{flag.name}[{about}]:value:" + (f"({_joined(flag)})" if flag.values else "_files")


def fish(found: list[Command]) -> str:
    """Completion for fish, as a file of its `completions`."""
    lines = ["# presage"]
    for each in found:
        about, seen = _fish(each.about), f"'__fish_seen_subcommand_from {each.name}'"
        lines.append(f"complete -c presage -n __fish_use_subcommand -f -a {each.name} -d {about}")
        if each.values:
            lines.append(f"complete -c presage -n {seen} -a {shlex.quote(' '.join(each.values))}")
        for flag in each.flags:
            line = f"complete -c presage -n {seen} -l {flag.name.lstrip('-')}"
            if flag.values:
                line += f" -x -a {shlex.quote(_joined(flag))}"
            elif flag.takes:
                line += " -r"
            lines.append(line + (f" -d {_fish(flag.about)}" if flag.about else ""))
    return "\n".join(lines)


def _joined(flag: Flag) -> str:
    return " ".join(flag.values)


def _fish(text: str) -> str:
    """Quoted as fish does: a backslash, not a closed and opened quote, before a quote."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


SHELLS: dict[str, Callable[[list[Command]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
