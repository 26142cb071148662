"""`--portfolio "bfs, delay --scheduler rr"`: searches, some with options of their own.

The options are those of `presage check`, and have its names. What is about the whole command, such
as `--seconds`, is given to the command.
"""

from __future__ import annotations

import argparse
import shlex
from typing import Any, NoReturn

from presage.cli.check_options import check_options
from presage.cli.options import Parser, add_options
from presage.errors import BadTarget


class _Parser(Parser):
    """Reads the options of one search."""

    def error(self, message: str) -> NoReturn:
        raise BadTarget(
            f"`{self.prog}` cannot be part of a portfolio: {self._meant(message)}",
            "an option that `presage check` does not have, or one of the whole command",
            "write one search as `delay --scheduler rr`; give `--seconds` and files to the command",
        )


def members(args: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The keywords of `check` of each search, by what it was called."""
    chosen = {}
    for text in args.portfolio:
        chosen[text] = check_options(argparse.Namespace(**{**vars(args), **_own(text)}))
    return chosen


def _own(text: str) -> dict[str, Any]:
    """The options that one search has for itself."""
    from presage.distribute.task import OWN
    from presage.search.delay.settings import Delay
    from presage.search.hunt.settings import Hunt
    from presage.search.options import options
    from presage.search.settings import LONG, Settings

    parser = _Parser(prog=text, add_help=False, allow_abbrev=False)
    of_all = {"search", *OWN}
    names = [name for name, how, _ in options(Settings) if how.group != LONG]
    add_options(parser, Settings, [name for name in names if name not in of_all])
    add_options(parser, Delay)
    add_options(parser, Hunt)
    try:
        search, *words = shlex.split(text)
    except ValueError as error:
        parser.error(f"{error}".lower())
    found = vars(parser.parse_args(words)).items()
    return {"search": search, **{name: value for name, value in found if value is not None}}
