"""An unmodified script as a program: one process for each rank.

The script is compiled once, and run by each rank in a namespace of its own, as `__main__`.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from presage.errors import BadTarget
from presage.frontends.mpi.communicator.comm import COMM_WORLD
from presage.frontends.mpi.core.comm_state import RankId
from presage.frontends.mpi.core.command_line import command_of
from presage.frontends.mpi.core.delivery import BUFFERINGS as BUFFERINGS
from presage.frontends.mpi.core.delivery import Delivery
from presage.frontends.mpi.core.mistakes import Aborted
from presage.frontends.mpi.core.rank import Job, Places, begin, current_rank
from presage.frontends.mpi.futures.executor import share_ranks
from presage.frontends.mpi.futures.worker import serve
from presage.frontends.mpi.inter.spawn import adopt
from presage.frontends.mpi.io.server import KEEPER, Keeper
from presage.frontends.mpi.launch.environment import Environment, Surroundings
from presage.frontends.mpi.launch.finalize import finalize
from presage.frontends.mpi.report import wording
from presage.frontends.mpi.report.races import refined
from presage.frontends.mpi.threads.threads import ThreadFailed
from presage.model.source import place
from presage.process.context import current
from presage.process.program import SPINS_DEFAULT, Process, Program

RANKS_MAX = 1_000  # beyond, one run alone takes minutes
BESIDE_MAX = 100  # modules looked at
THREADS = (
    "what threads of one rank do to the same variables between two calls of MPI or `threading`, and"
    " orders in which one of them is stopped more than {} where it need not wait (`--preemptions`)"
)


class Script:
    def __init__(self, path: Path, code: CodeType, args: Sequence[str]) -> None:
        self.path = path
        self._file = str(path.absolute())
        self._folder = str(path.resolve().parent)
        self._argv = (str(path), *args)
        self._code = code

    def run(self, main: ModuleType, common: Surroundings, place: tuple[RankId, int, int]) -> None:
        main.__dict__["__file__"] = self._file
        around = Environment(main, self._folder, self._argv, common, place)
        rank = current_rank()
        rank.package, rank.add_module = around.package, around.add
        around.surround(current())
        around.enter()
        try:
            try:
                self._run_threads(main)
                around.run_exit_handlers()
            except Aborted as ended:
                rank.launcher.status = ended.status
                raise
            except Exception:
                if rank.drain is not None:
                    rank.drain.settle()  # or it would not have come so far
                raise
            if rank.is_initialized():
                finalize()
        finally:
            if rank.threads is not None:
                rank.threads.close()
            around.leave()

    def _run_threads(self, main: ModuleType) -> None:
        """Run it, and wait for its threads; what leaves one of them ends the rank."""
        try:
            self._run(main)
            if (threads := current_rank().threads) is not None:
                threads.finish()
        except ThreadFailed:
            current_rank().threads.raise_failure()

    def _run(self, main: ModuleType) -> None:
        try:
            exec(self._code, main.__dict__)
        except SystemExit as ended:
            if ended.code not in (None, 0):
                status = ended.code if isinstance(ended.code, int) else 1
                raise Aborted(f"the script ends with status {ended.code}", status) from ended


class Worker(Script):
    """The same script, for a rank that executes tasks of another."""

    def __init__(self, path: Path, code: CodeType, args: Sequence[str], name: str) -> None:
        super().__init__(path, code, args)
        self._name = name

    def _run(self, main: ModuleType) -> None:
        serve(self._name, COMM_WORLD, main, lambda: super(Worker, self)._run(main))


class Sharing(Script):
    """The same script, for the first rank and its workers."""

    def _run(self, main: ModuleType) -> None:
        share_ranks(main, lambda: super(Sharing, self)._run(main))


def script(
    path: str | Path,
    ranks: int,
    args: Sequence[str] = (),
    buffering: str = "zero",
    *,
    strict: bool = True,
    to_disk: bool = False,
) -> Program:
    """The program of `ranks` processes that run the script.

    `path`: or a command, `python script.py` or `python -m mpi4py.futures script.py`, whose further
    words may be in `args`.
    `buffering`: whether a standard send waits for its receive (`zero`), never does (`eager`) or
    each as it happens (`any`); `any:1024`: above so many bytes it always does. `any:ordered`: who
    sends first is received first, which MPI does not promise.
    `strict`: whether requests and handles that are left open at the end are reported.
    `to_disk`: whether files that are written through MPI are written, as in a plain run.
    """
    delivery = Delivery.of(buffering)
    if not 1 <= ranks <= RANKS_MAX:
        raise BadTarget(
            f"the script `{path}` cannot be run by {ranks} ranks",
            "a number that no search could end with",
            f"1 to {RANKS_MAX:,} ranks",
        )
    file, words, is_shared = command_of(path, args)
    common = ScriptLauncher(delivery, strict, _mentions(file, b"File"))
    body = common.body(file, words, Job.first(ranks), kind=Sharing if is_shared else Script)
    processes = {f"rank {number}": Process(body, number) for number in range(ranks)}
    if common.has_files:
        processes[KEEPER] = Process(Keeper(to_disk), daemon=True)
    program = Program(processes, name=file.stem, leftovers=strict)
    common.program = program
    program.leaves_out = common.leaves_out
    program.wording = wording
    program.refine = refined
    program.files = tuple(_beside(file))
    return program


def depends_on_buffering(program: Program) -> bool:
    """Whether a rank of a script has done something that depends on the buffering, by now."""
    bodies = (process.body for process in program.processes.values())
    return any(isinstance(body, Body) and body.depends_on_buffering for body in bodies)


def launcher(program: Program) -> ScriptLauncher:
    """What the ranks of a script have in common."""
    body = next(iter(program.processes.values())).body
    assert isinstance(body, Body), "the program of a script"
    return body.launcher


def _compiled(path: Path) -> CodeType:
    try:
        source = path.read_bytes()
    except OSError as error:
        raise BadTarget(
            f"the script `{path}` cannot be read: {error.strerror}",
            "a misspelt path, or another folder",
            "give the path of an mpi4py script",
        ) from error
    # A script that is spawned may need it, too.
    if (
        _mentions(path, b"numpy", b"Spawn", b"Spawn_multiple")
        and importlib.util.find_spec("numpy") is not None
    ):
        importlib.import_module("numpy")  # before its chance is taken under control
    try:
        return compile(source, str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise BadTarget(
            f"the script `{path}` is no Python: {error}",
            "a slip in the script, or a file of another kind",
            "correct it where the text says",
        ) from error


def _mentions(path: Path, *words: bytes) -> bool:
    """Whether the script, or a module beside it, has a word: may import NumPy, may open files."""
    whole = re.compile(rb"\b(%b)\b" % b"|".join(words))
    return any(whole.search(file.read_bytes()) for file in _beside(path))


def _beside(path: Path) -> Iterator[Path]:
    """The script, and the modules beside it."""
    beside = sorted(path.parent.glob("*.py"))[:BESIDE_MAX]
    return (file for file in dict.fromkeys([path, *beside]) if file.is_file())


class ScriptLauncher:
    """What the ranks of a program run, and what they have in common; those spawned later, too."""

    def __init__(self, delivery: Delivery, strict: bool, has_files: bool) -> None:
        self.delivery = delivery
        self.was_asked = False
        self.strict = strict
        self.is_plain = False
        self.has_files = has_files  # whether somebody holds files
        self.status = 1  # of a plain run that a rank has ended
        self.program: Any = None
        self.had_threads = False  # whether some rank has started threads
        self.places = Places()
        self.surroundings = Surroundings()
        self._code: dict[Path, CodeType] = {}
        self._bodies: dict[Any, Body] = {}

    def leaves_out(self) -> tuple[str, ...]:
        """What no search of the program looks at, by now."""
        count = self.delivery.preemptions
        times = f"{count:,} time{'s' * (count != 1)}"
        return (THREADS.format(times),) if self.had_threads else ()

    @property
    def spins(self) -> int:
        """Tests in vain after which a thread has to find something; 0: never."""
        return SPINS_DEFAULT if self.program is None else int(self.program.spins)

    def body(
        self,
        path: Path,
        args: tuple[str, ...],
        job: Job,
        command: int = 0,
        kind: type[Script] = Script,
    ) -> Body:
        """The same each time it is asked for the same."""
        key = path, args, job, command
        if key not in self._bodies:
            made = kind(path, self.code(path), args)
            self._bodies[key] = Body(made, job, self, command)
        return self._bodies[key]

    def worker(self, path: Path, args: tuple[str, ...], job: Job) -> Body:
        """The same for each worker of an executor."""
        key = path, args, job, "worker"
        if key not in self._bodies:
            self._bodies[key] = Body(Worker(path, self.code(path), args, job.label), job, self, 0)
        return self._bodies[key]

    def code(self, path: Path) -> CodeType:
        if path not in self._code:
            self._code[path] = _compiled(path)
        return self._code[path]


class Body:
    """What a rank runs. Where reports ask where it is written, it is the script."""

    __name__ = "<script>"
    __presage_constant__ = True  # what it holds is the same in every run

    def __init__(self, made: Script, job: Job, launcher: ScriptLauncher, command: int) -> None:
        self._made = made
        self._job = job
        self.launcher = launcher
        self._command = command
        self.file = str(made.path)

    @property
    def depends_on_buffering(self) -> bool:
        return self.launcher.was_asked

    def __repr__(self) -> str:
        return place(str(self._made.path), 1)

    def __call__(self, at: int) -> None:
        main = ModuleType("__main__")
        rank = begin(at, self._job, self.launcher)
        if self._job.parents:
            adopt(rank, self._job, at, self._command)
        place = rank.number, at, len(self._job.members)
        self._made.run(main, self.launcher.surroundings, place)
