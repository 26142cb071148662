"""Messages under way: a match starts one; it takes the latency of the route, then its share of the
bandwidth; at its end both sides are complete. A buffered offer is complete for its sender at once.
"""

from __future__ import annotations

from collections.abc import Callable

from presage.process.ops import Send
from presage.process.payload import Payloads
from presage.process.world import Post
from presage.records import record
from presage.simulate.actor import Actor
from presage.simulate.clock import Clock
from presage.simulate.fluid import Work
from presage.simulate.platform import Platform
from presage.simulate.result import RECEIVE, SEND, Transfer

Arrived = Callable[[Post], None]


@record(eq=False)
class Flight:
    offer: Post
    request: Post
    size: float
    start: float
    end: float | None = None

    def record(self) -> Transfer:
        box = self.offer.op.mailbox
        return Transfer(box, self.offer.owner, self.request.owner, self.size, self.start, self.end)


class Transfers:
    """All messages of a simulation, and which communications are complete since when."""

    def __init__(self, platform: Platform, clock: Clock, arrived: Arrived) -> None:
        self._platform = platform
        self._clock = clock
        self._arrived = arrived
        self._of: dict[Post, Flight] = {}
        self._complete: dict[Post, float] = {}
        self.all: list[Flight] = []

    def posted(self, post: Post) -> None:
        if isinstance(post.op, Send) and post.op.buffered:
            self._complete[post] = self._clock.now

    def start(self, offer: Post, request: Post, size: float, source: Actor, to: Actor) -> None:
        flight = Flight(offer, request, size, self._clock.now)
        self.all.append(flight)
        self._of[offer] = self._of[request] = flight
        route = self._platform.route(source.host, to.host)
        if not route:
            self._end(flight)
            return
        work = Work(size, lambda: self._end(flight), links=route)
        self._clock.plan(
            self._clock.now + self._platform.latency(route),
            source.order,
            lambda: self._clock.fluid.begin(work, self._clock.now),
        )

    def _end(self, flight: Flight) -> None:
        flight.end = self._clock.now
        for post in (flight.offer, flight.request):
            self._complete.setdefault(post, flight.end)
            self._arrived(post)

    def complete_since(self, post: Post) -> float | None:
        """Since when a communication is complete for whoever posted it."""
        return self._complete.get(post)

    def under_way(self, post: Post) -> bool:
        """Whether it has been matched, and is not complete yet."""
        return post in self._of and post not in self._complete

    def forget(self, post: Post) -> tuple[str, float, str]:
        """It was waited for. Its side, since when it was under way, and with whom."""
        since = self._complete.pop(post)
        flight = self._of.pop(post, None)
        kind = SEND if isinstance(post.op, Send) else RECEIVE
        if flight is None:
            return kind, since, f"to `{post.op.mailbox}`"
        if kind == SEND:
            return kind, flight.start, f"to {flight.request.owner} at `{post.op.mailbox}`"
        return kind, flight.start, f"from {flight.offer.owner} at `{post.op.mailbox}`"


def matched(post: Post, partner: Post) -> tuple[Post, Post]:
    """The offer and the request of a match."""
    return (post, partner) if isinstance(post.op, Send) else (partner, post)


def size_of(offer: Post, payloads: Payloads) -> float:
    """Its bytes: what it says, or else the length of its payload."""
    assert isinstance(offer.op, Send), offer
    return offer.op.size or payloads.size(offer.payload)
