"""The command line: parses, calls the layer below, prints, and ends with the promised status.

0 held within its limits, 1 violation, 2 usage or a system that cannot be checked, 3 the checked
code is nondeterministic, 4 presage's own fault. Standard output carries the report, with `--json`
one object, and nothing else: progress, errors and what the checked code prints go to standard
error.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from presage.errors import BadTarget, PresageError, explain
from presage.options import (
    Parser,
    add_check,
    add_debug,
    add_explore,
    add_mpirun,
    add_report,
    add_simulate,
    add_target,
    add_trace,
    hunt_of,
    positive,
    settings_of,
)
from presage.ui.output import TRACEBACK, complain, prepare_streams, write, write_json
from presage.version import VERSION

if TYPE_CHECKING:
    from presage.search.report import Report
    from presage.ui.progress import Progress
    from presage.ui.theme import Theme

EXIT_HELD = 0
EXIT_VIOLATION = 1
EXIT_USAGE = 2
EXIT_NONDETERMINISM = 3
EXIT_OURS = 4
STATUSES = range(5)
EXIT_INTERRUPTED = 130  # by Ctrl-C before there was anything to report; the shells' convention

# Options that `check` has defaults for, called the same there.
LIMITS = (
    *("depth", "states", "seconds", "walks", "handler_seconds"),
    *("checkpoint", "checkpoint_seconds", "spill", "search", "reduction", "spins"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    prepare_streams()
    try:
        args = _parser().parse_args(argv)
        status: int = args.run(args)
        return status
    except PresageError as error:
        complain(str(error))
        return error.exit_status
    except KeyboardInterrupt:
        complain("interrupted before there was anything to report")
        return EXIT_INTERRUPTED
    except SystemExit:
        raise
    except BaseException as error:  # a panic of the Rust core is not an `Exception`
        complain(
            explain(
                f"presage itself failed: {type(error).__name__}: {error}",
                "a fault of presage, not of the checked system",
                f"`{TRACEBACK}=1` in the environment shows where; please report it",
            )
        )
        return EXIT_OURS


def run_check(args: argparse.Namespace) -> int:
    """`presage check`: search, then tell what broke and what was covered."""
    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        report = _check_script(args) if args.mpi else _check_target(args)
    if args.json:
        write_json(report.to_json())
        return report.exit_status
    from presage.ui import summary

    theme, texts = _theme(args, sys.stdout), []
    if report.violations:
        from presage import debugging  # which most checks do not need

        texts = debugging.told(report, vars(args).get("system"), theme)
    write("\n\n".join([*texts, summary.render(report, theme)]))
    return report.exit_status


def _check_target(args: argparse.Namespace) -> Report:
    from presage.load import load
    from presage.process.program import Program
    from presage.search.check import check

    loaded = load(args.target, settings_of(args.set))
    args.system = loaded.system  # to explain what is found
    kind = "process" if isinstance(loaded.system, Program) else "node"
    progress = _progress(args, loaded.system.name, len(loaded.system.nodes), kind)
    options = _check_options(args, progress)
    try:
        return check(loaded.system, target=loaded.target, parameters=loaded.parameters, **options)
    finally:
        progress.done()


def _check_script(args: argparse.Namespace) -> Report:
    from presage.search.scripts import BOTH, check_script

    progress = _progress(args, args.target, args.mpi, "process")
    options = _check_options(args, progress)
    try:
        return check_script(args.target, args.mpi, args.arg, args.buffering or BOTH, **options)
    finally:
        progress.done()


def _check_options(args: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """The keyword arguments of `check` that were given."""
    limits: dict[str, Any] = {name: getattr(args, name) for name in LIMITS}
    limits["memory_mib"] = args.memory
    return {
        "threads": args.threads,
        "seed": args.seed,
        "keep_going": args.keep_going,
        "liveness": args.liveness,
        "resume": args.resume,
        "symmetry": args.symmetry == "on",
        "hunt": hunt_of(args),
        "calm": args.calm,
        "traces": args.traces,
        "progress": progress,
        "give_up": lambda error: _give_up(error, progress),
        **{name: limit for name, limit in limits.items() if limit is not None},
    }


def run_replay(args: argparse.Namespace) -> int:
    """`presage replay`: the same steps on the code as it is now, each state compared."""
    from presage.load import load_traced
    from presage.search.replay import replay
    from presage.trace import codec
    from presage.ui import story

    trace = codec.read(args.trace)
    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        loaded = load_traced(trace, args.trace, args.target, "replay")
        replayed = replay(loaded.system, trace, give_up=_give_up)
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
        told = trace.with_steps(replayed.steps)
        theme, rounds = _theme(args, sys.stdout), replayed.rounds
        write(story.render(told, theme, message=replayed.message, rounds=rounds))
    held = (replayed.message is None) != (trace.kind == "live")  # that one is to come right
    return EXIT_HELD if held else EXIT_VIOLATION


def run_debug(args: argparse.Namespace) -> int:
    """`presage debug`: walk about in a trace, on live code."""
    from presage import debugging

    report = functools.partial(_parser().parse_args, debugging.asked_report(args))
    return debugging.debug(args, _theme(args, sys.stdout), _give_up, report)


def run_explain(args: argparse.Namespace) -> int:
    """`presage explain`: a trace in one paragraph."""
    from presage import debugging

    write(debugging.explained(args, _theme(args, sys.stdout), _give_up))
    return EXIT_HELD


def run_graph(args: argparse.Namespace) -> int:
    """`presage graph`: who did what when, and which message went where."""
    from presage.trace import codec
    from presage.ui import graph

    trace = codec.read(args.trace)
    write(graph.render(trace, _theme(args, sys.stdout), first=args.first, last=args.last))
    return EXIT_HELD


def run_simulate(args: argparse.Namespace) -> int:
    """`presage simulate`: one run of a program on a platform, in virtual time."""
    from presage.load import load_program
    from presage.simulate.run import simulate
    from presage.ui import timeline

    with contextlib.redirect_stdout(sys.stderr):  # of what the code prints when it is imported
        script = (args.mpi, args.arg, args.buffering)
        program = load_program(args.target, settings_of(args.set), *script)
        done = simulate(program, args.platform, seed=args.seed, until=args.until)
    if args.chrome:
        done.save_chrome(args.chrome)
    if args.json:
        write_json({"presage": VERSION, "target": args.target, **done.to_json()})
    else:
        write(timeline.render(done, _theme(args, sys.stdout), title=args.target))
    return done.exit_status


def run_report(args: argparse.Namespace) -> int:
    """`presage report`: a page that shows a trace, and other forms of it."""
    from presage import reports

    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        written = reports.write(args, give_up=_give_up)
    for path, what in written.items():
        write(f"{what}: {path}")
        if args.open and what == reports.PAGE and not reports.open_page(path):
            print(f"no browser was found to open {path} with", file=sys.stderr)
    return EXIT_HELD


def run_explore(args: argparse.Namespace) -> int:
    """`presage explore`: a page on a live system, until Ctrl-C."""
    from presage import reports
    from presage.load import load_any

    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        script = (args.mpi, args.arg, args.buffering)
        system = load_any(args.target, settings_of(args.set), *script)
        with reports.exploring(system, args.port, _give_up) as server:
            print(f"exploring {args.target}: {server.address}\nCtrl-C ends it", file=sys.stderr)
            if args.open and not reports.open_page(server.address):
                print("no browser was found; open the address yourself", file=sys.stderr)
            with contextlib.suppress(KeyboardInterrupt):
                server.serve_forever()
    return EXIT_HELD


def run_systems(args: argparse.Namespace) -> int:
    """`presage systems`: what is shipped, with parameters and bug switches."""
    from presage.load import shipped
    from presage.ui import systems

    write(systems.render(shipped(), _theme(args, sys.stdout)))
    return EXIT_HELD


def run_doctor(args: argparse.Namespace) -> int:
    """`presage doctor`: run steps twice, under two hash seeds, and name what differs."""
    from presage import hashseeds
    from presage.search.doctor import compare
    from presage.ui import doctor

    settings = settings_of(args.set)
    if args.transcript:
        return _transcribe(args.target, settings, args.transcript)
    arguments = [args.target, *(f"--set={name}={value}" for name, value in settings.items())]
    try:
        examined = compare(hashseeds.transcripts(arguments))
    except hashseeds.Failed as failed:
        print(failed.text, end="", file=sys.stderr)
        return failed.status if failed.status in STATUSES else EXIT_OURS
    if args.json:
        write_json({"presage": VERSION, "target": args.target, **examined.to_json()})
    else:
        write(doctor.render(examined, args.target, _theme(args, sys.stdout)))
    return EXIT_NONDETERMINISM if examined.findings else EXIT_HELD


def run_mpirun(args: argparse.Namespace) -> int:
    """`presage mpirun`: one plain run of an mpi4py script, which prints for itself."""
    from presage.mpi.run import mpirun

    outcome = mpirun(args.script, args.ranks, args.args, tagged=args.tag_output)
    sys.stdout.flush()
    if outcome.is_ok:
        return EXIT_HELD
    complain(f"{outcome.kind}\n{outcome.text}")
    return EXIT_VIOLATION


def _transcribe(target: str, settings: dict[str, str], path: str) -> int:
    """The doctor's work in one of its processes."""
    from presage import hashseeds
    from presage.load import load
    from presage.model.system import System
    from presage.search.doctor import transcribe

    system = load(target, settings).system
    if not isinstance(system, System):
        raise BadTarget(
            explain(
                f"`{target}` is a program",
                "the doctor examines the handlers of services",
                "`presage check` runs processes again and again, and reports what differs",
            )
        )
    hashseeds.write(transcribe(system, give_up=_give_up), path)
    return EXIT_HELD


