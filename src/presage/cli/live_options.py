"""The options of the commands that run nodes, and of those that speak to running ones."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import msgspec

from presage.cli.options import SEED_MAX, Parser, add_setting, between, duration

DATA = "data"
RATE_MAX = 10_000.0


def add_up(parser: Parser) -> None:
    """The options of `presage up`."""
    parser.usage = "presage up [OPTIONS] TARGET"
    _add_cluster(parser)
    parser.add_argument(
        "--data", metavar="DIR", help=f"folder of logs and durable state; default: {DATA}"
    )
    parser.add_argument("--for", dest="seconds", metavar="S", type=duration, help="end after that")
    parser.add_argument("--json", action="store_true", help="print one JSON object at the end")


def add_run(parser: Parser) -> None:
    """The options of `presage run`."""
    parser.usage = "presage run [OPTIONS] --node NAME --config FILE [TARGET]"
    parser.add_argument("--node", metavar="NAME", required=True, help="which node to run")
    _add_cluster(parser)


def _add_cluster(parser: Parser) -> None:
    about = "a shipped system, `module:name` or `file.py:name`; default: what FILE names"
    parser.add_argument("target", metavar="TARGET", nargs="?", help=about)
    add_setting(parser)
    parser.add_argument("--config", metavar="FILE", help="the cluster file, in TOML")
    parser.add_argument(
        "--seed", metavar="N", type=partial(between, 0, SEED_MAX), default=0, help="of choices"
    )
    parser.add_argument(
        "--workload", metavar="RATE", type=_rate, help="make the system's calls, RATE a second"
    )


def add_call(parser: Parser) -> None:
    """The options of `presage call`."""
    add_node(parser)
    parser.add_argument("method", metavar="METHOD", help="of its service")
    parser.add_argument("args", metavar="ARG", nargs="*", type=_json, help="in JSON")


def add_kill(parser: Parser) -> None:
    """The options of `presage kill`."""
    add_node(parser)


def add_start(parser: Parser) -> None:
    """The options of `presage start`."""
    add_node(parser)


def add_node(parser: Parser) -> None:
    """The options of a command to one node."""
    parser.add_argument("node", metavar="NODE", help="its name")
    add_data(parser)


def add_status(parser: Parser) -> None:
    """The options of `presage status`."""
    parser.add_argument("node", metavar="NODE", nargs="?", help="one node, with its state")
    add_data(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print one JSON object")
    how.add_argument("--metrics", action="store_true", help="print the text that Prometheus reads")


def add_snapshot(parser: Parser) -> None:
    """The options of `presage snapshot`."""
    add_node(parser)
    parser.add_argument("--out", metavar="FILE", help="default: standard output")


def add_logs(parser: Parser) -> None:
    """The options of `presage logs`."""
    about = "the system; default: what `presage up` has noted in the folder"
    parser.add_argument("target", metavar="TARGET", nargs="?", help=about)
    add_setting(parser)
    add_data(parser)
    parser.add_argument("--follow", action="store_true", help="go on, until Ctrl-C")
    parser.add_argument("--trace", metavar="FILE", help="merge them, and write the execution there")
    parser.add_argument("--judge", action="store_true", help="merge them, and ask the properties")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_data(parser: Parser) -> None:
    """Where the running nodes are found."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--data", metavar="DIR", default=DATA, help=f"default: {DATA}")
    where.add_argument("--config", metavar="FILE", help="the cluster file that names it")


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of calls a second") from None
    if not 0 < rate <= RATE_MAX:
        raise argparse.ArgumentTypeError(f"{text} is not above 0 and at most {RATE_MAX:,.0f}")
    return rate


def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        quoted = msgspec.json.encode(text).decode()
        raise argparse.ArgumentTypeError(
            f"{text!r} is not JSON; a text needs quotes of its own: '{quoted}'"
        ) from None
