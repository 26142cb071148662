"""Begin a session: from the keyboard, from a stream of commands, or from the command line."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from presage.debug.session import Session
from presage.errors import HandlerStuck
from presage.execution.sandbox import SECONDS_DEFAULT, Sandbox
from presage.model.world.system import System
from presage.process.program import Program
from presage.trace.trace import Trace
from presage.ui.debug.console import Console
from presage.ui.debug.pages import Pager, keep, remember
from presage.ui.theme import Theme

ROWS_MIN = 8


def start(
    system: System | Program,
    trace: Trace,
    args: argparse.Namespace,
    theme: Theme,
    streams: tuple[TextIO, TextIO],
    give_up: Callable[[HandlerStuck], None] | None = None,
    report: Callable[[], str] | None = None,
) -> int:
    """Run one session; 0, or 2 if a command given by `--do` was refused."""
    source, out = streams
    typed = source.isatty() and out.isatty() and not args.do
    with Sandbox(SECONDS_DEFAULT, give_up) as sandbox:
        session = Session(system, trace, sandbox)
        at = session.critical if args.at is None else args.at
        session.jump(at if at is not None else min(1, session.last))
        rows = shutil.get_terminal_size().lines - 2
        console = Console(
            session,
            theme,
            path=Path(args.trace),
            stdin=None if typed else source,
            stdout=out,
            pager=Pager(max(rows, ROWS_MIN)) if typed else None,
            report=report,
        )
        if args.do:
            for line in args.do:
                out.write(f"{console.prompt}{line}\n")
                if console.onecmd(line):
                    break
            return 2 if console.failed else 0
        history = remember() if typed else None
        try:
            console.loop(echo=not source.isatty())
        finally:
            keep(history)
    return 0
