"""Commands on a saved trace: `replay`, `debug`, `explain`, `predict`, `graph`, `report`."""

from __future__ import annotations

import argparse
import contextlib
import functools
import sys

from presage.cli.common import EXIT_HELD, EXIT_VIOLATION, give_up, theme_of
from presage.ui.output import write, write_json


def run_replay(args: argparse.Namespace) -> int:
    """`presage replay`: the same steps on the code as it is now, each state compared."""
    from presage.cli.target.traced import load_traced
    from presage.execution.replay import replay
    from presage.trace import codec
    from presage.ui import story

    trace = codec.read(args.trace)
    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        loaded = load_traced(trace, args.trace, args.target, trust=args.trust)
        replayed = replay(loaded.system, trace, give_up=give_up)
    if args.json:
        write_json(
            {
                "trace": args.trace,
                "property": trace.prop,
                "reproduced": replayed.message is not None,
                "message": replayed.message,
                "steps": len(replayed.steps),
                "rounds": replayed.rounds,
            }
        )
    else:
        again = trace.with_steps(replayed.steps)
        theme, rounds = theme_of(args, sys.stdout, whole=True), replayed.rounds
        write(story.render(again, theme, message=replayed.message, rounds=rounds))
    held = (replayed.message is None) != (trace.kind == "live")  # that one is to come right
    return EXIT_HELD if held else EXIT_VIOLATION


def run_debug(args: argparse.Namespace) -> int:
    """`presage debug`: walk about in a trace, on live code."""
    from presage.cli import debug as debugging

    report = functools.partial(args.parse, debugging.asked_report(args))
    return debugging.debug(args, theme_of(args, sys.stdout), give_up, report)


def run_explain(args: argparse.Namespace) -> int:
    """`presage explain`: a trace in one paragraph."""
    from presage.cli import debug as debugging

    write(debugging.explained(args, theme_of(args, sys.stdout), give_up))
    return EXIT_HELD


def run_predict(args: argparse.Namespace) -> int:
    """`presage predict`: what may go wrong from a state of a trace."""
    from presage.cli import predict

    return predict.run(args, theme_of(args, sys.stdout))


def run_graph(args: argparse.Namespace) -> int:
    """`presage graph`: who did what when, and which message went where."""
    from presage.trace import codec
    from presage.ui import graph

    trace = codec.read(args.trace)
    theme = theme_of(args, sys.stdout, whole=True)
    write(graph.render(trace, theme, first=args.first, last=args.last))
    return EXIT_HELD


def run_report(args: argparse.Namespace) -> int:
    """`presage report`: a page that shows a trace, and other forms of it."""
    from presage.cli import report as reports

    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        written = reports.write(args, give_up=give_up)
    for path, what in written.items():
        write(f"{what}: {path}")
        if args.open and what == reports.PAGE and not reports.open_page(path):
            print(f"no browser was found to open {path} with", file=sys.stderr)
    return EXIT_HELD
