"""What goes into a simulated process and comes out of it, apart from packets."""

from __future__ import annotations

import sys
from typing import Any

from msgspec import Struct, field

from presage.errors import PresageError
from presage.errors.base import EXIT_NONDETERMINISM
from presage.model.choice import Interrupted
from presage.model.source import UNKNOWN


class Killed(Interrupted):
    """Ends the code of a process that is dead."""


class Outlived(PresageError):
    """Cause: a process met an object of another one that is over, kept by a module they share.

    Remedy: let each process have a copy of that package, or drop what it keeps.
    """

    exit_status = EXIT_NONDETERMINISM

    def __init__(self, where: tuple[str, str] | None) -> None:
        self.place = UNKNOWN if where is None else where[0]
        super().__init__(
            f"{self.place}: a node uses what another process has left behind",
            "a package with a compiled part, which all processes share, keeps a loop, a socket or a"
            " lock of the process that used it before",
            "name the package in `Node(isolate=[...])`, or install it without its compiled part",
        )


class Bypassed(PresageError):
    """Cause: code of a node opened a real file or called the C library, past the simulated kernel.

    Remedy: the text names the line and what to use instead.
    """

    exit_status = EXIT_NONDETERMINISM

    def __init__(self, node: str, what: str, place: str, remedy: str) -> None:
        self.node = node
        self.place = place
        super().__init__(
            f"{place}: node `{node}` {what}, past its simulated kernel",
            "compiled code, or a function that was taken from its module before the check began",
            remedy,
        )


_unraisable = sys.unraisablehook


def _without_killed(unraisable: Any) -> None:
    """What finalizers ask of dead processes, whenever garbage is collected, is no news."""
    if not isinstance(unraisable.exc_value, Killed):
        _unraisable(unraisable)


sys.unraisablehook = _without_killed


class Options(Struct, frozen=True):
    """How a process is run."""

    granularity: str = "step"  # or "iteration": a poll that does not wait ends the step, too
    preemptions: int = 1  # how often, in one life, a thread is stopped where it need not wait
    random: str = "stream"  # or "branch": draws of integers are choices of the step
    strict: bool = False  # whether a failed task that nobody awaits at rest is a failure
    split: int = 1  # pieces in which one segment may arrive
    coalesce: bool = False  # whether a segment may wait for the next one of its connection
    disk: str = "process"  # or "fsync": a crash may lose what was written since
    home: str | None = None  # the real folder of the program, which is its current folder
    folders: tuple[str, ...] = ()  # other real folders that it may read


class Effects(Struct):
    """What a process did since it was last asked."""

    sends: list[tuple[str, Any]] = field(default_factory=list)  # to whom, what
    records: list[Any] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


class Failure(Struct):
    """An exception that nothing in the process handles."""

    where: str  # what it left: "main", a thread, a callback of the loop
    error: BaseException
