"""Schedulers of users: which order of events is the natural one.

Two levels. A scheduler that only has `rank` keeps to the order of a native one and says which tasks
come before all others: it is asked once for each task. One that has `next` decides everything, with
a small state of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

NATIVE = ("rtc", "rr", "random")
MAIL = ("deliver", "channel", "stream")


class Task(Struct, frozen=True, eq=False):
    """What a delay can put off. Of each task at most one event is possible, choices aside.

    Equal messages are one task. So is a channel of an ordered network, a lane, and one end of a
    stream: these have no message.
    """

    key: int  # the same for the same task
    kind: str  # deliver, channel, stream, timer, action, call, write, wake, process
    node: str  # where it happens; of a stream, the other end
    source: str = ""  # of mail: who sent it
    name: str = ""  # of a timer, an action, a disk or a class of messages
    args: tuple[Any, ...] = ()  # of a channel: its lane, if it has one
    message: Any = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Task) and other.key == self.key

    def __hash__(self) -> int:
        return self.key

    def __str__(self) -> str:
        args = f"({', '.join(map(repr, self.args))})" if self.args else ""
        where = f"{self.source} -> {self.node}" if self.source else self.node
        return " ".join(filter(None, (self.kind, self.name + args, where)))


class Ran(Struct, frozen=True):
    """A step, as a scheduler sees it."""

    task: Task | None  # None: a fault happened
    came: tuple[Task, ...]  # possible now, and not before
    went: tuple[Task, ...]


class Scheduler:
    """The base class of schedulers.

    Either give `rank`, and name in `base` the scheduler whose order is kept within a rank. Or give
    `start`, `next`, `delay` and `step`; then `base` and `rank` mean nothing. The state of such a
    scheduler is an immutable value, and each method is a function of its arguments. Tasks come
    sorted by node, kind and name.
    """

    base: str = "rtc"

    def rank(self, task: Task) -> int:
        """From 0 to 255; tasks of a lower rank come first."""
        if task.kind in MAIL:
            return 0
        return 2 if task.kind == "timer" else 1

    start: Callable[[tuple[Task, ...]], Any]
    """The first state, given what is possible at the beginning."""

    next: Callable[[Any, tuple[Task, ...]], Task]
    """The task that is next, one of those possible."""

    delay: Callable[[Any, tuple[Task, ...]], Any]
    """The state in which the task that is next has been put off.

    Where n tasks are possible, n - 1 delays one after the other must make each of them next, once.
    """

    step: Callable[[Any, Ran], Any]
    """The state after a step."""

    @property
    def is_whole(self) -> bool:
        """Whether it decides everything."""
        return hasattr(self, "next")
