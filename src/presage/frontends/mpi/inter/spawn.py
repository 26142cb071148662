"""`Spawn`: ranks that start others, and what those know of their parents.

The root creates the processes. Its name and a count make theirs: each process is created by one
other only, whatever the order in which several spawn.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from presage.errors import BadTarget
from presage.frontends.mpi.collective import results
from presage.frontends.mpi.collective.objects import ObjectCollectives
from presage.frontends.mpi.collective.transport import gathered
from presage.frontends.mpi.core.comm_state import CommState, both, intercommunicator
from presage.frontends.mpi.core.command_line import of_python, runs_python
from presage.frontends.mpi.core.groups import SPAWNED
from presage.frontends.mpi.core.mistakes import MPIException, invalid, wrong_value
from presage.frontends.mpi.core.rank import Job, Rank, current_rank, enter_call, named
from presage.process.context import Asking, asked, blocking
from presage.process.ops import Create
from presage.records import NamedTuple

APPNUM = 1  # the key of an attribute: which of several commands a rank runs


class Given(NamedTuple):
    """A call of `Spawn` or `Spawn_multiple`; the commands count at the root alone."""

    name: str
    commands: Callable[[], Sequence[tuple[Any, Any, Any, Any]]]
    root: int


class Command(NamedTuple):
    """A script, its arguments, and how many ranks are to run it."""

    path: Path
    args: tuple[str, ...]
    ranks: int


def one_by_one(
    command: Any, args: Any, maxprocs: Any, info: Any
) -> Callable[[], list[tuple[Any, Any, Any, Any]]]:
    def commands() -> list[tuple[Any, Any, Any, Any]]:
        if isinstance(command, str | bytes):
            raise wrong_value("Spawn_multiple: one command, not a list of them")
        count = len(command)
        argvs = [None] * count if args is None else list(args)
        numbers = list(maxprocs) if isinstance(maxprocs, list | tuple) else [maxprocs or 1] * count
        infos = list(info) if isinstance(info, list | tuple) else [info] * count
        if {len(argvs), len(numbers), len(infos)} != {count}:
            raise wrong_value(
                f"Spawn_multiple: {count} commands, {len(argvs)} lists of arguments,"
                f" {len(numbers)} numbers of processes, {len(infos)} infos"
            )
        return list(zip(command, argvs, numbers, infos, strict=True))

    return commands


def spawn(comm: ObjectCollectives, given: Given) -> tuple[CommState, list[int]]:
    """The intercommunicator with the new ranks, and how many of them run each command."""
    core, call, text, root = comm._begin(given.name, given.root)
    commands, mine = [], None
    if core.rank == root:
        commands = [_command(each, text) for each in given.commands()]
        current_rank().spawned += 1
        mine = [_label(current_rank()), [each.ranks for each in commands]]
    label, counts = gathered(core, call, mine, results.of_root(root))
    members = tuple(f"{label} rank {at}" for at in range(sum(counts)))
    job = Job(label, members, core.ranks)
    if commands:
        blocking(_created(job, commands))
    return intercommunicator(label, (core.ranks, members), SPAWNED, core.rank), counts


def _label(rank: Rank) -> str:
    label = f"spawn {rank.spawned}"
    return label if rank.number == 0 else f"{label} (of {named(rank.number)})"


def _created(job: Job, commands: list[Command]) -> Asking[None]:
    bodies = []
    for index, each in enumerate(commands):
        bodies += [current_rank().launcher.body(each.path, each.args, job, index)] * each.ranks
    for at, body in enumerate(bodies):
        yield Create(str(job.members[at]), body, (at,))


def _text(given: Any) -> str:
    """A word of a command: text, bytes or a path."""
    return given.decode() if isinstance(given, bytes) else str(given)


def _command(given: tuple[Any, Any, Any, Any], text: str) -> Command:
    command, args, count, info = given
    words = [_text(each) for each in ([args] if isinstance(args, str) else args or ())]
    path, rest = _script(_text(command), words, text)
    if not isinstance(count, int) or count < 1:
        raise invalid(f"{text}: maxprocs={count!r}; give 1 or more")
    if info is not None and "wdir" in info:
        raise invalid(f"{text}: all ranks run in one working directory, so info has no `wdir`")
    if not path.is_file():
        raise invalid(
            f"{text}: there is no script `{path}` in the working directory, `{Path.cwd()}`; scripts"
            " are looked for there alone, not beside the one that spawns them. Run presage in their"
            " folder, or spawn them by their whole path"
        )
    try:
        current_rank().launcher.code(path)
    except BadTarget as error:
        raise invalid(f"{text}: {str(error).splitlines()[0]}") from error
    return Command(path, rest, count)


def _script(program: str, words: list[str], text: str) -> tuple[Path, tuple[str, ...]]:
    """The script that a command runs, and its arguments."""
    if program != sys.executable and not runs_python(program):
        if not program.endswith(".py"):
            raise _refused(text, program)
        return Path(program), tuple(words)
    found = of_python(words)
    if found is None or found.is_shared:
        raise _refused(text, " ".join([Path(program).name, *words]))
    return found.path, found.args


def _refused(text: str, command: str) -> MPIException:
    return invalid(
        f"{text}: `{command}` is no Python script, and presage can run nothing else; give"
        " sys.executable, or `python`, and the script as the first of args, or the script itself"
    )


def start_workers(count: int) -> str:
    """Ranks that execute tasks for this one; gives the name of its executor."""
    enter_call("MPIPoolExecutor", max_workers=count)
    rank = current_rank()
    rank.spawned += 1
    label = _label(rank)
    members = tuple(f"{label} rank {at}" for at in range(count))
    path = Path(sys.modules["__main__"].__file__ or "")
    body = rank.launcher.worker(path, tuple(sys.argv[1:]), Job(label, members, rank.own.ranks))
    for at in range(count):
        asked(Create(str(members[at]), body, (at,)))
    return label


def adopt(rank: Rank, job: Job, at: int, command: int) -> None:
    """A rank that was spawned learns of its parents."""
    parents = len(job.parents)
    rank.parent = intercommunicator(job.label, (job.parents, job.members), SPAWNED, parents + at)
    rank.parent.title = "MPI_COMM_PARENT"
    rank.cores.append(both(rank.parent)[0])
    rank.world.known[APPNUM] = command
