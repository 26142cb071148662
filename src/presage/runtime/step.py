"""What a live node gives and takes: its surroundings, the records of its steps, its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from msgspec import Struct

from presage.model.service.local_state import Stimulus
from presage.model.world.snapshot import Local
from presage.records import NamedTuple, record
from presage.runtime.durable import Change
from presage.runtime.frame import DATAGRAM_MAX, FRAME_MAX, HEADER

INBOX = 1024  # datagrams kept until their guards let them in
BODY_MAX = DATAGRAM_MAX - HEADER.size  # bytes of a message that is sent as a datagram


class Surroundings(Protocol):
    """All that is between a node and its peers. Peers are named; messages are canonical bytes.

    Every method but `release`, `replied` and `failed` is called while a step is committed, and
    changes memory only. What it leads to must not leave the process before `release`.
    """

    def held(self, peer: str) -> int:
        """How many messages the stream to `peer` holds: sent, and not known to be handled."""

    def received(self, source: str) -> None:
        """The step handles the message at the head of the stream from `source`.

        Comes before all effects of the step: a `close` in it is of a connection that is open.
        """

    def delivered(self, source: str, sequence: int) -> None:
        """The step handles the datagram that `source` gave this number."""

    def send(self, to: str, body: bytes) -> None:
        """One datagram more to `to`."""

    def stream(self, to: str, body: bytes) -> None:
        """One message more on the stream to `to`, which is opened if need be."""

    def close(self, to: str) -> None:
        """Give up the connection to `to`: both ends lose what is under way."""

    def release(self) -> None:
        """All that was handed over before is safe now: let it leave."""

    def replied(self, request: Any, reply: Reply) -> None:
        """What came of a call, after `release`; `request` is what `call` was given."""

    def failed(self, failure: str) -> None:
        """The node has failed, after `release`: its connections are to be reset."""


class Reply(NamedTuple):
    """What a call gave: a copy of what the method returned, or why there is nothing."""

    value: Any = None
    error: str | None = None


class Record(Struct, frozen=True, gc=False):
    """One step: committed, or about to be, as `judge` sees it."""

    number: int  # of the node since it booted; its start is 1
    time: float  # by the node's clock
    stimulus: Stimulus  # as it was before the step; a message is given by `body`
    body: bytes | None  # of the message handled
    before: Local
    after: Local
    choices: tuple[tuple[int, int], ...]
    sends: Sequence[tuple[str, bytes]]  # datagrams
    flows: Sequence[tuple[str, bytes | None]]  # stream messages; None: closed
    records: Sequence[Any]
    logs: Sequence[str]
    failure: str | None
    sequence: int | None = None  # of the datagram handled
    changes: Sequence[Change] = ()  # what it made durable
    held: Mapping[int, int] = {}  # messages queued to peers, by index, as far as it was asked


class Refused(NamedTuple):
    """A step that `judge` did not let happen: it is as if it never was."""

    stimulus: Stimulus
    reason: Any


Result = Record | Refused | None  # None: nothing happens now; a guard is false, or it has failed
Judge = Callable[[Record], Any]  # a reason to refuse the step that would be, or None


@record(frozen=True)
class Options:
    """How a node runs live."""

    seed: int = 0
    delays: Mapping[str, float] = field(default_factory=dict)  # over `@timer(after=...)`, seconds
    inbox: int = INBOX
    body_max: int = BODY_MAX
    stream_max: int = FRAME_MAX - HEADER.size  # bytes of a message on a stream


@record
class Counts:
    """What has happened to a node since it booted."""

    steps: int = 0
    refused: int = 0
    overflowed: int = 0  # datagrams lost, as too many waited for their guards


class Kept(NamedTuple):
    """A datagram whose guard does not let it in yet."""

    source: str
    body: bytes
    sequence: int
