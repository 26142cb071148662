"""Time synchronisation: clocks agree on the best of them, the grandmaster, whose time all follow.

After the best-master algorithm of IEEE 1588, which two examples of the P distribution model; they
are probably the paper's benchmark. A clock announces to its neighbours the best clock it knows of,
and how many steps away that is. From time to time it decides anew: it is the grandmaster itself, or
it follows the neighbour that announced the best, and does not announce to that one.

Two scenarios. On a `line` nothing breaks: once all clocks follow the best one, they stay with it.
In the `ring` the grandmaster's link breaks and the ends of the rest are joined, so that an
announcement about the lost grandmaster could go round for ever. An announcement therefore names the
clocks that it has passed (path trace), and a clock drops what has passed it before.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from presage import (
    HOLDS,
    Call,
    Service,
    System,
    Verdict,
    WorldView,
    action,
    always,
    on,
    state,
    timer,
)

Bug = Literal["none", "rogue", "forget"]
RANKS = (1, 3, 4, 2)  # of the clocks along the line; lower is better
MOST_STEPS = len(RANKS)


class Announce(Struct, frozen=True):
    """The best clock that the sender knows of, and the way there."""

    rank: int
    path: tuple[str, ...]  # the sender comes last


class Remove(Struct, frozen=True):
    """A link is broken."""

    neighbour: str


class Join(Struct, frozen=True):
    """There is a new link."""

    neighbour: str


class Clock(Service):
    """Knows, of each neighbour, what it announced last."""

    rank: int
    neighbours: frozenset[str]
    announcements: int  # how many it may still make, each to all neighbours
    bug: Bug = "none"
    heard: dict[str, Announce] = state(dict)
    parent: str | None = None  # the neighbour that it follows
    best: int = 0  # the rank of its grandmaster
    path: tuple[str, ...] = ()  # the clocks on the way there
    news: bool = False  # since it last decided

    def start(self) -> None:
        self.best, self.path = self.rank, (self.name,)
        self.arm("announce")

    @timer
    def announce(self) -> None:
        for neighbour in sorted(self.neighbours):
            if neighbour != self.parent:
                self.send(neighbour, Announce(self.best, self.path))
        self.announcements -= 1
        if self.announcements:
            self.arm("announce")

    @on(Announce)
    def take(self, announce: Announce, source: str) -> None:
        if self.name in announce.path and self.bug != "rogue":
            return
        if source in self.neighbours:
            self.heard[source] = announce
            self.news = True

    @action(when=lambda self: self.news)
    def decide(self) -> None:
        self.news = False
        before = self.best
        offers = [(a.rank, len(a.path), name, a.path) for name, a in self.heard.items()]
        if offers and min(offers)[0] < self.rank:
            self.best, _, self.parent, path = min(offers)
            self.path = (*path, self.name)
        else:
            self.best, self.parent, self.path = self.rank, None, (self.name,)
        if self.best != before:
            self.record(self.best)
        if self.bug == "forget":
            self.heard = {}

    @on(Remove)
    def remove(self, message: Remove) -> None:
        self.neighbours -= {message.neighbour}
        if self.heard.pop(message.neighbour, None) is not None:
            self.news = True

    @on(Join)
    def join(self, message: Join) -> None:
        self.neighbours |= {message.neighbour}


class Tester(Service):
    """Breaks and joins links."""

    def link(self, message: type[Remove] | type[Join], one: str, other: str) -> None:
        self.send(one, message(other))
        self.send(other, message(one))

    def break_link(self, one: str, other: str) -> None:
        self.link(Remove, one, other)

    def join_link(self, one: str, other: str) -> None:
        self.link(Join, one, other)


@always
def no_rogue_frame(world: WorldView) -> bool:
    """No announcement has made more steps than there are clocks."""
    return all(len(sent.message.path) <= MOST_STEPS for sent in world.messages(Announce))


class Agreement:
    """An observer: which clock follows which, until all follow the best; and who turned away then.

    Its state is the pairs of clock and rank, then "agreed", then the name of the first apostate.
    """

    def initial(self) -> frozenset[tuple[str, int]] | str:
        return frozenset({("c0", min(RANKS))})

    def observe(
        self, seen: frozenset[tuple[str, int]] | str, node: str, best: int
    ) -> frozenset[tuple[str, int]] | str:
        if isinstance(seen, str):
            return node if seen == "agreed" else seen
        now = frozenset(pair for pair in seen if pair[0] != node) | {(node, best)}
        everyone = [rank for _, rank in now] == [min(RANKS)] * len(RANKS)
        return "agreed" if everyone else now


@always
def stays_agreed(world: WorldView) -> Verdict:
    """Once all follow the best clock, nobody turns away from it."""
    seen = world.observer("agreement")
    if not isinstance(seen, str) or seen == "agreed":
        return HOLDS
    return Verdict.fails(f"{seen} turns away")


def system(
    *, scenario: Literal["line", "ring"] = "line", announcements: int = 3, bug: Bug = "none"
) -> System:
    """Four clocks in a line, the best one at its end.

    scenario: `line` leaves the links as they are; `ring` breaks the grandmaster's, and joins the
        two ends of what is left.
    announcements: how many each clock makes.
    bug: `rogue` has no path trace, so that in the ring an announcement goes round; `forget` decides
        by what was announced since the last decision, so that what is late is missing.
    """
    names = [f"c{n}" for n in range(len(RANKS))]
    links = [{*pair} for pair in zip(names, names[1:], strict=False)]
    clocks: dict[str, Service] = {
        name: Clock(
            rank=rank,
            neighbours=frozenset().union(*(link - {name} for link in links if name in link)),
            announcements=announcements,
            bug=bug,
        )
        for name, rank in zip(names, RANKS, strict=True)
    }
    if scenario == "line":
        return System(
            clocks,
            network="ordered",
            observers={"agreement": Agreement()},
            properties=[no_rogue_frame, stays_agreed],
            name="TSP",
        )
    return System(
        {**clocks, "tester": Tester()},
        network="ordered",
        calls={"tester": [Call("break_link", "c0", "c1"), Call("join_link", "c1", "c3")]},
        properties=[no_rogue_frame],
        name="TSP",
    )
