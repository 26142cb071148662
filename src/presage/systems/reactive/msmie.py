"""MSMIE: slaves and masters share buffers, so that nobody ever waits for anybody to finish.

After Bruns and Anderson, "The Formalization and Analysis of a Communications Protocol" (1992), and
the model `msmie` of the BEEM benchmark. A slave fills the buffer that is its own, and hands it over
as the newest. Masters read the newest, all of them the same, until the last one lets go. A memory
takes one request at a time; writer and readers go on as soon as it has answered.

Nobody waits, but masters that overlap for ever read the same old buffer for ever: `fresh` does not
hold, in the published protocol either.

BEEM counts 2,334 states of one slave and two masters, since it tests the first buffer where it
means each one; mended 2,289. That slip is the bug `first`. The counts are of the steps of processes
under a semaphore; here a request is one step, so the graph is another.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from presage import System, WorldView, always, eventually
from presage.systems.reactive.machine import Event, Machine, State, Table

Bug = Literal["none", "first", "count", "newest"]
Buffer = Literal["idle", "newest", "slave", "master"]


class Write(Event, frozen=True):
    """To the slave: this buffer is yours."""

    buffer: int


class Written(Event, frozen=True):
    """From the slave: it is filled."""


class Acquire(Event, frozen=True):
    """From a master: it wants to read."""


class Read(Event, frozen=True):
    """To a master: read this buffer."""

    buffer: int


class Nothing(Event, frozen=True):
    """To a master: nothing is there."""


class Release(Event, frozen=True):
    """From a master: it has read."""


class Released(Event, frozen=True):
    """To a master: well."""


class Memory(Machine):
    """Serves slave and masters, one request at a time."""

    buffers: tuple[Buffer, ...]
    bug: Bug = "none"
    phase: str = "serving"
    readers: int = 0
    reading: frozenset[tuple[str, int]] = frozenset()  # who reads what: for the properties

    def written(self, event: Written, source: str) -> None:
        self._change("newest", "idle")
        self._change("slave", "newest")
        assert "idle" in self.buffers, "no buffer is left for the slave"
        self._change("idle", "slave")
        self.send(source, Write(self.buffers.index("slave")))

    def acquire(self, event: Acquire, source: str) -> None:
        joins = "master" in self.buffers
        if not joins and "newest" not in self.buffers:
            self.send(source, Nothing())
            return
        if not joins:
            self._change("newest", "master")
        if not joins or self.bug != "count":
            self.readers += 1
        buffer = self.buffers.index("master")
        self.reading |= {(source, buffer)}
        self.send(source, Read(buffer))

    def release(self, event: Release, source: str) -> None:
        self.reading = frozenset(pair for pair in self.reading if pair[0] != source)
        self.readers = max(self.readers - 1, 0)
        if self.readers == 0:
            looked_at = self.buffers[:1] if self.bug == "first" else self.buffers
            superseded = "newest" in looked_at and self.bug != "newest"
            if "master" in looked_at:
                self._change("master", "idle" if superseded else "newest")
        self.send(source, Released())

    def _change(self, old: Buffer, new: Buffer) -> None:
        """Give the first such buffer, if there is one, another use."""
        if old in self.buffers:
            at = self.buffers.index(old)
            self.buffers = (*self.buffers[:at], new, *self.buffers[at + 1 :])

    table: ClassVar[Table] = {
        "serving": State(on={Written: written, Acquire: acquire, Release: release})
    }


class Slave(Machine):
    """Fills one buffer after the other."""

    phase: str = "writing"

    def start(self) -> None:
        self.send("memory", Written())

    def go_on(self, event: Write, source: str) -> None:
        self.send("memory", Written())

    table: ClassVar[Table] = {"writing": State(on={Write: go_on})}


class Master(Machine):
    """Reads again and again."""

    phase: str = "waiting"

    def start(self) -> None:
        self.send("memory", Acquire())

    def read(self, event: Read, source: str) -> None:
        self.send("memory", Release())

    def go_on(self, event: Event, source: str) -> None:
        self.send("memory", Acquire())

    table: ClassVar[Table] = {"waiting": State(on={Read: read, Nothing: go_on, Released: go_on})}


@always
def read_in_peace(world: WorldView) -> bool:
    """Nobody writes to a buffer that somebody reads."""
    [memory] = world.of(Memory)
    return all(memory.buffers[buffer] == "master" for _, buffer in memory.reading)


@always
def one_newest(world: WorldView) -> bool:
    """At most one buffer is the newest, and one is the masters' only while they read."""
    [memory] = world.of(Memory)
    masters = memory.buffers.count("master")
    return memory.buffers.count("newest") <= 1 and masters == int(memory.readers > 0)


@eventually(fairness="strong")
def fresh(world: WorldView) -> bool:
    """Again and again the masters let go of what they read."""
    return "master" not in world["memory"].buffers


def system(
    *, masters: int = 2, buffers: int = 3, claim_fresh: bool = False, bug: Bug = "none"
) -> System:
    """A memory, a slave and masters.

    masters: how many.
    buffers: how many the memory has; two are not enough.
    claim_fresh: claim that masters let go of an old buffer, too, which does not hold.
    bug: `first` looks at the first buffer only when the last reader lets go, `count` does not count
        readers that join others, `newest` makes what was read the newest again.
    """
    idle: list[Buffer] = ["idle"] * (buffers - 1)
    return System(
        {
            "memory": Memory(buffers=(*idle, "slave"), bug=bug),
            "slave": Slave(),
            **{f"master{n}": Master() for n in range(masters)},
        },
        network="ordered",
        properties=[read_in_peace, one_newest, *([fresh] if claim_fresh else [])],
        name="MSMIE",
    )