def _parser() -> Parser:
    parser = Parser(prog="presage", description="Check distributed systems written in Python.")
    parser.add_argument("--version", action="version", version=f"presage {VERSION}")
    parser.set_defaults(run=lambda _: _show_help(parser))
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    check = _add(commands, "check", run_check, "search a system for violations of its properties")
    add_check(check)
    replay = _add(commands, "replay", run_replay, "run a saved trace again, step by step")
    add_trace(replay)
    add_debug(_add(commands, "debug", run_debug, "walk about in a saved trace, on live code"))
    told = _add(commands, "explain", run_explain, "tell a saved trace in one paragraph")
    add_trace(told)
    graph = _add(commands, "graph", run_graph, "draw a saved trace: nodes, steps, messages")
    graph.add_argument("trace", metavar="TRACE", help="a file that `presage check` saved")
    graph.add_argument("--first", metavar="N", type=positive, default=1, help="default: 1")
    last = "default: the last step, but of a dead end the tenth after its critical transition"
    graph.add_argument("--last", metavar="N", type=positive, help=last)
    add_simulate(_add(commands, "simulate", run_simulate, "run a program once, in virtual time"))
    report = _add(commands, "report", run_report, "write a page that shows a saved trace")
    add_report(report)
    explore = _add(commands, "explore", run_explore, "step through a system on a local page")
    add_explore(explore)
    _add(commands, "systems", run_systems, "list the shipped systems and their parameters")
    doctor = _add(commands, "doctor", run_doctor, "look for nondeterminism in a system")
    add_target(doctor)
    doctor.add_argument("--transcript", metavar="FILE", help=argparse.SUPPRESS)
    mpirun = _add(commands, "mpirun", run_mpirun, "run an mpi4py script once, without MPI")
    add_mpirun(mpirun)
    return parser


