"""Datagrams as a node knows them: those it sent of late, and those that reached it.

A datagram may be lost without a word. To know which ones are under way, the sender numbers
those to each peer and keeps them for a while, and the receiver notes which numbers it got. What was
sent and not received is in flight, until it is so old that it must be lost.

A datagram whose guard does not hold stays on the network in the model. Here it waits at the
receiver, oldest lost first, and is part of what the receiver's checkpoint says is in flight.

Invariant: a number is received at most as often as the network delivers it, and kept for at least
as long as the sender keeps the datagram.
"""

from __future__ import annotations

from collections import deque

from presage.records import NamedTuple

KEPT = 2.0  # seconds that a datagram is kept by its sender
NOTED = 4 * KEPT  # seconds that its number is kept by the receiver
WAITING_MAX = 1024  # datagrams whose guard does not hold


class Sent(NamedTuple):
    """A datagram of one sender to one receiver."""

    number: int  # from 1, per receiver and process
    time: float  # by the sender's clock; in a checkpoint: how long before it
    message: bytes


class Waiting(NamedTuple):
    """A datagram that has arrived and is not handled yet."""

    source: str
    message: bytes


class Got(NamedTuple):
    """The numbers received from one process: all up to `floor`, and those in `above`."""

    process: int
    floor: int
    above: tuple[int, ...]

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and (number <= self.floor or number in self.above)


class Held(NamedTuple):
    """The datagrams of a node as a checkpoint holds them."""

    sent: dict[str, tuple[Sent, ...]]
    numbers: dict[str, int]  # how many were ever sent to each peer
    got: dict[str, Got]
    waiting: tuple[Waiting, ...]


class _Received:
    """What was received from one process of a peer."""

    __slots__ = ("above", "floor", "process", "times")

    def __init__(self, process: int) -> None:
        self.process = process
        self.floor = 0
        self.above: set[int] = set()
        self.times: deque[tuple[float, int]] = deque()

    def add(self, number: int, now: float) -> None:
        if number > self.floor and number not in self.above:
            self.above.add(number)
            self.times.append((now, number))
        while self.floor + 1 in self.above:
            self.floor += 1
            self.above.discard(self.floor)

    def forget(self, before: float) -> None:
        """Numbers up to one that came long ago are received or lost: their senders forgot them."""
        while self.times and self.times[0][0] < before:
            self.floor = max(self.floor, self.times.popleft()[1])
        self.above = {number for number in self.above if number > self.floor}


class Datagrams:
    """All of one node."""

    def __init__(self, kept: float = KEPT) -> None:
        self._kept = kept
        self._noted = kept * (NOTED / KEPT)
        self._sent: dict[str, deque[Sent]] = {}
        self._numbers: dict[str, int] = {}
        self._received: dict[str, _Received] = {}
        self.waiting: deque[Waiting] = deque()
        self.overflows = 0  # datagrams that were lost because too many waited

    def send(self, to: str, message: bytes, now: float) -> int:
        """Note that a datagram leaves; its number, for the field `handled` of its frame."""
        number = self._numbers[to] = self._numbers.get(to, 0) + 1
        sent = self._sent.setdefault(to, deque())
        sent.append(Sent(number, now, message))
        self._forget(sent, now)
        return number

    def receive(self, source: str, process: int, number: int, message: bytes, now: float) -> bool:
        """Note that one arrived; false if its sender is a process that has ended.

        Two copies of one datagram are two deliveries: a network that duplicates is in the model.
        """
        received = self._received.get(source)
        if received is None or process > received.process:
            received = self._received[source] = _Received(process)
        if process < received.process:
            return False
        received.add(number, now)
        received.forget(now - self._noted)
        if len(self.waiting) == WAITING_MAX:
            self.waiting.popleft()
            self.overflows += 1
        self.waiting.append(Waiting(source, message))
        return True

    def take(self, at: int = 0) -> Waiting:
        """The datagram that waits at position `at`; it is handled by the step that follows."""
        datagram = self.waiting[at]
        del self.waiting[at]
        return datagram

    def held(self, now: float) -> Held:
        """What a checkpoint holds of them."""
        for sent in self._sent.values():
            self._forget(sent, now)
        return Held(
            {
                to: tuple(each._replace(time=now - each.time) for each in sent)
                for to, sent in self._sent.items()
                if sent
            },
            dict(self._numbers),
            {
                source: Got(each.process, each.floor, tuple(sorted(each.above)))
                for source, each in self._received.items()
            },
            tuple(self.waiting),
        )

    def _forget(self, sent: deque[Sent], now: float) -> None:
        while sent and sent[0].time < now - self._kept:
            sent.popleft()
