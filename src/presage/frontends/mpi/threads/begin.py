"""The first time that a rank imports `threading` or the like."""

from __future__ import annotations

from functools import partial
from typing import Any

from presage.frontends.mpi.core.rank import Rank
from presage.frontends.mpi.threads.levels import enter_mpi
from presage.frontends.mpi.threads.modules import Modules
from presage.frontends.mpi.threads.threads import NOTE, Threads
from presage.frontends.mpi.threads.turns import Exact, Guessed
from presage.process.context import PacedContext, current


def modules_of(rank: Rank) -> Modules:
    """The copies of a rank; from now on it may have threads."""
    if rank.threads is None:
        context, launcher = current(), rank.launcher
        is_one_run = launcher.is_plain or isinstance(context, PacedContext)
        turns: Any = (
            Exact(chooses=not is_one_run)
            if rank.delivery.ordered
            else Guessed(rank.delivery.preemptions)
        )
        threads = Threads(context, turns, launcher.spins)
        rank.threads = context.notes[NOTE] = threads
        threads.tells = launcher.is_plain
        threads.on_call = partial(enter_mpi, threads, rank)
        threads.on_start = lambda: setattr(launcher, "had_threads", True)
        Modules(threads)
    return rank.threads.modules  # type: ignore[no-any-return]
