"""Lifts that raise a truck together, one under each wheel, with buttons at each of them.

After Groote, Pang and Wouters, "Analysis of a Distributed System for Lifting Trucks" (2001), and
the model `lifts` of the BEEM benchmark. When the set-up button is pressed at one station, the
stations number themselves round the ring, and the first learns how many there are. Then they speak
in turn, over a bus: each repeats what it last heard. A station whose button is held says `up` or
`down`; when all others have said the same since, it says `sync`, and all lifts move by one step.

The paper names four defects of the original, which are the bugs here. In the mended version a
station that is released says so once, whatever it has heard meanwhile, and moves at a `sync` by
what it has said last, not by what it has heard since.

The bus is a node that hands on one message after the other, so all hear the same in the same order.
BEEM's bus meets each station in turn (30,772 states of three stations): another graph.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from presage import HOLDS, Call, Service, System, Verdict, WorldView, action, always, eventually, on

Bug = Literal["none", "relay", "two_ref", "orphan", "still"]
Word = Literal["standby", "up", "down", "sync"]
CYCLE = 4  # heights and syncs are counted modulo this, to keep the space finite


class StartUp(Struct, frozen=True):
    """To the next station: the sender has this position."""

    position: int


class Say(Struct, frozen=True):
    """On the bus, with the position of the speaker and how many there are."""

    word: Word
    position: int
    count: int


class Bus(Service):
    """Hands on to all others what one says."""

    stations: tuple[str, ...]

    @on(Say)
    def say(self, message: Say, source: str) -> None:
        for station in self.stations:
            if station != source:
                self.send(station, message)


class Station(Service):
    """One lift with its buttons."""

    after: str  # the next station
    before: str
    presses: int
    bug: Bug = "none"
    position: int | None = None
    count: int | None = None
    heard: Word = "standby"
    said: Word = "standby"
    held: Literal["", "up", "down"] = ""
    released: bool = False  # has not said so yet
    votes: int = 0
    height: int = 0
    syncs: int = 0

    def set_up(self) -> None:
        if self.position is None:
            self.position = 0
            self.send(self.after, StartUp(0))

    @on(StartUp)
    def start_up(self, message: StartUp) -> None:
        if self.position is None:
            self.position = message.position + 1
            self.send(self.after, StartUp(self.position))
            if self.bug == "relay" and self.position == 1:
                self.send(self.before, StartUp(self.position))  # the relay is still closed
        elif self.position == 0 and self.count is None:
            self.count = message.position + 1
            self.speak("standby")

    @action(when=lambda self, way: self.can_press(), over=("up", "down"))
    def press(self, way: Literal["up", "down"]) -> None:
        self.presses -= 1
        self.held, self.votes = way, 0

    def can_press(self) -> bool:
        return self.presses > 0 and not self.held and not self.released and self.count is not None

    @action(when=lambda self: self.held != "")
    def release(self) -> None:
        self.held, self.heard = "", "standby"
        self.released = self.bug != "orphan"

    @on(Say)
    def hear(self, message: Say) -> None:
        self.count = message.count
        if message.word == "sync":
            self.move()
        elif not self.released:
            self.heard = message.word
        self.votes += message.word == self.held
        if self.position == (message.position + 1) % self.count:
            self.take_turn()

    def take_turn(self) -> None:
        assert self.count is not None
        if self.held and self.votes == self.count - 1 and self.said == self.held:
            self.move()
            self.speak("sync")
        else:
            self.speak(self.held or self.heard)
            self.released = False
        self.votes = 0

    def speak(self, word: Word) -> None:
        assert self.position is not None and self.count is not None
        self.said = self.said if word == "sync" else word
        self.send("bus", Say(word, self.position, self.count))

    def move(self) -> None:
        way = (self.held or self.heard) if self.bug == "still" else self.said
        change = {"up": 1, "down": -1}.get(way, 0)
        self.height = (self.height + change) % CYCLE
        self.syncs = (self.syncs + 1) % CYCLE


@always
def level(world: WorldView) -> Verdict:
    """Stations that have heard the same number of syncs are at the same height."""
    known: dict[int, Station] = {}
    for station in world.of(Station):
        other = known.setdefault(station.syncs, station)
        if other.height != station.height:
            return Verdict.fails(f"{other.name} is at {other.height}, {station.name} not")
    return HOLDS


@always
def counted(world: WorldView) -> bool:
    """A station that is in operation knows how many there are."""
    stations = world.of(Station)
    return all(station.count in (None, len(stations)) for station in stations)


@eventually
def calms_down(world: WorldView) -> bool:
    """Where no button is held, all stand by again."""
    stations = world.of(Station)
    held = any(station.held for station in stations)
    return held or all(station.said == "standby" for station in stations)


def system(*, stations: int = 3, presses: int = 1, bug: Bug = "none") -> System:
    """Stations in a ring, and the bus.

    stations: how many.
    presses: how often a button of each is pressed, and released.
    bug: `relay` announces the second station also to the first; `two_ref` lets two stations be set
        up as the first; `orphan` has released stations that repeat what they hear, so that all say
        `up` for ever and nobody meant it; `still` has stations that move by what they heard last,
        so that one that was just released stays where it is.
    """
    names = [f"s{n}" for n in range(stations)]
    nodes: dict[str, Service] = {"bus": Bus(stations=tuple(names))}
    for n, name in enumerate(names):
        nodes[name] = Station(
            after=names[(n + 1) % stations], before=names[n - 1], presses=presses, bug=bug
        )
    pressed = names[:2] if bug == "two_ref" else names[:1]
    return System(
        nodes,
        network="ordered",
        calls={name: [Call("set_up")] for name in pressed},
        properties=[level, counted, calms_down],
        name="truck lift",
    )
