"""The command line: parses, calls the layer below, prints, and ends with the promised status.

0 held within its limits, 1 violation, 2 usage or a system that cannot be checked, 3 the checked
code is nondeterministic, 4 presage's own fault. Standard output carries the report, with `--json`
one object, and nothing else: progress, errors and what the checked code prints go to standard
error.
"""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable, Sequence
from typing import Any

from presage.cli import check, systems, traces
from presage.cli.common import EXIT_INTERRUPTED, EXIT_OURS, EXIT_USAGE, with_findings
from presage.cli.options import (
    Parser,
    add_check,
    add_debug,
    add_doctor,
    add_explore,
    add_graph,
    add_hunt,
    add_mpirun,
    add_predict,
    add_report,
    add_run_once,
    add_simulate,
    add_trace,
)
from presage.errors import PresageError, explain
from presage.lifeline import is_interrupt
from presage.ui.output import TRACEBACK, complain, prepare_streams
from presage.version import VERSION

# Commands that run nodes or speak to them, loaded when they are used: by name, module and help.
LIVE = {
    "up": ("live", "run all nodes of a system, as local processes"),
    "run": ("live", "run one node of a cluster"),
    "call": ("nodes", "call a method of a running node"),
    "kill": ("nodes", "kill the process of a running node"),
    "start": ("nodes", "start a node that was killed or has failed"),
    "status": ("nodes", "tell which nodes run, and what they did"),
    "snapshot": ("snapshot", "save one state of a running system"),
    "logs": ("logs", "tell what nodes did; merge and judge their logs"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    prepare_streams()
    try:
        args = _parser().parse_args(argv)
        _collect()
        status: int = args.run(args)
        return status
    except PresageError as error:
        complain(with_findings(error))
        return error.exit_status
    except SystemExit:
        raise
    except BaseException as error:  # a panic of the Rust core is not an `Exception`
        if is_interrupt(error):
            complain("interrupted before there was anything to report")
            return EXIT_INTERRUPTED
        complain(
            explain(
                f"presage itself failed: {type(error).__name__}: {error}",
                "a fault of presage, not of the checked system",
                f"`{TRACEBACK}=1` in the environment shows where; please report it",
            )
        )
        return EXIT_OURS


def _collect() -> None:
    """Let garbage be collected, if that was put off; never look at what is loaded by now."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def _parser() -> Parser:
    parser = Parser(prog="presage", description="Check distributed systems written in Python.")
    parser.add_argument("--version", action="version", version=f"presage {VERSION}")
    parser.set_defaults(run=lambda _: _show_help(parser), parse=parser.parse_args)
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    add = functools.partial(_add, commands)
    add("check", check.run_check, "search a system for violations of its properties", add_check)
    add("hunt", check.run_check, "look for executions that never recover", add_hunt)
    add("run-once", systems.run_run_once, "show one random execution of a system", add_run_once)
    add("replay", traces.run_replay, "run a saved trace again, step by step", add_trace)
    add("debug", traces.run_debug, "walk about in a saved trace, on live code", add_debug)
    add("explain", traces.run_explain, "tell a saved trace in one paragraph", add_trace)
    add("predict", traces.run_predict, "look ahead from a saved state", add_predict)
    add("graph", traces.run_graph, "draw a saved trace: nodes, steps, messages", add_graph)
    add("simulate", systems.run_simulate, "run a program once, in virtual time", add_simulate)
    add("report", traces.run_report, "write a page that shows a saved trace", add_report)
    add("explore", systems.run_explore, "step through a system on a local page", add_explore)
    add("systems", systems.run_systems, "list the shipped systems and their parameters")
    add("doctor", systems.run_doctor, "look for nondeterminism in a system", add_doctor)
    add("mpirun", systems.run_mpirun, "run an mpi4py script once, without MPI", add_mpirun)
    for name, (module, about) in LIVE.items():
        add(name, _lazily(module, f"run_{name}"), about, _lazily("live_options", f"add_{name}"))
    return parser


def _lazily(module: str, name: str) -> Callable[[Any], Any]:
    """A function of a module of live commands, all of which are loaded by the first call."""

    def call(argument: Any) -> Any:
        from presage.cli import live, live_options, logs, nodes, snapshot

        known = {each.__name__: each for each in (live, live_options, logs, nodes, snapshot)}
        return getattr(known[f"presage.cli.{module}"], name)(argument)

    return call


def _add(
    commands: Any,
    name: str,
    run: Callable[..., int],
    about: str,
    fill: Callable[[Parser], None] | None = None,
) -> None:
    parser: Parser = commands.add_parser(name, help=about, description=about, allow_abbrev=False)
    parser.set_defaults(run=run)
    parser.fill = fill
    parser.add_argument("--ascii", action="store_true", help="write ASCII only")
    parser.add_argument(
        "--no-color", action="store_true", help="as with NO_COLOR in the environment"
    )


def _show_help(parser: Parser) -> int:
    parser.print_help(sys.stderr)
    return EXIT_USAGE
