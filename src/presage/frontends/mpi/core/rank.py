"""What a rank knows: its number, its communicators, and what it has to give back at the end.

Scripts share one `MPI` module, as they would share the names of a C library; what belongs to one
rank is kept with its process, and found through `current_rank()`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from types import CodeType
from typing import Any, Protocol

from presage._core import Callers
from presage.errors import BadCall
from presage.frontends.mpi.core.comm_state import CommState, RankId
from presage.frontends.mpi.core.delivery import Delivery
from presage.frontends.mpi.core.levels import LEVELS, SINGLE
from presage.frontends.mpi.core.mistakes import MPIException
from presage.model.source import place
from presage.process.context import current, running
from presage.process.leaves import WAYS_OUT
from presage.records import NamedTuple, record

OURS = tuple(str(Path(__file__).parents[3] / name) for name in ("frontends/mpi", "process"))
TICK = 1e-6  # seconds that a look at a clock takes, so that no duration is 0
USUAL = {
    "initialize": True,
    "errors": "exception",
    "threads": True,
    "thread_level": "multiple",
}  # options of one without an `mpi4py`
INSTEAD = {
    "starts a thread": "`threading` or `concurrent.futures`, imported by the script or by a module"
    " that comes with it: those threads are simulated",
}
KNOWN_MAX = 4096  # places and texts of calls that are kept
NOTE = "mpi"  # where a rank is kept among the notes of its process


class Places(OrderedDict[tuple[str, RankId, int], str]):
    """Where ranks make their collective calls, by communicator, rank and number: for reports.

    A search comes to the same ones again and again; one plain run keeps the last ones only.
    """

    def __init__(self) -> None:
        super().__init__()
        self.most: int | None = None

    def keep(self, name: str, rank: RankId, number: int) -> None:
        """The call is made now."""
        self[name, rank, number] = where()
        if self.most is not None and len(self) > self.most:
            self.popitem(last=False)


class Launcher(Protocol):
    """What the ranks of a program run, and what they have in common; those spawned later, too."""

    delivery: Delivery
    was_asked: bool  # whether some rank did something that depends on the buffering
    strict: bool
    is_plain: bool  # whether it is one run as of MPI: no orders to try, no buffers to watch
    has_files: bool  # whether somebody holds files
    status: int  # of a plain run that a rank has ended
    had_threads: bool  # whether some rank has started threads
    places: Places

    @property
    def spins(self) -> int:
        """Tests in vain after which a thread has to find something; 0: never."""

    def body(self, path: Path, args: tuple[str, ...], job: Job, command: int = 0) -> Any:
        """What a rank runs; the same each time it is asked for the same."""

    def worker(self, path: Path, args: tuple[str, ...], job: Job) -> Any:
        """What a rank runs that executes tasks of a script."""

    def code(self, path: Path) -> CodeType:
        """A script, compiled once."""


@record(eq=False)
class Rank:
    number: RankId
    delivery: Delivery
    strict: bool  # whether what is left open at the end is reported
    world: CommState
    own: CommState  # of COMM_SELF
    places: Places  # of collective calls, of all ranks: for reports
    launcher: Launcher  # starts other ranks
    parent: CommState | None = None  # of whoever spawned it
    spawned: int = 0  # how often it was the root of a spawn
    cores: list[CommState] = field(default_factory=list)  # every one that it is a member of
    requests: list[Any] = field(default_factory=list)  # not complete, or persistent
    handles: dict[int, tuple[str, str]] = field(default_factory=dict)  # to be freed: what, where
    made: int = 0
    initialized: bool | None = None  # None: as `mpi4py.rc` says
    package: Any = None  # its `mpi4py`
    add_module: Any = None  # gives it a module of some name
    finalized: bool = False
    windows: list[Any] = field(default_factory=list)  # that it has made and not freed
    drain: Any = None  # calls of `Waitany` that have not been waited for
    files: set[str] = field(default_factory=set)  # whose processes were asked for
    numbers: dict[int, tuple[Any, Any]] = field(default_factory=dict)  # of handles, and those
    keyvals: dict[int, Any] = field(default_factory=dict)  # keys of attributes, by number
    own_notes: dict[Any, Any] = field(default_factory=dict)  # of constants: names, attributes
    threads: Any = None  # if it has imported what starts some
    level: int | None = None  # what `Init_thread` has promised of threads; None: as `rc` says

    @property
    def eager(self) -> bool:
        """Whether it goes on as soon as it may."""
        self.launcher.was_asked = True
        return self.delivery.is_eager

    def is_initialized(self) -> bool:
        if self.initialized is None:
            self.initialized = bool(self.option("initialize"))
        return self.initialized

    @property
    def thread_level(self) -> int:
        """What is promised of threads."""
        if self.level is None:
            words = [each.removeprefix("THREAD_").lower() for each in LEVELS]
            usual = words.index(self.option("thread_level"))
            self.level = usual if self.option("threads") else SINGLE
        return self.level

    def option(self, name: str) -> Any:
        """What its `mpi4py.rc` says."""
        return USUAL[name] if self.package is None else self.package.option(name)

    def variable(self, name: str) -> str:
        """What its environment says; nothing: that it is not there."""
        return "" if self.package is None else str(self.package.variable(name))

    def keep(self, what: str) -> int:
        """A handle that has to be freed; gives its number."""
        self.made += 1
        self.handles[self.made] = (what, where())
        return self.made

    def drop(self, number: int) -> None:
        self.handles.pop(number, None)

    def learned(self) -> None:
        """It has got something from another rank: its windows show what there is now."""
        for window in self.windows:
            window.learned()


class Job(NamedTuple):
    """Ranks that were started together; what they have in common."""

    label: str  # what reports call it; of the first, nothing
    members: tuple[RankId, ...]
    parents: tuple[RankId, ...] = ()  # those who spawned it

    @classmethod
    def first(cls, size: int) -> Job:
        return cls("", tuple(range(size)))

    @property
    def world(self) -> str:
        return f"{self.label} world" if self.label else "world"


def begin(at: int, job: Job, launcher: Launcher) -> Rank:
    """The running process becomes a rank."""
    number = job.members[at]
    world = CommState(job.world, job.members, at, "MPI_COMM_WORLD")
    own = CommState(f"self{number}" if not job.label else f"{number} self", (number,), 0)
    own.title = "MPI_COMM_SELF"
    places, delivery, strict = launcher.places, launcher.delivery, launcher.strict
    rank = Rank(number, delivery, strict, world, own, places, launcher, cores=[world, own])
    context = current()
    context.notes[NOTE], context.tick = rank, TICK
    context.notes[WAYS_OUT] = INSTEAD
    return rank


def named(who: RankId) -> str:
    """What reports call a rank; its process is called the same."""
    return who if isinstance(who, str) else f"rank {who}"


def names(whos: Iterable[RankId]) -> str:
    """Several: `rank 1, 2, spawn 1 rank 0`."""
    known = tuple(whos)
    numbers = ", ".join(str(who) for who in known if isinstance(who, int))
    return ", ".join([f"rank {numbers}"] * bool(numbers) + [w for w in known if isinstance(w, str)])


def in_order(whos: Iterable[RankId]) -> list[RankId]:
    """Ranks of the first world, then spawned ones."""
    known = set(whos)
    numbers: list[RankId] = [*sorted(who for who in known if isinstance(who, int))]
    return numbers + sorted(who for who in known if isinstance(who, str))


def current_rank() -> Rank:
    stack = running.stack
    rank: Rank | None = (stack[-1] if stack else current()).notes.get(NOTE)
    if rank is None:
        raise BadCall(
            "MPI was called by a process that is no rank",
            "a process of a `Program` imports presage's `mpi4py`",
            "make the program of a script: `presage.mpi.script(path, ranks)`",
        )
    return rank


def running_rank() -> Rank | None:
    """The rank that runs here, if one does."""
    rank: Rank | None = running.stack[-1].notes.get(NOTE) if running.stack else None
    return rank


@lru_cache(maxsize=KNOWN_MAX)
def place_of_line(file: str, line: int) -> str:
    return place(file, line)


callers = Callers(OURS, place_of_line)
THE_END = "the end"  # where a rank is called that has run its script


def where() -> str:
    """The line of the script, or of a module of its own, that called MPI."""
    return callers.place() or THE_END


@lru_cache(maxsize=KNOWN_MAX)
def _text(name: str, place: str, *given: str | int) -> str:
    """What a call is called in reports: loops make the same one again and again."""
    shown = ", ".join(f"{key}={value}" for key, value in zip(given[::2], given[1::2], strict=True))
    return f"{name}({shown}) at {place}"


def enter_call(name: str, waits_for: Iterable[RankId] = (), by: Any = None, **given: Any) -> str:
    """Note which call of MPI the rank is in, and for which ranks it may wait; gives its text.

    Windows are told of it, but for the one that is called.
    """
    check_entry(name, by)
    arguments: list[str | int] = []
    for key, value in given.items():
        if value is not None:
            arguments += key, value if type(value) is int else str(value)
    text = _text(name, callers.place() or THE_END, *arguments)
    notes = running.stack[-1].notes
    notes["call"] = text
    notes["waits_for"] = tuple(waits_for)
    return text


def transfer_text(name: str, place: str | None, side: str, rank: Any, tag: Any) -> str:
    """The text of a call that has another rank (`side`: what it is) and a tag.

    With `check_entry` before and `note_waiting` after, it does what `enter_call` does, faster: the
    caller says where it is called, as each frame that is looked at takes time.
    """
    if type(rank) is int and type(tag) is int:
        text = _text(name, place or THE_END, side, rank, "tag", tag)
    else:
        pairs = ((key, each) for key, each in ((side, rank), ("tag", tag)) if each is not None)
        given = ((key, each if type(each) is int else str(each)) for key, each in pairs)
        text = _text(name, place or THE_END, *chain.from_iterable(given))
    running.stack[-1].notes["call"] = text
    return text


def check_entry(name: str, by: Any = None) -> None:
    """Whether the rank may make a call now; its threads, windows and waits hear of it."""
    rank = current_rank()
    if rank.threads is not None and rank.threads.started:
        rank.threads.on_call(name)
    if rank.drain is not None:
        rank.drain.settle()
    if rank.finalized:
        raise MPIException("invalid-argument", f"{name} is called after Finalize, at {where()}")
    if not rank.initialized and not rank.is_initialized():
        raise MPIException("invalid-argument", f"{name} is called before Init, at {where()}")
    for window in rank.windows:
        if window is not by:
            window.between()


def note_waiting(ranks: tuple[RankId, ...]) -> None:
    """The same call turns out to wait for these ranks."""
    running.stack[-1].notes["waits_for"] = ranks
