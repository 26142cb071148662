"""How far a search is, told a few times a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from presage._results import Progress
from presage.model.world.system import System
from presage.process.program import Program

Tell = Callable[[Progress], None] | None  # what the kernel calls while it works


class Snapshot(Struct, frozen=True):
    """How far a search is; counts include the initial state."""

    unique: int
    generated: int
    depth: int
    frontier: int
    walks: int
    handler_runs: int
    properties: dict[str, str]  # "open" until it is known
    seconds: float
    resumed_from: int = 0  # states in the checkpoint that it went on from
    checkpoints: int = 0  # written by this process
    right: int = 0  # calm walks of a hunt that recovered
    delays: int = 0  # now allowed, in a search in their order
    suspect: int | None = None  # steps of the execution whose critical transition is looked for


class ProgressLine(Protocol):
    """Told a few times a second how far the search is."""

    def update(self, snapshot: Snapshot, /) -> None: ...


def progress_callback(
    system: System | Program,
    line: ProgressLine | None,
    suspect: int | None = None,
    spent: float = 0.0,
) -> Tell:
    """What the kernel calls; `suspect` is how long the execution is that it looks at."""
    if line is None:
        return None
    named = [] if isinstance(system, Program) else system.properties

    def update(now: Progress) -> None:
        ends = [("reached" if p.kind == "sometimes" else "violated") for p in named]
        known = zip(named, ends, now.decided[1 : len(named) + 1], strict=True)
        names = Snapshot.__struct_fields__
        facts = {name: getattr(now, name) for name in names if hasattr(now, name)}
        facts["properties"] = {prop.name: end if sure else "open" for prop, end, sure in known}
        line.update(Snapshot(**facts | {"seconds": spent + now.seconds, "suspect": suspect}))

    return update
