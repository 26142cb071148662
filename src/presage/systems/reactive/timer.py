"""P's timer: stopping it may come too late.

A running timer may fire at any time. Asked to stop, it says that it has stopped, or that it could
not, and then it fires. Who stops a timer must be ready for three answers: `Stopped`, `TooLate` and
then `Fired`, or only `Fired`, because an idle timer does not answer. With `answers` it does.
"""

from __future__ import annotations

from typing import ClassVar

from presage import timer
from presage.systems.reactive.machine import Event, Machine, State, Table, beside


class Start(Event, frozen=True):
    """Begin to run."""


class Stop(Event, frozen=True):
    """Do not fire any more."""


class Fired(Event, frozen=True):
    """The time is over."""


class Stopped(Event, frozen=True):
    """The timer will not fire."""


class TooLate(Event, frozen=True):
    """The timer could not be stopped, and fires."""


class Timer(Machine):
    """Serves the machine of the role `owner` that has its number."""

    owner: str
    answers: bool = False  # whether an idle timer says that it is too late
    phase: str = "idle"

    def begin(self, event: Start, source: str) -> None:
        self.arm("fire")
        self.goto("running")

    @timer
    def fire(self) -> None:
        self.send(beside(self, self.owner), Fired())
        self.goto("idle")

    def stop(self, event: Stop, source: str) -> None:
        self.disarm("fire")
        if self.choose([True, False]):
            self.send(beside(self, self.owner), Stopped())
        else:
            self.send(beside(self, self.owner), TooLate())
            self.send(beside(self, self.owner), Fired())
        self.goto("idle")

    def answer(self, event: Stop, source: str) -> None:
        if self.answers:
            self.send(beside(self, self.owner), TooLate())

    table: ClassVar[Table] = {
        "idle": State(on={Start: begin, Stop: answer}),
        "running": State(on={Stop: stop}, defer=(Start,)),
    }
