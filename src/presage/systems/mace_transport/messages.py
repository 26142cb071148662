"""What goes over the network, and what the two ends of a connection remember."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import Struct

WINDOW_MAX = 8.0  # of a sender; only there to keep the number of states finite


class Item(Struct, frozen=True):
    """What the application sends: a number, from 0, in one life and epoch of the sender."""

    number: int
    life: int  # of the sender's process
    epoch: int  # of the sender: it begins again from 0 after every error


class Piece(Struct, frozen=True):
    """One numbered part of an item."""

    seq: int
    item: Item
    fragment: int = 0  # which of `fragments`
    fragments: int = 1
    syn: int = 0  # the connection it opens; 0: it opens none

    @property
    def first(self) -> int:
        """The number of the item's first piece."""
        return self.seq - self.fragment


class Data(Struct, frozen=True):
    """A piece, and the last connection that its sender knows of in the other direction."""

    piece: Piece
    echo: int


class Ack(Struct, frozen=True):
    """Everything up to `seq` has arrived."""

    seq: int


class Reset(Struct, frozen=True):
    """There is no such connection as that of `seq`; `syn` is it or a later one, 0 if unknown."""

    syn: int
    seq: int


@dataclass
class Outgoing:
    """A connection to a peer, at the end that sends."""

    syn: int
    last_used: int  # the last number that was given to a piece
    base: int  # the number before the first
    inflight: list[Piece] = field(default_factory=list)  # in the order they were sent
    again: list[Piece] = field(default_factory=list)  # to be sent again, lowest first
    waiting: list[Piece] = field(default_factory=list)  # not sent yet
    fresh: set[int] = field(default_factory=set)  # in flight; a timeout of theirs shuts the window
    window: float = 1.0
    threshold: float = WINDOW_MAX  # below it the window grows fast
    acked: int = 0  # the last new acknowledgement
    repeats: int = 0  # how often that came again
    established: bool = False  # something was acknowledged
    asked: bool = False  # the application asked to be told when it may send

    @property
    def unacked(self) -> list[int]:
        """The numbers of all pieces that were sent and may be lost."""
        return [piece.seq for piece in (*self.inflight, *self.again)]

    def grow(self) -> None:
        """The window after one acknowledgement."""
        step = 1.0 if self.window < self.threshold else 1.0 / self.window
        self.window = min(self.window + step, WINDOW_MAX)


@dataclass
class Incoming:
    """A connection from a peer, at the end that receives."""

    opened_by: int  # the number of the piece that opened it
    next: int  # all below have arrived
    deliver: int  # all below were given to the application
    early: dict[int, Piece] = field(default_factory=dict)  # arrived, and not yet given away
    copies: dict[int, int] = field(default_factory=dict)  # how often an early piece came again
    miscounted: dict[int, int] = field(default_factory=dict)  # pieces counted twice, by item
