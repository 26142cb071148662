"""One thread of a rank: what it runs, and what it waits for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

from presage.process.ops import Probe, WaitAny
from presage.records import record

MAIN = "MainThread"
CALL = ("call", "waits_for")  # notes of the rank that each thread has for itself


@record(eq=False)
class RankThread:
    """It can go on, waits for something within its rank, or for an operation of the world."""

    number: int
    name: str
    run: Callable[[], object] | None  # None once it has begun
    daemon: bool = False
    greenlet: Any = None
    ready: Callable[[], bool] | None = None  # what it waits for in the rank
    deadline: float | None = None  # until then
    wait: WaitAny | Probe | None = (
        None  # what it waits for in the world; slots as the rank has them
    )
    post: str | None = None  # the mailbox, if all it does next is to post there, and to wait
    sleeps: bool = False  # that would make no difference by now
    depth: int = 0  # calls of `threading` and the like, one within another
    in_mpi: bool = False  # has begun a call of MPI, and not yet asked anything for it
    vain: dict[str, int] = field(default_factory=dict)  # by place: how often it found nothing
    seen: int = -1  # the progress of the rank when it last found nothing
    runs_on: int = 0  # how often since it has found nothing while no other was let go on
    exhausted: int = -1  # the progress of the rank when that was too often
    since: int = 0  # when it last could go on
    notes: dict[str, Any] = field(default_factory=dict)
    on_end: list[Callable[[], None]] = field(default_factory=list)

    @property
    def can_go_on(self) -> bool:
        return self.wait is None and (self.ready is None or self.ready())

    @property
    def is_waiting(self) -> bool:
        """Whether it waits in a call of MPI."""
        return self.wait is not None
