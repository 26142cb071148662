"""`presage check`: search, then tell what broke and what was covered."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

from presage import lifeline
from presage.cli.check_options import check_options
from presage.cli.common import collect_garbage, give_up, is_on_github, theme_of
from presage.cli.options import settings_of
from presage.cli.script import refuse_ignored
from presage.ui.output import write, write_json

if TYPE_CHECKING:
    from presage.cli.baseline import Baseline
    from presage.distribute.task import Checkable
    from presage.search.report import Report
    from presage.ui.progress import Progress


def run_check(args: argparse.Namespace) -> int:
    """`presage check`: search, then tell what broke and what was covered."""
    refuse_ignored(args)
    for_machines = args.junit or args.baseline or args.accept or is_on_github()
    if for_machines or args.sweep or os.path.isdir(args.target):
        from presage.cli import batch  # which most checks do not need

        return batch.run(args)
    args.seconds = args.seconds or args.total
    report = search(args, None)
    tell(report, args)
    return report.exit_status


def search(args: argparse.Namespace, baseline: Baseline | None) -> Report:
    """Check one target, within the seconds it has."""
    from presage.execution.budget import Budget

    args.budget = Budget(args.seconds)  # for all that follows, loading included
    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        return _check_script(args, baseline) if args.mpi else _check_target(args, baseline)


def tell(report: Report, args: argparse.Namespace) -> None:
    """What `presage check` prints of one system."""
    if args.json:
        write_json(report.to_json())
        return
    from presage.ui import summary

    theme = theme_of(args, sys.stdout)
    write("\n\n".join([*texts(report, args), summary.render(report, theme)]))


def texts(report: Report, args: argparse.Namespace) -> list[str]:
    """What is said of each violation."""
    if not report.violations:
        return []
    from presage.cli import debug as debugging  # which most checks do not need

    system = vars(args).get("system") if args.budget.spent_by is None else None
    return debugging.violation_texts(report, system, theme_of(args, sys.stdout))


def _check_target(args: argparse.Namespace, baseline: Baseline | None) -> Report:
    from presage.cli.second import starter
    from presage.cli.target.load import load
    from presage.process.program import Program
    from presage.search.check import check

    collect_garbage()  # all that a search needs is loaded, and nothing of a user's
    settings = settings_of(args.set)
    loaded = load(args.target, settings)
    args.system = loaded.system  # to explain what is found
    kind = "process" if isinstance(loaded.system, Program) else "node"
    options = check_options(args)
    progress = _progress(args, options, loaded.system.name, len(loaded.system.nodes), kind)
    options |= {"target": loaded.target, "parameters": loaded.parameters}
    options |= {"second": starter(args.target, settings), **_running(args, progress)}
    if baseline is not None:
        options["known"] = baseline.known(args.target)
    try:
        if args.cluster is not None or args.portfolio is not None:
            return _divided(args, loaded.system, options)
        return check(loaded.system, **options)
    finally:
        progress.done()


def _divided(args: argparse.Namespace, system: Checkable, options: dict[str, Any]) -> Report:
    from presage.cli.cluster import loader, pool_of, services, where_of
    from presage.search.settings import Settings

    load, given = loader(args.target, settings_of(args.set)), Settings(**options)
    if args.portfolio is not None:
        from presage.cli.portfolio import members
        from presage.distribute.portfolio import search_by_all

        chosen = {name: Settings(**options | own) for name, own in members(args).items()}
        return search_by_all(load, system, given, chosen, pool_of(args.cluster))
    from presage.distribute.search import search as divided

    return divided(load, services(system), given, where_of(args.cluster))


def _check_script(args: argparse.Namespace, baseline: Baseline | None) -> Report:
    from presage.cli.cluster import refuse_script
    from presage.search.rounds import without
    from presage.search.scripts import BOTH, check_script

    collect_garbage()
    refuse_script(args)
    options = check_options(args)
    progress = _progress(args, options, args.target, args.mpi, "process")
    options |= _running(args, progress)
    options |= {name: vars(args)[name] for name in ("eager_limit", "ordered", "preemptions")}
    known = {} if baseline is None else baseline.known(args.target)
    try:
        report = check_script(
            args.target, args.mpi, args.arg, args.buffering or BOTH, known=known, **options
        )
        return without(report, known)  # what two explorations show together has a cause of its own
    finally:
        progress.done()


def _running(args: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """The keywords of `check` that are no options of a user."""
    if vars(args).get("checkpoint") is not None:
        from presage.distribute.kept import HEADER
        from presage.search.checkpoint.store import FILE

        name = FILE if args.cluster is None else HEADER
        lifeline.tell(f"file {os.path.join(args.checkpoint, name)}")
    stop = {"give_up": lambda error: give_up(error, progress), "budget": args.budget}
    return {"progress": progress, **stop}


def _progress(
    args: argparse.Namespace, options: dict[str, Any], title: str, nodes: int, kind: str
) -> Progress:
    from presage.search.settings import BY_DELAYS, WALKS, Settings
    from presage.trace.show import plural
    from presage.ui.progress import Limits, Progress

    settings = Settings(**options).with_defaults(program=kind == "process")
    walked = settings.search in (*WALKS, "tree")
    return Progress(
        stream=sys.stderr,
        theme=theme_of(args, sys.stderr),
        title=title,
        subtitle=f"{plural(nodes, kind)}, {settings.search}",
        limits=Limits(
            depth=None if walked or settings.search in BY_DELAYS else settings.depth,
            states=settings.states,
            seconds=settings.seconds,
            walks=settings.walks,
        ),
        walked=walked,
        by_delays=settings.search in BY_DELAYS,
        estimates=settings.search == "bfs" and kind == "node",
        live=sys.stderr.isatty() and not args.json and os.environ.get("TERM") != "dumb",
    )
