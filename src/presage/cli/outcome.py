"""What a check leaves for machines: a JUnit file, annotations of GitHub, the baseline, the status.

`GITHUB_ACTIONS=true` in the environment asks for annotations. They go to standard error, which
GitHub reads as well: standard output is the report's.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from presage.cli.baseline import Baseline
from presage.cli.common import EXIT_HELD, EXIT_VIOLATION, is_on_github
from presage.errors import BadTarget
from presage.search.sweep import Item, exit_status
from presage.trace.show import plural
from presage.ui.output import say


def baseline_of(args: argparse.Namespace) -> Baseline | None:
    """The baseline that is named; refuses `--accept` without one."""
    if args.baseline is None:
        if args.accept:
            raise BadTarget(
                "`--accept` is given, and no baseline to write to",
                "no file was named",
                "`--baseline FILE --accept`",
            )
        return None
    return Baseline.read(args.baseline, may_be_new=args.accept)


def tell_machines(items: Sequence[Item], args: argparse.Namespace) -> None:
    """Write what was asked for, whatever became of the search."""
    if args.junit is not None:
        from presage.ui import junit

        _save(args.junit, junit.render(items))
    if is_on_github():
        from presage.ui import annotations

        for line in annotations.lines(items, os.environ.get("GITHUB_WORKSPACE")):
            say(line)


def status(items: Sequence[Item], baseline: Baseline | None, args: argparse.Namespace) -> int:
    """The exit status, after the baseline was written, if that is asked for."""
    found = exit_status(items)
    if baseline is None:
        return found
    if not args.accept:
        for entry in baseline.gone(items):
            say(f"note: known, and gone: {entry.property}: {entry.cause}; `--accept` forgets it")
        return found
    baseline.accept(items)
    say(f"note: {baseline.path} has {plural(len(baseline.entries), 'known violation')} now")
    return EXIT_HELD if found == EXIT_VIOLATION else found


def _save(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadTarget(
            f"`{path}` cannot be written: {(error.strerror or 'unknown reason').lower()}",
            "a folder that does not exist or may not be written to",
            "name another file for `--junit`",
        ) from error
