"""The options of `presage check` and `presage hunt`."""

from __future__ import annotations

import argparse
from typing import Any

from presage.cli.cluster import cluster, searches
from presage.cli.options import (
    Parser,
    add_options,
    add_script,
    add_target,
    duration,
    given,
    size,
)

AXIS_MAX = 1_000  # values of one swept parameter


def add_check(parser: Parser) -> None:
    from presage.search.delay.settings import Delay
    from presage.search.hunt.settings import Hunt
    from presage.search.settings import Settings

    parser.usage = "presage check [OPTIONS] TARGET"
    parser.epilog = (
        "`presage hunt` looks for executions that never recover in larger systems. Rare options,"
        " and all values: docs/reference/command-line.md"
    )
    add_target(parser)
    add_options(parser, Settings)
    # In the documentation only: the help has to fit a screen.
    add_options(parser, Delay, shown=False)
    add_script(parser, ("zero", "eager", "any", "both"), argparse.SUPPRESS)
    parser.add_argument("--eager-limit", metavar="N", type=size, help=argparse.SUPPRESS)
    parser.add_argument("--ordered", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--preemptions", metavar="N", type=size, help=argparse.SUPPRESS)
    _add_many(parser)
    add_options(parser, Hunt, shown=False)  # as they were spelt before `presage hunt`


def add_hunt(parser: Parser) -> None:
    """The options of `presage hunt`: those of `check` that mean something there, and its own."""
    from presage.search.hunt.settings import Hunt
    from presage.search.options import options
    from presage.search.settings import Settings

    parser.set_defaults(search="hunt", mpi=None)
    parser.usage = "presage hunt [OPTIONS] TARGET"
    add_target(parser)
    add_options(parser, Settings, [name for name, how, _ in options(Settings) if how.hunts])
    add_options(parser, Hunt, group="hunt")
    _add_many(parser)


def _add_many(parser: Parser) -> None:
    """What is about several systems, and about machines that read the result."""
    many = parser.add_argument_group("many systems, and CI")
    sweep = "from small to large, as time allows; or a,b,c"
    many.add_argument(
        "--sweep", metavar="KEY=A..B", action="append", default=[], type=axis, help=sweep
    )
    total = "time for all of them: 90s, 10m, 1h"
    many.add_argument("--budget", metavar="T", dest="total", type=duration, help=total)
    # In the documentation only: the help has to fit a screen.
    many.add_argument("--cluster", metavar="WHERE", type=cluster, help=argparse.SUPPRESS)
    many.add_argument("--portfolio", metavar="SEARCHES", type=searches, help=argparse.SUPPRESS)
    many.add_argument("--junit", metavar="FILE", help="write the result there, for CI")
    known = "violations that are known and do not count"
    many.add_argument("--baseline", metavar="FILE", help=known)
    many.add_argument("--accept", action="store_true", help="write what was found into it")


def axis(text: str) -> tuple[str, list[str]]:
    """`clients=1..4` or `bug=none,lost`: a parameter and its values, the smallest first."""
    name, equals, values = text.partition("=")
    if not equals or not name.isidentifier() or not values:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form KEY=A..B or KEY=a,b,c")
    first, dots, last = values.partition("..")
    if not dots:
        return name, values.split(",")
    try:
        numbers = range(int(first), int(last) + 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{values!r} is not two whole numbers: 1..4") from None
    if not 0 < len(numbers) <= AXIS_MAX:
        fact = f"{values} has {max(0, len(numbers)):,} values"
        raise argparse.ArgumentTypeError(f"{fact}; from small to large, at most {AXIS_MAX:,}")
    return name, [str(number) for number in numbers]


def check_options(args: argparse.Namespace) -> dict[str, Any]:
    """The keywords of `check` that were given."""
    from presage.search.delay.settings import Delay
    from presage.search.hunt.settings import Hunt
    from presage.search.settings import Settings

    options, hunt, delay = (given(args, kind) for kind in (Settings, Hunt, Delay))
    if "symmetry" in options:
        options["symmetry"] = options["symmetry"] == "on"
    if "prefix" in hunt:
        from presage.trace import codec

        hunt["prefix"] = codec.read(hunt["prefix"])
    if "scheduler" in delay:
        from presage.cli.target.scheduler import load_scheduler

        delay["scheduler"] = load_scheduler(delay["scheduler"])
    options |= {"hunt": Hunt(**hunt)} if hunt else {}
    return options | ({"delay": Delay(**delay)} if delay else {})
