"""`presage check`: search, then tell what broke and what was covered."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

from presage import lifeline
from presage.cli.common import give_up, theme_of
from presage.cli.options import hunt_of, settings_of
from presage.ui.output import write, write_json

if TYPE_CHECKING:
    from presage.search.report import Report
    from presage.ui.progress import Progress

# Options that `check` has defaults for, called the same there.
LIMITS = (
    *("depth", "states", "seconds", "walks", "handler_seconds"),
    *("checkpoint", "checkpoint_seconds", "spill", "search", "reduction", "spins"),
)


def run_check(args: argparse.Namespace) -> int:
    """`presage check`: search, then tell what broke and what was covered."""
    from presage.execution.budget import Budget

    args.budget = Budget(args.seconds)  # for all that follows, loading included
    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        report = _check_script(args) if args.mpi else _check_target(args)
    if args.json:
        write_json(report.to_json())
        return report.exit_status
    from presage.ui import summary

    theme, texts = theme_of(args, sys.stdout), []
    if report.violations:
        from presage.cli import debug as debugging  # which most checks do not need

        system = vars(args).get("system") if args.budget.spent_by is None else None
        texts = debugging.violation_texts(report, system, theme)
    write("\n\n".join([*texts, summary.render(report, theme)]))
    return report.exit_status


def _check_target(args: argparse.Namespace) -> Report:
    from presage.cli.second import starter
    from presage.cli.target.load import load
    from presage.process.program import Program
    from presage.search.check import check

    settings = settings_of(args.set)
    loaded = load(args.target, settings)
    args.system = loaded.system  # to explain what is found
    kind = "process" if isinstance(loaded.system, Program) else "node"
    progress = _progress(args, loaded.system.name, len(loaded.system.nodes), kind)
    options = _check_options(args, progress)
    options["second"] = starter(args.target, settings)
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
    if args.checkpoint is not None:
        from presage.search.checkpoint.store import FILE

        lifeline.tell(f"file {os.path.join(args.checkpoint, FILE)}")
    limits: dict[str, Any] = {name: getattr(args, name) for name in LIMITS}
    limits["memory_mib"] = args.memory
    return {
        "threads": args.threads,
        "seed": args.seed,
        "keep_going": args.keep_going,
        "liveness": args.liveness,
        "resume": args.resume,
        "trust": args.trust,
        "symmetry": args.symmetry == "on",
        "hunt": hunt_of(args),
        "calm": args.calm,
        "traces": args.traces,
        "coverage": args.coverage,
        "progress": progress,
        "give_up": lambda error: give_up(error, progress),
        "budget": args.budget,
        **{name: limit for name, limit in limits.items() if limit is not None},
    }


def _progress(args: argparse.Namespace, title: str, nodes: int, kind: str) -> Progress:
    from presage.search.check import WALKS
    from presage.search.tree import search_and_reduction
    from presage.ui.progress import Limits, Progress

    usual = "tree" if kind == "process" else search_and_reduction(None, args.reduction)[0]
    search = args.search or usual
    walked = search in WALKS or search == "tree"
    return Progress(
        stream=sys.stderr,
        theme=theme_of(args, sys.stderr),
        title=title,
        subtitle=f"{nodes} {kind}{_plural(kind, nodes)}, {search}",
        limits=Limits(
            depth=None if walked else args.depth,
            states=args.states,
            seconds=args.seconds,
            walks=args.walks or (None if args.seconds else WALKS.get(search)),
        ),
        walked=walked,
        estimates=search == "bfs" and kind == "node",
        live=sys.stderr.isatty() and not args.json and os.environ.get("TERM") != "dumb",
    )


def _plural(noun: str, count: int) -> str:
    return "" if count == 1 else "es" if noun.endswith("s") else "s"
