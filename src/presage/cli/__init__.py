"""The command line: parses, calls the layer below, prints, and ends with the promised status.

0 held within its limits, 1 violation, 2 usage or a system that cannot be checked, 3 the checked
code is nondeterministic, 4 presage's own fault. Standard output carries the report, with `--json`
one object, and nothing else: progress, errors and what the checked code prints go to standard
error.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from presage.cli import check
from presage.cli.check_options import add_check, add_hunt
from presage.cli.common import (
    EXIT_INTERRUPTED,
    EXIT_OURS,
    EXIT_USAGE,
    collect_garbage,
    with_findings,
)
from presage.cli.options import (
    Parser,
    add_debug,
    add_doctor,
    add_explore,
    add_graph,
    add_mpirun,
    add_predict,
    add_report,
    add_run_once,
    add_simulate,
    add_trace,
)
from presage.errors import PresageError, explain
from presage.lifeline import is_interrupt
from presage.ui.output import TRACEBACK, complain, prepare_streams, write
from presage.version import build_text

# Commands on systems and traces: by name, module, help and options.
LATER: dict[str, tuple[str, str, Callable[[Parser], None] | None]] = {
    "run-once": ("systems", "show one random execution of a system", add_run_once),
    "replay": ("traces", "run a saved trace again, step by step", add_trace),
    "debug": ("traces", "walk about in a saved trace, on live code", add_debug),
    "explain": ("traces", "tell a saved trace in one paragraph", add_trace),
    "predict": ("traces", "look ahead from a saved state", add_predict),
    "graph": ("traces", "draw a saved trace: nodes, steps, messages", add_graph),
    "simulate": ("systems", "run a program once, in virtual time", add_simulate),
    "report": ("traces", "write a page that shows a saved trace", add_report),
    "explore": ("systems", "step through a system on a local page", add_explore),
    "systems": ("systems", "list the shipped systems and their parameters", None),
    "doctor": ("systems", "look for nondeterminism in a system", add_doctor),
    "mpirun": ("systems", "run an mpi4py script once, without MPI", add_mpirun),
}

# Commands that are loaded when they are used: by name, module and help.
LAZY = {
    "new": ("new", "write a small project to begin with"),
    "completion": ("completion", "print a script that completes commands in a shell"),
    "up": ("live", "run all nodes of a system, as local processes"),
    "run": ("live", "run one node of a cluster"),
    "call": ("nodes", "call a method of a running node"),
    "kill": ("nodes", "kill the process of a running node"),
    "start": ("nodes", "start a node that was killed or has failed"),
    "status": ("nodes", "tell which nodes run, and what they did"),
    "snapshot": ("snapshot", "save one state of a running system"),
    "logs": ("logs", "tell what nodes did; merge and judge their logs"),
}


class _Version(argparse.Action):
    """Prints the version; the core is asked only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        write(build_text())
        parser.exit()


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    prepare_streams()
    try:
        args = _parser().parse_args(_joined(sys.argv[1:] if argv is None else argv))
        if args.run is not check.run_check:  # which has more to load
            collect_garbage()
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


def _joined(argv: Sequence[str]) -> list[str]:
    """Make one word of the command after `--`, which is a target."""
    if "--" not in argv[:-2]:
        return list(argv)
    import shlex

    at = argv.index("--")
    return [*argv[:at], shlex.join(argv[at + 1 :])]


def _parser() -> Parser:
    parser = Parser(prog="presage", description="Check distributed systems written in Python.")
    about = "tell it, and how it was built"
    parser.add_argument("--version", action=_Version, nargs=0, help=about)
    parser.set_defaults(run=lambda _: _show_help(parser), parse=parser.parse_args, parser=_parser)
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    add = functools.partial(_add, commands)
    add("check", check.run_check, "search a system for violations of its properties", add_check)
    add("hunt", check.run_check, "look for executions that never recover", add_hunt)
    for name, (module, about, fill) in LATER.items():
        add(name, _lazy(module, f"run_{name.replace('-', '_')}"), about, fill)
    for name, (module, about) in LAZY.items():
        options = name if name in ("new", "completion") else "live_options"
        add(name, _lazily(module, f"run_{name}"), about, _lazily(options, f"add_{name}"))
    return parser


def _lazily(module: str, name: str) -> Callable[[Any], Any]:
    """A function of a module of such commands, all of which are loaded by the first call."""

    def call(argument: Any) -> Any:
        from presage.cli import completion, live, live_options, logs, new, nodes, snapshot

        modules = (completion, live, live_options, logs, new, nodes, snapshot)
        known = {each.__name__: each for each in modules}
        return getattr(known[f"presage.cli.{module}"], name)(argument)

    return call


def _lazy(module: str, name: str) -> Callable[[Any], int]:
    """A command about systems or traces; most checks need none."""

    def call(args: Any) -> int:
        from presage.cli import systems, traces

        status: int = getattr({"systems": systems, "traces": traces}[module], name)(args)
        return status

    return call


def _add(
    commands: Any,
    name: str,
    run: Callable[..., int],
    about: str,
    fill: Callable[[Parser], None] | None = None,
) -> None:
    parser: Parser = commands.add_parser(name, help=about, description=about, allow_abbrev=False)
    parser.begin = functools.partial(_begin, run)
    parser.fill = fill


def _begin(run: Callable[..., int], parser: Parser) -> None:
    parser.set_defaults(run=run)
    parser.add_argument("--ascii", action="store_true", help="write ASCII only")
    parser.add_argument(
        "--no-color", action="store_true", help="as with NO_COLOR in the environment"
    )


def _show_help(parser: Parser) -> int:
    parser.print_help(sys.stderr)
    return EXIT_USAGE
