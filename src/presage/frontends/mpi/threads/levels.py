"""What MPI promised of threads, and what of it they use."""

from __future__ import annotations

from presage.frontends.mpi.core.levels import LEVELS, SERIALIZED
from presage.frontends.mpi.core.mistakes import invalid, unsupported
from presage.frontends.mpi.core.rank import Rank
from presage.frontends.mpi.threads.lines import user_line
from presage.frontends.mpi.threads.threads import Threads


def enter_mpi(threads: Threads, rank: Rank, name: str) -> None:
    """A call of MPI begins: refuse it if threads may not do that."""
    thread, level = threads.current, rank.thread_level
    thread.in_mpi = True
    if thread is not threads.main and level < SERIALIZED:
        why = f"MPI was initialized with {LEVELS[level]}"
        raise invalid(f"{name} is called by thread `{thread.name}`, and {why}, at {user_line()}")
    if threads.is_alone:
        return
    others = [each.name for each in threads.alive if each.wait is not None]
    if level == SERIALIZED and others:
        why = f"thread `{others[0]}` is in a call, and MPI was initialized with {LEVELS[level]}"
        raise invalid(f"{name}: {why}, at {user_line()}")
    has_files = any(what.startswith("file ") for what, _ in rank.handles.values())
    if rank.windows or has_files:
        what = "windows" if rank.windows else "open files"
        raise unsupported(f"{name} in a rank with {what} and several threads, at {user_line()}")
