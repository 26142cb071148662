"""Reads commands, hands them on, and writes what comes back; a screenful at a time on a terminal.

Made of `cmd.Cmd`, so that a test can give it a stream of commands and compare the text. An error
in a command is shown and the session goes on; only `quit` and the end of the input end it.
"""

from __future__ import annotations

import cmd
import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

from presage.debug.session import Session
from presage.errors import BadCommand, PresageError
from presage.lifeline import Terminated
from presage.trace.show import plural
from presage.ui.debug.commands import (
    choose,
    help,
    inject,
    inspect,
    navigate,
    query,
    record,
    show,
)
from presage.ui.debug.pages import Pager
from presage.ui.debug.registry import COMMANDS, resolve
from presage.ui.debug.screen import Screen
from presage.ui.theme import Theme

MODULES = (navigate, show, inspect, query, choose, inject, record, help)  # in the order of `help`
PROMPT = "({} {}{}) "


class Console(Screen, cmd.Cmd):
    """One session at a terminal, or at whatever stands in for one."""

    def __init__(
        self,
        session: Session,
        theme: Theme,
        *,
        path: Path | None = None,
        stdin: IO[str] | None = None,
        stdout: IO[str] | None = None,
        pager: Pager | None = None,
        report: Callable[[], str] | None = None,
    ) -> None:
        cmd.Cmd.__init__(self, stdin=stdin, stdout=stdout)
        Screen.__init__(self, session, theme, path=path, pager=pager, report=report)
        self.use_rawinput = stdin is None
        self._echo = False
        self._opened = False
        self.failed = False  # a command was refused

    # -- the loop ----------------------------------------------------------------------------

    def preloop(self) -> None:
        """Say where we are before anything is asked."""
        if not self._opened:
            self._opened = True
            with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
                lines = self.opening()
            self.say(lines)

    def loop(self, *, echo: bool = False) -> None:
        """Read and do until the end; Ctrl-C takes back what was being typed.

        With `echo` what is read is written as well: a stream of commands shows nothing itself.
        """
        self._echo = echo
        while True:
            try:
                self.cmdloop()
                return
            except Terminated:
                raise
            except KeyboardInterrupt:
                self.stdout.write("\n")

    def precmd(self, line: str) -> str:
        """Show what was read where nobody has typed it."""
        if self._echo:
            self.stdout.write("\n" if line == "EOF" else f"{line}\n")
        return line

    def opening(self) -> list[str]:
        """What this trace is, in a line or two."""
        session, trace = self.session, self.session.trace
        fact = f"{trace.prop} {trace.message}" if trace.kind == "live" else self.violation.fact
        lines = self.theme.wrap("", f"{trace.system}: {fact}")
        count = plural(len(trace.steps), "step")
        lines.append(f"{count}; `help` lists the commands, Enter steps on")
        return [*lines, "", *show.step_lines(self, session.step)]

    @property
    def prompt(self) -> str:
        """Branch, step, node."""
        step = self.session.current
        node = self.session.node or (step.node if step else "")
        where = f" {self.theme.clean(node)}" if node else ""
        return PROMPT.format(self.theme.clean(self.session.branch), self.session.step, where)

    @prompt.setter
    def prompt(self, value: str) -> None:
        pass

    def onecmd(self, line: str) -> bool:
        """Do what `line` says; true if that was the end."""
        if line == "EOF":
            return True
        try:
            if not line.strip():
                line = self.repeat
                self.repeat = "next" if line.startswith("jump") else line
            command, rest = resolve(line)
            if command.name == "quit":
                return True
            if command.of_services and not self.session.here.of_services:
                raise BadCommand(f"`{command.name}` is for services: processes have no faults")
            if command.repeats:
                self.repeat = line
            with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
                command.run(self, rest)
        except PresageError as error:
            self.failed = True
            self.say([self.theme.clean(each) for each in f"error: {error}".split("\n")])
        except Terminated:
            raise
        except KeyboardInterrupt:
            self.say(["interrupted"])
        return False

    def emptyline(self) -> bool:
        """A bare Enter; `onecmd` has dealt with it."""
        return self.onecmd(self.repeat)

    def completenames(self, text: str, *ignored: object) -> list[str]:
        """Words that begin with `text`."""
        return [f"{name} " for name in COMMANDS if name.startswith(text)]

    def completedefault(self, text: str, line: str, begidx: int, endidx: int) -> list[str]:
        """What may follow: nodes, their fields, branches."""
        state = self.session.state()
        known = [*state, *self.session.branches]
        for node, fields in state.items():
            known += (
                [f"{node}.{field}" for field in fields if field] if isinstance(fields, dict) else []
            )
        return sorted(each for each in known if each.startswith(text))
