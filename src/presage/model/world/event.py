"""Events: the things that can happen next, a closed union. Steps: those that did.

Events name nodes and hold values, never indices or objects of a world, so that an event means the
same in every world of its system and reads well. `node` is where it happens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, ClassVar, TypeAlias, get_args

from msgspec import Struct, field

from presage._core import FAULTS, ORDINARY
from presage.errors import NotEnabled
from presage.records import NamedTuple

TEXT_MAX = 40  # characters of a message that is a plain value, in an event's text


class Envelope(NamedTuple):
    """A message in flight."""

    source: str
    to: str
    message: Any


class _Event(Struct, frozen=True):
    """Its kind is its tag. Subclasses that differ in nothing else have nothing but a docstring."""

    kind: ClassVar[str]
    node: str

    def __str__(self) -> str:
        return self.kind


class Mail(_Event, frozen=True):
    """About one message."""

    source: str  # the sender; the node is the receiver
    message: Any

    def __str__(self) -> str:
        return f"{message_name(self.message)} {self.source} -> {self.node}"


class Deliver(Mail, frozen=True, tag="deliver"):
    """`node` handles a message."""


class Drop(Mail, frozen=True, tag="drop"):
    """The network loses a message."""


class Duplicate(Mail, frozen=True, tag="duplicate"):
    """The network makes a second copy of a message."""


class Receive(Mail, frozen=True, tag="receive"):
    """`node` handles the next message of a stream."""


class Pair(_Event, frozen=True):
    """About the connection of two nodes."""

    peer: str


class Lost(Pair, frozen=True):
    """`node` hears that it has lost its connection to `peer`."""

    def __str__(self) -> str:
        return f"connection to {self.peer}"


class Broken(Lost, frozen=True, tag="broken"):
    """`node` hears that its connection to `peer` broke."""


class Refused(Lost, frozen=True, tag="refused"):
    """`node` hears that `peer`, to which it has sent, is not there."""


class KeepAlive(Lost, frozen=True, tag="keepalive"):
    """`node` finds out that its connection to `peer` is half open."""


class Cut(Pair, frozen=True, tag="cut"):
    """The connection between `node` and `peer` breaks."""

    def __str__(self) -> str:
        return f"{self.node} - {self.peer}"


class Idle(Pair, frozen=True, tag="idle"):
    """The connection between `node` and `peer` is closed because nothing is under way."""

    def __str__(self) -> str:
        return f"close {self.node} - {self.peer}"


class Split(Struct, frozen=True, tag="partition"):
    """The network falls apart."""

    kind: ClassVar[str]
    node: ClassVar[str] = "network"
    sides: str

    def __str__(self) -> str:
        return self.sides


class Heal(Struct, frozen=True, tag="heal"):
    """The network is whole again."""

    kind: ClassVar[str]
    node: ClassVar[str] = "network"

    def __str__(self) -> str:
        return "heal"


class _Called(_Event, frozen=True):
    name: str
    args: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.args))})" if self.args else self.name


class Fire(_Called, frozen=True, tag="timer"):
    """An armed timer fires."""


class Act(_Called, frozen=True, tag="action"):
    """A node does one of its actions."""


class Made(_Called, frozen=True, tag="call"):
    """The workload makes its next call of a node."""

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(repr, self.args))})"


class Save(_Event, frozen=True, tag="write"):
    """The oldest pending write of a disk reaches it."""

    disk: str  # the field
    key: Any

    def __str__(self) -> str:
        return f"{self.disk}[{self.key!r}]"


class Own(_Event, frozen=True):
    """Something that happens to a node, known by kind and node."""


class Crash(Own, frozen=True, tag="crash"):
    """A node goes down and loses what is not durable."""


class Restart(Own, frozen=True, tag="restart"):
    """A node that is down comes up again."""


class Reset(Own, frozen=True, tag="reset"):
    """A node crashes and is up again at once; who was connected to it has an error to hear of."""


class SilentReset(Own, frozen=True, tag="silent"):
    """A node crashes and is up again at once, and nobody connected to it is told."""

    def __str__(self) -> str:
        return "reset, nobody told"


class Slow(Own, frozen=True, tag="slow"):
    """A node becomes slow: it takes no step until it wakes."""


class Wake(Own, frozen=True, tag="wake"):
    """A slow node goes on."""


class Refuse(Own, frozen=True, tag="refuse"):
    """A real node refuses the next connection that is asked for."""


class Terminate(Own, frozen=True, tag="terminate"):
    """A signal asks a real node to end."""


class Sever(_Event, frozen=True, tag="sever"):
    """A connection of a real node breaks; both ends hear of it."""

    connection: str  # by the addresses of its ends

    def __str__(self) -> str:
        return self.connection


Mishap: TypeAlias = Drop | Duplicate | Cut | Idle | Split | Heal  # of the network: runs no handler
Event: TypeAlias = Deliver | Receive | Lost | Fire | Act | Made | Save | Own | Sever | Mishap
for _event in (*get_args(Event), *Lost.__subclasses__(), *Own.__subclasses__()):
    _event.kind = _event.__struct_config__.tag
OWN: dict[str, type[Own]] = {cls.kind: cls for cls in Own.__subclasses__()}
MAIL: dict[str, Callable[..., Event]] = {"deliver": Deliver, "receive": Receive}
MAIL |= {"drop": Drop, "duplicate": Duplicate}
PAIRS: dict[str, Callable[..., Event]] = {"cut": Cut, "idle": Idle}
PAIRS |= {cls.kind: cls for cls in Lost.__subclasses__()}

# The fault that an event is, by its kind: that is the name of the fault, or a shorter one.
SHORT = {"silent_reset": "silent", "idle_close": "idle"}
FAULT_OF = {SHORT.get(fault, fault): number for number, fault in enumerate(FAULTS)}
FAULT_KINDS = frozenset(FAULT_OF)
MISHAPS = frozenset({"drop", "duplicate", "cut", "idle", "partition", "heal"})
# The canonical order of kinds; what is ordinary comes before what is a fault.
KINDS = (*ORDINARY, *FAULT_OF)


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


def not_enabled(event: Event, why: str) -> NotEnabled:
    """An event was to be applied that cannot happen in this world."""
    return NotEnabled(
        f"`{event.kind} {event}` at {event.node} cannot happen here: {why}",
        "an event taken from another world, or from a trace of an older system",
        "take events from `world.enabled()`",
    )
