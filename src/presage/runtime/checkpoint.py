"""Checkpoints of a live node: what they hold, and the numbers that make them fit together.

Each node has a number. A checkpoint taken by itself makes it one larger, and every frame carries
it. When a frame brings a larger number, the node *first* takes a checkpoint of that number, and
*then* looks at anything in the frame: its message, its acknowledgement, the news of a lost
connection. So checkpoints of one number make a consistent cut: none of them has seen what another
did after its own. This is the algorithm of Lai and Yang as CrystalBall uses it (NSDI 2009).

A node whose number jumped from below n to m > n had seen nothing of n or later before; so its
checkpoint m belongs to the cut n. Hence the *earliest* checkpoint numbered at least n is given.

A node that restarts must not fall back behind a number that its earlier process used, or frames of
the new process would slip into cuts that hold the old one. So numbers are reserved in blocks:
`reserve` makes a bound durable, and a process begins with the bound that the last one left.

Invariant: numbers grow, restarts included; nothing is looked at before `seen` got its number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

from presage._core import Codec
from presage.model.service.automaton import Automaton
from presage.model.world.snapshot import Local
from presage.records import NamedTuple
from presage.runtime.datagrams import Held
from presage.runtime.link import End, first_life

RESERVED = 1024  # numbers by which the durable bound is ahead
KEPT_MAX = 16  # checkpoints of the own node
BYTES_MAX = 1 << 20  # of them


class Checkpoint(NamedTuple):
    """A node at one moment, with what it knows of messages under way."""

    node: str
    number: int
    process: int  # which start of the node
    local: Local  # empty bytes for ghosts and for fields that checkpoints leave out
    ends: Mapping[str, End]
    datagrams: Held

    @property
    def size(self) -> int:
        """About how many bytes it holds."""
        logs = sum(len(body) for end in self.ends.values() for body in end.log)
        sent = sum(len(each.message) for one in self.datagrams.sent.values() for each in one)
        return 64 + sum(map(len, self.local)) + 32 * len(self.ends) + logs + sent


class Gone(NamedTuple):
    """A checkpoint that was asked for and is not kept any more."""

    number: int  # of the latest one


def checkpointed(automaton: Automaton, local: Local, codec: Codec) -> Local:
    """The values of a node as a checkpoint holds them; `codec` is the one of the system.

    A node that runs live may have a codec of its own, by which moments keep their numbers. To a
    search they are unknown, so they are written anew.
    """
    if automaton.codec is not codec:
        local = tuple(codec.encode_fields([automaton.codec.decode(value) for value in local]))
    left = automaton.ghosts | automaton.omitted
    return tuple(b"" if at in left else value for at, value in enumerate(local))


def restored(automaton: Automaton, local: Local, codec: Codec) -> Local:
    """The values of a node from a checkpoint: what was left out is as it was at first."""
    if all(local):
        return local
    initial = codec.encode_fields(automaton.initial())
    return tuple(value or first for value, first in zip(local, initial, strict=True))


def kept_ends(ends: Mapping[str, End], process: int) -> dict[str, End]:
    """Those that say anything: a missing end was never used."""
    fresh = first_life(process)
    return {peer: end for peer, end in ends.items() if end.used or end.life != fresh}


class Checkpoints:
    """The number of a node, and its last checkpoints.

    `take(number)` makes one of right now. `bound` is what `reserve` was last given, by whichever
    process of the node; what is reserved is to be durable before the frames of that turn leave.
    """

    def __init__(
        self,
        take: Callable[[int], Checkpoint],
        *,
        bound: int = 0,
        reserve: Callable[[int], None] | None = None,
        kept_max: int = KEPT_MAX,
        bytes_max: int = BYTES_MAX,
    ) -> None:
        self.number = bound
        self._bound = bound
        self._reserve = reserve
        self.forced = 0  # how many were taken because a frame had a larger number
        self._take = take
        self._kept_max = kept_max
        self._bytes_max = bytes_max
        self._kept: deque[Checkpoint] = deque()
        self._bytes = 0
        self._dropped = bound  # the largest number that is not kept any more

    def resume(self, bound: int) -> None:
        """Begin where the last process of the node has ended, before anything else."""
        assert not self._kept, "it has begun already"
        self.number = self._bound = self._dropped = bound
        self._extend()

    def seen(self, number: int) -> None:
        """A frame or news of this number is about to be looked at."""
        if number > self.number:
            self.forced += 1
            self._add(number)

    def advance(self, number: int = 0) -> Checkpoint:
        """Take one of the next number, or of a larger `number`."""
        return self._add(max(self.number + 1, number))

    def at_least(self, number: int) -> Checkpoint | Gone:
        """The earliest one numbered at least `number`, taken now if there is none."""
        if number <= self._dropped:
            return Gone(self.number)
        for checkpoint in self._kept:
            if checkpoint.number >= number:
                return checkpoint
        return self._add(number)

    def numbered(self, number: int) -> Checkpoint | None:
        """The kept one of exactly this number."""
        return next((each for each in self._kept if each.number == number), None)

    def __len__(self) -> int:
        return len(self._kept)

    def _add(self, number: int) -> Checkpoint:
        checkpoint = self._take(number)
        self.number = number
        self._extend()
        self._kept.append(checkpoint)
        self._bytes += checkpoint.size
        while len(self._kept) > 1 and (
            len(self._kept) > self._kept_max or self._bytes > self._bytes_max
        ):
            dropped = self._kept.popleft()
            self._bytes -= dropped.size
            self._dropped = dropped.number
        return checkpoint

    def _extend(self) -> None:
        """Reserve numbers long before they are used, so that no frame waits for a disk."""
        if self._reserve is not None and self.number + RESERVED // 2 >= self._bound:
            self._bound = self.number + RESERVED
            self._reserve(self._bound)
