"""Hosts for tests of the network stack alone: no threads, and what is sent arrives at once.

`Hosts` holds the stacks of several nodes. Code runs `within` one of them; whatever it sends is then
delivered, in order, until nothing is under way. So the two ends see what a real loopback shows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from presage.frontends.real.machine import network  # noqa: F401  puts its answers in the table
from presage.frontends.real.machine.names import Host
from presage.frontends.real.machine.stack import Stack
from presage.process.context import MACHINE, running
from presage.process.fence import take_leaves


class Idle:
    """As much of a process as its stack asks for; it never waits."""

    answerer = MACHINE
    ask = guide = error = None

    def __init__(self, name: str, names: list[str], life: int = 0) -> None:
        self.host, self.name, self.life = Host(name, names), name, life
        self.now, self.steps, self.turns, self.dead = 0.0, 0, 0, False
        self.thread = None
        self.threads: list[Any] = []
        self.sent: deque[tuple[str, Any]] = deque()
        self.choices: deque[int] = deque()
        self.stack = Stack(self)

    def note_poll(self) -> None:
        """It does not poll for ever."""

    def send(self, to: str, packet: Any) -> None:
        self.sent.append((to, packet))

    def choose(self, n: int) -> int:
        return self.choices.popleft() if self.choices else 0

    def preempt(self) -> None:
        """It has one thread."""

    def block(self, ready: Callable[[], bool], deadline: float | None, what: str) -> bool:
        assert ready() or deadline is not None, f"{what} would wait for ever"
        return ready()


class Hosts:
    """Several nodes; what they send is delivered by `deliver`."""

    def __init__(self, *names: str) -> None:
        take_leaves()
        # Their lives differ, so their ports do.
        self.nodes = {name: Idle(name, list(names), at) for at, name in enumerate(names)}

    @contextmanager
    def within(self, name: str) -> Iterator[Idle]:
        running.stack.append(self.nodes[name])  # type: ignore[arg-type]
        try:
            yield self.nodes[name]
        finally:
            running.stack.pop()

    def call(self, name: str, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function within a node, then deliver everything."""
        with self.within(name) as node:
            node.steps += 1
            try:
                return function(*args)
            finally:
                self.deliver()

    def deliver(self) -> None:
        """Let arrive what is under way, and what that causes."""
        while any(node.sent for node in self.nodes.values()):
            for name, node in self.nodes.items():
                while node.sent:
                    to, packet = node.sent.popleft()
                    self.nodes[to].steps += 1
                    self.nodes[to].stack.receive(name, packet)
