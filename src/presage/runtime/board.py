"""What is to see of a running system, as plain data: for the page, `presage status` and tests.

Invariant: a board holds text and numbers only, and its lists are bounded by who fills it, so
that it can be sent again and again for as long as a system runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from presage.trace.trace import Trace

PREDICTIONS_MAX = 64  # the newest are kept
REFUSALS_MAX = 100
UP, DOWN, FAILED, STARTING, SILENT = "up", "down", "failed", "starting", "silent"
OPEN, HALF_OPEN, BROKEN = "open", "half open", "broken"


class NodeSeen(msgspec.Struct, frozen=True, kw_only=True):
    """One node: how its process is, and what it holds."""

    name: str
    status: str  # up, down, failed, starting, silent: it runs, and does not answer
    pid: int | None = None
    life: int = 0  # how often its process has begun
    steps: int = 0
    number: int = 0  # of its newest checkpoint
    fields: dict[str, str] = {}  # name -> value, as Python writes it
    timers: tuple[str, ...] = ()
    failure: str = ""  # what ended a failed node
    methods: tuple[str, ...] = ()  # what can be called


class LinkSeen(msgspec.Struct, frozen=True, kw_only=True):
    """The connection of two nodes."""

    nodes: tuple[str, str]
    state: str = OPEN  # open, half open, broken
    waiting: tuple[int, int] = (0, 0)  # messages not yet handled, in each direction


class EventSeen(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a predicted path."""

    node: str
    text: str
    source: str | None = None  # the sender of what arrives
    cause: int | None = None  # the step of this path that sent it, from 0


class PredictionSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A violation that is ahead, and what was done about it."""

    key: int
    node: str  # that sees it coming
    prop: str
    at: float  # seconds since the system began
    events: tuple[EventSeen, ...]
    answer: str  # filter, handed over, unhelpful, kills progress, watched, ...


class FilterSeen(msgspec.Struct, frozen=True, kw_only=True):
    """What a node keeps out for a while."""

    node: str
    text: str
    left: float  # seconds


class RefusalSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A step that was run, looked at, and not committed."""

    node: str
    text: str
    why: str
    at: float


class ProgressSeen(msgspec.Struct, frozen=True, kw_only=True):
    """How long ago something that must come true again and again last was."""

    prop: str
    ago: float | None  # seconds; None: not yet


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """All of it, at one moment."""

    system: str
    at: float  # seconds since the system began
    nodes: tuple[NodeSeen, ...] = ()
    links: tuple[LinkSeen, ...] = ()
    predictions: tuple[PredictionSeen, ...] = ()
    filters: tuple[FilterSeen, ...] = ()
    refusals: tuple[RefusalSeen, ...] = ()
    progress: tuple[ProgressSeen, ...] = ()
    violations: tuple[str, ...] = ()  # properties that are broken, as far as nodes know
    counters: dict[str, float] = {}


class Operator(Protocol):
    """Who shows a running system, and does what is asked of it."""

    def board(self) -> Board:
        """What is to see now."""

    def prediction(self, key: int, /) -> Trace | None:
        """The path of a prediction on the board, to be opened; None if it is no longer kept."""

    def kill(self, node: str, /) -> None:
        """End the node's process at once, as SIGKILL does."""

    def start(self, node: str, /) -> None:
        """Begin the process of a node that is down."""

    def cut(self, node: str, peer: str, /) -> None:
        """Break the connection of two nodes."""

    def call(self, node: str, method: str, args: Sequence[object], /) -> str:
        """Call a method of a node; what it answers, as text."""
