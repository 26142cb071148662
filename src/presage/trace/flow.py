"""What became of each message of a trace: delivered, dropped, lost, or under way when it ends.

A trace says what each step sent and what each step handled. Equal messages between the same two
nodes cannot be told apart, so they are matched in the order in which they were sent.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import replace

from presage.records import record
from presage.trace.trace import Sent, Trace, TraceStep

FATES = {"deliver": "delivered", "receive": "delivered", "drop": "dropped"}
LOST = "lost"
START = 0  # in place of a step: sent by a `start`, before the first step


@record
class Flight:
    """One message, from the step that sent it to the step that handled it."""

    source: str
    to: str
    message: str
    sent: int
    fate: str = "under way"  # or delivered, or dropped, or lost with its stream
    step: int | None = None  # the step of its fate


class Flow:
    """The messages of a trace, by the step that sent them and by the step that handled them."""

    def __init__(self, trace: Trace, opening: Iterable[Sent] = ()) -> None:
        """`opening` is what the `start` handlers sent, where that is known."""
        self.sent: dict[int, list[Flight]] = {}
        self.handled: dict[int, Flight] = {}
        self._waiting: dict[tuple[str, str, str], deque[Flight]] = defaultdict(deque)
        self._last: dict[tuple[str, str, str], Flight] = {}
        self._send(START, opening)
        for step in trace.steps:
            if step.source is not None and (step.kind in FATES or step.kind == "duplicate"):
                self.handled[step.index] = self._handle(step, step.source)
            self._send(step.index, step.sends)
            for gone in step.lost:
                self._lose(step.index, gone)

    def _send(self, index: int, sends: Iterable[Sent]) -> None:
        flights = [Flight(s.source, s.to, s.message, index) for s in sends]
        for flight in flights:
            self._waiting[flight.source, flight.to, flight.message].append(flight)
        self.sent[index] = flights

    def _lose(self, index: int, gone: Sent) -> None:
        waiting = self._waiting[gone.source, gone.to, gone.message]
        if waiting:
            flight = waiting.popleft()
            flight.fate, flight.step = LOST, index

    def _handle(self, step: TraceStep, source: str) -> Flight:
        key = (source, step.node, step.detail)
        waiting = self._waiting[key]
        if step.kind == "duplicate":
            flight = waiting[0] if waiting else Flight(*key, START)
            waiting.appendleft(replace(flight))
            return flight
        if waiting:
            flight = waiting.popleft()
        elif key in self._last:  # a network that keeps messages delivers one several times
            return self._last[key]
        else:
            flight = Flight(*key, START)
        flight.fate, flight.step = FATES[step.kind], step.index
        self._last[key] = flight
        return flight