def _add(commands: Any, name: str, run: Callable[..., int], about: str) -> Parser:
    parser: Parser = commands.add_parser(name, help=about, description=about, allow_abbrev=False)
    parser.set_defaults(run=run)
    parser.add_argument("--ascii", action="store_true", help="write ASCII only")
    parser.add_argument(
        "--no-color", action="store_true", help="as with NO_COLOR in the environment"
    )
    return parser


def _give_up(error: PresageError, progress: Progress | None = None) -> None:
    """End the process at once: a handler waits in native code, where nothing can stop it."""
    if progress is not None:
        progress.done()
    complain(str(error))
    os._exit(error.exit_status)


def _show_help(parser: Parser) -> int:
    parser.print_help(sys.stderr)
    return EXIT_USAGE


def _theme(args: argparse.Namespace, stream: TextIO) -> Theme:
    from presage.ui.theme import Theme

    return Theme.of(stream, ascii=args.ascii, colour=not args.no_color)


def _progress(args: argparse.Namespace, title: str, nodes: int, kind: str) -> Progress:
    from presage.search.check import WALKS
    from presage.search.tree import settled
    from presage.ui.progress import Limits, Progress

    search = args.search or ("tree" if kind == "process" else settled(None, args.reduction)[0])
    walked = search in WALKS or search == "tree"
    return Progress(
        stream=sys.stderr,
        theme=_theme(args, sys.stderr),
        title=title,
        subtitle=f"{nodes} {kind}{_plural(kind, nodes)}, {search}",
        limits=Limits(
            depth=None if walked else args.depth,
            states=args.states,
            seconds=args.seconds,
            walks=args.walks or WALKS.get(search),
        ),
        walked=walked,
        live=sys.stderr.isatty() and not args.json and os.environ.get("TERM") != "dumb",
    )


def _plural(noun: str, count: int) -> str:
    return "" if count == 1 else "es" if noun.endswith("s") else "s"
