"""What commands say of a trace and its system: `debug`, `explain`, and what `check` found."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable
from functools import partial

import msgspec

from presage.cli.common import EXIT_HELD
from presage.cli.target.load import Checkable
from presage.errors import HandlerStuck
from presage.search.report import Report
from presage.trace import codec
from presage.trace.trace import Trace
from presage.ui import explanation, violation
from presage.ui.output import silence
from presage.ui.theme import Theme
from presage.version import VERSION

GiveUp = Callable[[HandlerStuck], None]


def debug(
    args: argparse.Namespace,
    theme: Theme,
    give_up: GiveUp,
    report: Callable[[], argparse.Namespace],
) -> int:
    """A session on the trace that is named; `report` gives what `presage report` would be asked."""
    from presage.cli import report as reports
    from presage.ui.debug.start import start

    def write() -> str:
        return next(iter(reports.write(report(), give_up=give_up)))

    system, trace = _read(args, "debug")
    try:
        return start(system, trace, args, theme, (sys.stdin, sys.stdout), give_up, write)
    except BrokenPipeError:  # a reader that has gone away does not change the status
        silence()
        return EXIT_HELD


def asked_report(args: argparse.Namespace) -> list[str]:
    """The command that writes the page of the same trace."""
    named = ["--target", args.target] if args.target else []
    return ["report", args.trace, *named, *(["--trust"] if args.trust else [])]


def explained(args: argparse.Namespace, theme: Theme, give_up: GiveUp) -> str:
    """The paragraph, or with `--json` the object."""
    system, trace = _read(args, "explain")
    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        found = explanation.of(system, trace, args.trace, give_up)
    if not args.json:
        return explanation.render(found, theme)
    facts = {"presage": VERSION, "trace": args.trace, **explanation.to_json(found)}
    return msgspec.json.encode(facts).decode()


def violation_texts(report: Report, system: Checkable | None, theme: Theme) -> list[str]:
    """What `presage check` says of each violation."""
    more = partial(explanation.brief, system)
    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        return [violation.render(found, theme, more) for found in report.violations]


def _read(args: argparse.Namespace, command: str) -> tuple[Checkable, Trace]:
    from presage.cli.target.traced import load_traced  # which `presage check` does not need

    trace = codec.read(args.trace)
    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        loaded = load_traced(trace, args.trace, args.target, command, trust=args.trust)
    # What a session saves is signed, so it names what ran, not what a stranger wrote.
    return loaded.system, msgspec.structs.replace(trace, target=loaded.target)
