"""`--cluster`: where a search is done that is divided among workers."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from presage.errors import BadTarget

if TYPE_CHECKING:
    from presage.distribute.pool import Pool
    from presage.distribute.ray import Where
    from presage.distribute.task import Checkable, Load
    from presage.model.world.system import System

AUTO = "auto"
WORKERS_MAX = 1_000


def cluster(text: str) -> str:
    """`auto`, a number of workers on this machine, or the address of a Ray that runs."""
    if text.isdecimal() and not 1 <= int(text) <= WORKERS_MAX:
        raise argparse.ArgumentTypeError(f"{text} is not from 1 to {WORKERS_MAX:,} workers")
    if not text.isdecimal() and text != AUTO and ":" not in text:
        fact = f"{text!r} is no cluster"
        raise argparse.ArgumentTypeError(f"{fact}: auto, a number of workers, or HOST:PORT of Ray")
    return text


def where_of(text: str) -> Where | None:
    """Which workers are meant; None: whichever is quickest."""
    from presage.distribute.ray import Where

    if text == AUTO:
        return None
    return Where(workers=int(text)) if text.isdecimal() else Where(address=text)


def pool_of(text: str | None) -> Callable[[], Pool]:
    """What makes the workers that are meant; nothing named: `auto`."""
    from presage.distribute.ray import Ray, Where

    where = where_of(text or AUTO) or Where(os.environ.get("RAY_ADDRESS"))
    return lambda: Ray(where)


def searches(text: str) -> list[str]:
    """The searches of a portfolio, each a line of words."""
    found = [" ".join(words.split()) for words in text.split(",")]
    if not all(found):
        raise argparse.ArgumentTypeError(f"{text!r} names no search between two commas")
    return list(dict.fromkeys(found))


def loader(target: str, settings: dict[str, str]) -> Load:
    """What loads a target in another process."""
    return partial(_load, target, tuple(settings.items()))


def _load(target: str, settings: tuple[tuple[str, str], ...]) -> Checkable:
    from presage.cli.target.load import load

    return load(target, dict(settings)).system


def services(system: Checkable) -> System:
    """What one search is divided of; processes belong to the process that runs them."""
    from presage.model.world.system import System

    if not isinstance(system, System):
        raise BadTarget(
            "`--cluster` is given for a program of processes",
            "one search of a program is not divided: what its processes learn, one process learns",
            "`--portfolio` has each worker do a search of its own:"
            " `--portfolio tree,bfs,delay --cluster 2`; or use `--threads` of `tree`",
        )
    return system


def refuse_script(args: argparse.Namespace) -> None:
    """Refuse a script that is given with `--mpi`: it is searched twice, and reported once."""
    if args.cluster is None and args.portfolio is None:
        return
    name = "cluster" if args.portfolio is None else "portfolio"
    raise BadTarget(
        f"`--{name}` is given together with `--mpi`",
        "a script is searched twice: with sends that wait for their receives, and with others",
        f"name one of them in the target: `presage check '{args.target} --mpi {args.mpi}"
        " --buffering zero' --portfolio tree,delay --cluster 2`",
    )
