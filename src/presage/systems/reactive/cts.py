"""Processes that count in step: none is ever more than one ahead of another.

After an example of the P distribution (bounded asynchrony), which has the flavour of the paper's
clocked transition system; its source is not public. Each process counts, tells the others its
count, and asks for the next tick; when all have asked, the scheduler lets all go on. Who hears a
count expects it to be its own, or one more.

In P a machine has one queue, so a count arrives before the tick that follows it. Here they come
over different channels. A seal makes up for that: while counts are under way, nothing else moves.
Without it (`async`) a late count is one too low.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from presage import Seal, Service, System, Verdict, WorldView, action, eventually, forall, on

Bug = Literal["none", "async", "two_of_three", "late"]


class Count(Struct, frozen=True):
    """The sender has counted so far."""

    value: int


class Ask(Struct, frozen=True):
    """The sender wants to go on."""


class Tick(Struct, frozen=True):
    """Go on."""


class Process(Service):
    """Counts up to a limit."""

    others: tuple[str, ...]
    limit: int
    count: int = 0

    def start(self) -> None:
        self.go_on()

    @on(Tick)
    def tick(self, message: Tick) -> None:
        self.go_on()

    def go_on(self) -> None:
        if self.count < self.limit:
            self.count += 1
            for other in self.others:
                self.send(other, Count(self.count))
            self.send("scheduler", Ask())

    @on(Count)
    def hear(self, message: Count, source: str) -> None:
        ahead = message.value - self.count
        assert ahead in (0, 1), f"{source} is {ahead} ahead"


class Scheduler(Service):
    """Lets all go on when all have asked."""

    processes: tuple[str, ...]
    bug: Bug = "none"
    asked: int = 0
    waiting: tuple[str, ...] = ()  # whom it has still to tell

    @on(Ask)
    def ask(self, message: Ask) -> None:
        self.asked += 1
        if self.asked < len(self.processes) - (self.bug == "two_of_three"):
            return
        self.waiting = self.processes
        if self.bug != "late":
            self.asked = 0
            while self.waiting:
                self.tell_next()

    @action(when=lambda self: bool(self.waiting))
    def tell(self) -> None:
        """Only a scheduler that tells one after the other comes here."""
        self.tell_next()
        if not self.waiting:
            self.asked = 0  # and forgets who asked meanwhile

    def tell_next(self) -> None:
        self.send(self.waiting[0], Tick())
        self.waiting = self.waiting[1:]


@eventually
def all_count(world: WorldView) -> Verdict:
    """All processes come to the limit."""
    return forall(world.of(Process), lambda process: process.count == process.limit)


def counting(world: WorldView) -> bool:
    """Counts are under way."""
    return bool(world.messages(Count))


def system(*, processes: int = 3, limit: int = 3, bug: Bug = "none") -> System:
    """Processes, and the scheduler that keeps them in step.

    processes: how many.
    limit: how far they count.
    bug: `async` has counts that arrive late, `two_of_three` does not wait for the last process,
        `late` lets one after the other go on, and forgets who asks meanwhile.
    """
    names = tuple(f"p{n}" for n in range(processes))
    nodes: dict[str, Service] = {"scheduler": Scheduler(processes=names, bug=bug)}
    for name in names:
        nodes[name] = Process(others=tuple(n for n in names if n != name), limit=limit)
    return System(
        nodes,
        network="ordered",
        properties=[all_count],
        seals=[] if bug == "async" else [Seal(counting, Count)],
        name="CTS",
    )
