"""Simulated processes run eagerly: packets arrive in the order they were sent, then timers fire.

It is one of the runs that a search tries, and the one that a real machine shows most often.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from presage.frontends.real.machine import kernel  # noqa: F401  makes all parts known
from presage.frontends.real.machine.effects import Options
from presage.frontends.real.machine.names import Host
from presage.frontends.real.machine.process import Process
from presage.process.fence import take_leaves

STEPS_MAX = 5000


class Eager:
    """Several processes and the network between them."""

    def __init__(self, programs: dict[str, Callable[[], Any]], **options: Any) -> None:
        take_leaves()
        names = list(programs)
        self.nodes = {
            name: Process(Host(name, names), program, life=0, options=Options(**options))
            for name, program in programs.items()
        }
        self.network: deque[tuple[str, str, Any]] = deque()
        self.steps: list[str] = []
        self.failures: list[BaseException] = []

    def collect(self, name: str) -> None:
        effects = self.nodes[name].collect()
        self.network.extend((name, to, packet) for to, packet in effects.sends)
        self.failures += [each.error for each in effects.failures]

    def run(self, until: str = "") -> Eager:
        """Run until nothing more can happen, or `until` has ended; raises what nobody handled."""
        for name, node in self.nodes.items():
            node.begin()
            self.collect(name)
        while len(self.steps) < STEPS_MAX and not (until and self.nodes[until].ended):
            if not self.step():
                break
        assert len(self.steps) < STEPS_MAX, self.steps[-20:]
        if self.failures:
            raise self.failures[0]
        return self

    def step(self) -> bool:
        """One event: a name that is found, else a packet, an own event, or the earliest timer."""
        for name, node in self.nodes.items():
            for event in node.own_events():
                if event[0] == "look up":
                    return self._go(name, event)
        while self.network:
            source, to, packet = self.network.popleft()
            if not self.nodes[to].ended:
                self.steps.append(f"{source}>{to} {packet}")
                self.nodes[to].receive(source, packet)
                self.collect(to)
                return True
        timers = []
        for name, node in self.nodes.items():
            for event in node.own_events():
                if event[0] != "timer":
                    return self._go(name, event)
                timers.append((node.deadline, name, event))
        if timers:
            _, name, event = min(timers)
            return self._go(name, event)
        return False

    def _go(self, name: str, event: tuple[Any, ...]) -> bool:
        self.steps.append(f"{name} {event}")
        self.nodes[name].go(event)
        self.collect(name)
        return True

    def close(self) -> None:
        for node in self.nodes.values():
            node.dispose()
