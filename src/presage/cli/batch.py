"""`presage check` of several systems: all of a folder, or one at growing sizes."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path

from presage.cli import check, outcome
from presage.cli.baseline import Baseline
from presage.cli.common import theme_of
from presage.cli.target.folder import targets_in
from presage.errors import BadTarget, PresageError
from presage.execution.budget import Budget
from presage.search.report import Report
from presage.search.sweep import Item, causes, frontier, points, swept
from presage.ui import batch as ui
from presage.ui.output import say, write, write_json
from presage.version import VERSION


def run(args: argparse.Namespace) -> int:
    """Check one system or several, and leave for machines what was asked for."""
    baseline = outcome.baseline_of(args)
    many = bool(args.sweep) or os.path.isdir(args.target)
    items = _search(args, baseline) if many else [_alone(args, baseline)]
    outcome.tell_machines(items, args)
    if many:
        _tell(items, args)
    elif items[0].error is not None:
        raise items[0].error
    elif items[0].report is not None:
        check.tell(items[0].report, args)
    return outcome.status(items, baseline, args)


def _alone(args: argparse.Namespace, baseline: Baseline | None) -> Item:
    args.seconds = args.seconds or args.total
    try:
        return Item(args.target, report=check.search(args, baseline))
    except PresageError as error:
        return Item(args.target, error=error)


def _search(args: argparse.Namespace, baseline: Baseline | None) -> list[Item]:
    """Every system in turn, as far as the time for all of them allows."""
    from presage.cli import check

    budget = Budget(args.total)
    items = points(args.target, _axes(args)) if args.sweep else _in_folder(args)
    args.stories = []  # what is said of violations, while their systems are at hand

    def run(item: Item, seconds: float | None) -> Report:
        given = [each for each in (seconds, args.seconds) if each is not None]
        pairs = [*args.set, *item.parameters.items()]
        own = {"target": item.target, "set": pairs, "seconds": min(given, default=None)}
        one = argparse.Namespace(**vars(args) | own)
        if not args.json:
            say(f"checking {item.name}")
        report = check.search(one, baseline)
        if not args.json:
            args.stories += check.texts(report, one)
        return report

    return swept(items, run, budget, keep_going=bool(args.keep_going))


def _tell(items: list[Item], args: argparse.Namespace) -> None:
    """What `presage check` prints of several systems."""
    if args.json:
        found = causes(items).items()
        broken = [
            {"property": prop, "cause": cause, "items": [item.name for item in where]}
            for (prop, cause), where in found
        ]
        largest = [item.parameters for item in frontier(items)] if args.sweep else []
        facts = {"presage": VERSION, "target": args.target, "frontier": largest, "causes": broken}
        write_json({**facts, "items": [item.to_json() for item in items]})
        return
    write("\n\n".join([*args.stories, ui.render(items, theme_of(args, sys.stdout))]))


def _axes(args: argparse.Namespace) -> dict[str, list[str]]:
    axes = dict(args.sweep)
    names = [name for name, _ in args.sweep]
    twice = [name for name in names if names.count(name) > 1]
    twice += [name for name, _ in args.set if name in axes]
    if twice:
        raise BadTarget(
            f"`{twice[0]}` is given more than once",
            "a parameter is swept once, and then not set",
            f"keep one of them: `--sweep {twice[0]}=1..3`",
        )
    if args.mpi or os.path.isdir(args.target):
        what = "a script" if args.mpi else "a folder"
        raise BadTarget(
            f"`{args.target}` is {what}, and has no parameters to sweep",
            "`--sweep` grows the parameters of one system",
            "name the function that makes the system: `file.py:name`",
        )
    return axes


def _in_folder(args: argparse.Namespace) -> list[Item]:
    if args.set or args.mpi:
        raise BadTarget(
            f"`{args.target}` is a folder, and {'--set' if args.set else '--mpi'} is given",
            "an option that is for one system",
            "name the file: `presage check FILE.py`",
        )
    with contextlib.redirect_stdout(sys.stderr):  # of what the checked code prints
        return [Item(target) for target in targets_in(Path(args.target))]
