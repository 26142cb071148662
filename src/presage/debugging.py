"""What is told of a trace and its system: `presage debug`, `explain`, and what `check` found."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable
from functools import partial

from presage.errors import HandlerStuck
from presage.load import Checkable, load_traced
from presage.search.report import Report
from presage.trace import codec
from presage.trace.trace import Trace
from presage.ui import explanation, violation
from presage.ui.debug.start import start
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
    from presage import reports

    def write() -> str:
        return next(iter(reports.write(report(), give_up=give_up)))

    system, trace = _read(args, "debug")
    return start(system, trace, args, theme, (sys.stdin, sys.stdout), give_up, write)


def asked_report(args: argparse.Namespace) -> list[str]:
    """The command that writes the page of the same trace."""
    return ["report", args.trace, *(["--target", args.target] if args.target else [])]


def explained(args: argparse.Namespace, theme: Theme, give_up: GiveUp) -> str:
    """The paragraph, or with `--json` the object."""
    import msgspec

    system, trace = _read(args, "explain")
    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        told = explanation.of(system, trace, args.trace, give_up)
    if not args.json:
        return explanation.render(told, theme)
    facts = {"presage": VERSION, "trace": args.trace, **explanation.to_json(told)}
    return msgspec.json.encode(facts).decode()


def told(report: Report, system: Checkable | None, theme: Theme) -> list[str]:
    """What `presage check` says of each violation."""
    more = partial(explanation.brief, system)
    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        return [violation.render(found, theme, more) for found in report.violations]


def _read(args: argparse.Namespace, command: str) -> tuple[Checkable, Trace]:
    trace = codec.read(args.trace)
    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        system = load_traced(trace, args.trace, args.target, command).system
    return system, trace
