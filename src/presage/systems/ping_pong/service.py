"""A player."""

from __future__ import annotations

from presage import Service, on
from presage.systems.ping_pong.messages import Ping, Pong


class Player(Service):
    """Returns the ball with the expected number until its count is `max`."""

    max: int
    serve_to: str | None = None
    count: int = 0

    def start(self) -> None:
        if self.serve_to is not None:
            self.send(self.serve_to, Ping(0))

    @on(Ping, when=lambda self: self.count < self.max)
    def ping(self, ping: Ping, source: str) -> None:
        if ping.value == self.count:
            self.count += 1
            self.send(source, Pong(ping.value))

    @on(Pong, when=lambda self: self.count < self.max)
    def pong(self, pong: Pong, source: str) -> None:
        if pong.value == self.count:
            self.count += 1
            self.send(source, Ping(pong.value + 1))
