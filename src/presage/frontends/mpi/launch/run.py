"""One plain run of a script: `presage mpirun -n 4 script.py`."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from presage.frontends.mpi.core.mistakes import Aborted
from presage.frontends.mpi.launch.plain import PlainRun
from presage.frontends.mpi.launch.program import launcher, script
from presage.frontends.mpi.report.waiting import who_waits
from presage.process.collecting import seldom_collected
from presage.process.context import current, is_running
from presage.process.fence import Fence
from presage.process.program import Program
from presage.records import NamedTuple

PLACES_MAX = 10_000  # of collective calls that a report may name


class Outcome(NamedTuple):
    """How a run ended; `text` says what went wrong, if something did."""

    kind: str  # ok, deadlock, or the kind of a rank's failure
    text: str = ""
    status: int = 1  # if it went wrong; what a script says that ends itself

    @property
    def is_ok(self) -> bool:
        return self.kind == "ok"


class Tagged(io.TextIOBase):
    """Standard output with the rank in front of each line: `[1] ...`."""

    def __init__(self, out: Any) -> None:
        self._out = out
        self._begun: dict[str, str] = {}

    def write(self, text: str) -> int:
        name = current().name.removeprefix("rank ") if is_running() else ""
        *lines, rest = (self._begun.pop(name, "") + text).split("\n")
        self._out.write("".join(f"[{name}] {line}\n" if name else f"{line}\n" for line in lines))
        if rest:
            self._begun[name] = rest
        return len(text)

    def flush(self) -> None:
        self._out.flush()

    def close_lines(self) -> None:
        """Write what was begun and not ended."""
        for name, rest in self._begun.items():
            self._out.write(f"[{name}] {rest}\n")
        self._begun.clear()


def mpirun(
    path: str | Path, ranks: int, args: Sequence[str] = (), *, tagged: bool = False
) -> Outcome:
    """Run a script once, as fast as it goes; what it prints is printed."""
    program = script(path, ranks, args, "eager:ordered", strict=False, to_disk=True)
    common = launcher(program)
    common.is_plain, common.places.most = True, PLACES_MAX
    before = sys.stdout
    out = Tagged(sys.stdout) if tagged else None
    try:
        if out is not None:
            sys.stdout = out
        with Fence(quiet=False, plain=True), seldom_collected():
            return play(program)
    finally:
        if out is not None:
            out.close_lines()
        sys.stdout = before


def play(program: Program) -> Outcome:
    """Take steps until there are none, or something fails."""
    around = launcher(program).surroundings
    around.keep()
    try:
        run = PlainRun(program)
        around.on_the_spot = run.on_the_spot
        run.play()
    finally:
        around.clear()
    if (failed := run.failed) is not None:
        name, how = failed
        status = launcher(program).status if how.kind == Aborted.kind else 1
        return Outcome(how.kind, f"{name}: {how.text}", status)
    return Outcome("ok") if run.is_over else Outcome("deadlock", who_waits(run))
