"""Events: the things that can happen next, a closed union. Steps: those that did.

Events name nodes and hold values, never indices or objects of a world, so that an event means the
same in every world of its system and reads well. `node` is where it happens.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar, NamedTuple, TypeAlias

from msgspec import Struct, field

from presage._core import (
    CRASH,
    CUT,
    DROP,
    DUPLICATE,
    HEAL,
    IDLE,
    PARTITION,
    RESET,
    RESTART,
    SILENT,
    SLOWED,
)
from presage.errors import NotEnabled

TEXT_MAX = 40  # characters of a message that is a plain value, in an event's text


class Envelope(NamedTuple):
    """A message in flight."""

    source: str
    to: str
    message: Any


class _Mail(Struct, frozen=True):
    node: str  # the receiver
    source: str
    message: Any

    def __str__(self) -> str:
        return f"{message_name(self.message)} {self.source} -> {self.node}"


class Deliver(_Mail, frozen=True):
    """`node` handles a message."""

    kind: ClassVar[str] = "deliver"


class Drop(_Mail, frozen=True):
    """The network loses a message."""

    kind: ClassVar[str] = "drop"


class Duplicate(_Mail, frozen=True):
    """The network makes a second copy of a message."""

    kind: ClassVar[str] = "duplicate"


class Receive(_Mail, frozen=True):
    """`node` handles the next message of a stream."""

    kind: ClassVar[str] = "receive"


class _Own(Struct, frozen=True):
    """An event that is known by its kind and node."""

    kind: ClassVar[str]
    node: str

    def __str__(self) -> str:
        return self.kind


class _Gone(Struct, frozen=True):
    node: str
    peer: str

    def __str__(self) -> str:
        return f"connection to {self.peer}"


class Broken(_Gone, frozen=True):
    """`node` hears that its connection to `peer` broke."""

    kind: ClassVar[str] = "broken"


class Refused(_Gone, frozen=True):
    """`node` hears that `peer`, to which it has sent, is not there."""

    kind: ClassVar[str] = "refused"


class KeepAlive(_Gone, frozen=True):
    """`node` finds out that its connection to `peer` is half open."""

    kind: ClassVar[str] = "keepalive"


class Cut(Struct, frozen=True):
    """The connection between `node` and `peer` breaks."""

    kind: ClassVar[str] = "cut"
    node: str
    peer: str

    def __str__(self) -> str:
        return f"{self.node} - {self.peer}"


class Idle(Struct, frozen=True):
    """The connection between `node` and `peer` is closed because nothing is under way."""

    kind: ClassVar[str] = "idle"
    node: str
    peer: str

    def __str__(self) -> str:
        return f"close {self.node} - {self.peer}"


class Split(Struct, frozen=True):
    """The network falls apart."""

    kind: ClassVar[str] = "partition"
    node: ClassVar[str] = "network"
    sides: str

    def __str__(self) -> str:
        return self.sides


class Heal(Struct, frozen=True):
    """The network is whole again."""

    kind: ClassVar[str] = "heal"
    node: ClassVar[str] = "network"

    def __str__(self) -> str:
        return "heal"


class Fire(Struct, frozen=True):
    """An armed timer fires."""

    kind: ClassVar[str] = "timer"
    node: str
    timer: str
    args: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return _called(self.timer, self.args, bare=True)


class Act(Struct, frozen=True):
    """A node does one of its actions."""

    kind: ClassVar[str] = "action"
    node: str
    action: str
    args: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return _called(self.action, self.args, bare=True)


class Made(Struct, frozen=True):
    """The workload makes its next call of a node."""

    kind: ClassVar[str] = "call"
    node: str
    call: str
    args: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return _called(self.call, self.args, bare=False)


class Crash(_Own, frozen=True):
    """A node goes down and loses what is not durable."""

    kind: ClassVar[str] = "crash"


class Restart(_Own, frozen=True):
    """A node that is down comes up again."""

    kind: ClassVar[str] = "restart"


class Reset(_Own, frozen=True):
    """A node crashes and is up again at once; who was connected to it has an error to hear of."""

    kind: ClassVar[str] = "reset"


class SilentReset(_Own, frozen=True):
    """A node crashes and is up again at once, and nobody connected to it is told."""

    kind: ClassVar[str] = "silent"

    def __str__(self) -> str:
        return "reset, nobody told"


class Save(Struct, frozen=True):
    """The oldest pending write of a disk reaches it."""

    kind: ClassVar[str] = "write"
    node: str
    disk: str  # the field
    key: Any

    def __str__(self) -> str:
        return f"{self.disk}[{self.key!r}]"


class Slow(_Own, frozen=True):
    """A node becomes slow: it takes no step until it wakes."""

    kind: ClassVar[str] = "slow"


class Wake(_Own, frozen=True):
    """A slow node goes on."""

    kind: ClassVar[str] = "wake"


Lost: TypeAlias = Broken | Refused | KeepAlive
Mishap: TypeAlias = Drop | Duplicate | Cut | Idle | Split | Heal  # of the network: runs no handler
Own: TypeAlias = Crash | Restart | Reset | SilentReset | Slow | Wake  # told by kind and node
Event: TypeAlias = Deliver | Receive | Lost | Fire | Act | Made | Save | Own | Mishap

# The fault that an event is, by its kind.
FAULT_OF = {
    "crash": CRASH,
    "restart": RESTART,
    "drop": DROP,
    "duplicate": DUPLICATE,
    "reset": RESET,
    "silent": SILENT,
    "cut": CUT,
    "idle": IDLE,
    "partition": PARTITION,
    "heal": HEAL,
    "slow": SLOWED,
}
FAULT_KINDS = frozenset(FAULT_OF)
MISHAPS = frozenset({"drop", "duplicate", "cut", "idle", "partition", "heal"})
# The canonical order of kinds; what is ordinary comes before what is a fault.
KINDS = (
    *("deliver", "receive", "broken", "refused", "keepalive", "timer", "action", "call"),
    *("write", "wake"),
    *FAULT_OF,
)


class Step(Struct, frozen=True):
    """An event that happened, and what it did."""

    index: int  # 1 for the first step; 0 is the initial state
    event: Event
    choices: tuple[tuple[int, int], ...]  # (k, n): option k, from 0, of n
    sends: tuple[Envelope, ...]
    records: tuple[Any, ...]
    logs: tuple[str, ...]
    changes: Mapping[str, Mapping[str, tuple[Any, Any]]]  # node -> field -> (before, after)
    fingerprint: int  # of the world after it
    failure: str | None = None  # the exception that left the handler, and where
    lost: tuple[Envelope, ...] = ()  # messages that went down with their stream

    def __str__(self) -> str:
        return f"{self.index} {self.event.node} {self.event.kind} {self.event}"


class Opening(Struct, frozen=True):
    """How a world began: what the `start` handlers did, in node order."""

    choices: tuple[tuple[int, int], ...] = ()
    sends: tuple[Envelope, ...] = ()
    records: tuple[tuple[str, Any], ...] = ()  # (node, record)
    logs: tuple[tuple[str, str], ...] = ()  # (node, text)
    failures: Mapping[str, str] = field(default_factory=dict)  # node -> the exception and where


def message_name(message: Any) -> str:
    """A message in a word: its class's name, or the value itself if it is a plain one."""
    if isinstance(message, Enum):
        return f"{type(message).__name__}.{message.name}"
    if type(message).__module__ != "builtins":
        return type(message).__name__
    text = repr(message)
    return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 3] + "..."


def _called(name: str, args: tuple[Any, ...], *, bare: bool) -> str:
    if bare and not args:
        return name
    return f"{name}({', '.join(map(repr, args))})"


def not_enabled(event: Event, why: str) -> NotEnabled:
    """An event was to be applied that cannot happen in this world."""
    return NotEnabled(
        f"`{event.kind} {event}` at {event.node} cannot happen here: {why}",
        "an event taken from another world, or from a trace of an older system",
        "take events from `world.enabled()`",
    )
