"""Table 1: how many pairs of a state and an order of its tasks there are, beside states alone.

The kernel never keeps an order with the seen state, so pairs are counted in plain Python, on the
reference of searches by delays: each state is listed once on a live world, and then all orders of
`rtc` in which it can be met are followed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from reference.delaying import Delaying  # noqa: E402

Children = dict[int, list[tuple[int, list[Any]]]]  # by task: states after it, and what it sent


class Pairs(Delaying):  # type: ignore[misc]
    """All states of a system without faults, and all pairs."""

    def count(self) -> tuple[int, int]:
        """How many states, how many pairs."""
        self.listings: dict[int, tuple[list[Any], Children]] = {}
        self.roots: list[int] = []
        self.begin()
        waiting = list(self.buckets[0])
        while waiting:
            waiting += self.list_children(waiting.pop())
        return len(self.listings), len(self.follow_orders())

    def visit(self, depth: int, bound: int, before: Any, ran: Any, sent: Any) -> None:
        self.seen.add(self.world.fingerprint)
        self.roots.append(self.world.fingerprint)
        self.buckets[0].append((self.world.fingerprint, self.world.save()))

    def list_children(self, entry: tuple[int, Any]) -> list[tuple[int, Any]]:
        """List a state; the states after it that are new."""
        fingerprint, saved = entry
        self.world.restore(saved)
        tasks, _ = self.listed()
        children: Children = {}
        new = []
        index = self.system.index
        for task in tasks:
            for event, choices in task.branches:
                self.world.restore(saved)
                step = self.world.apply(event, choices)
                sent = [(index(one.source), index(one.to), one.message) for one in step.sends]
                children.setdefault(task.key, []).append((step.fingerprint, sent))
                if step.fingerprint not in self.seen:
                    self.seen.add(step.fingerprint)
                    new.append((step.fingerprint, self.world.save()))
        self.listings[fingerprint] = (tasks, children)
        return new

    def follow_orders(self) -> set[tuple[int, tuple[int, ...]]]:
        """Every pair that some execution meets."""
        pairs = {(root, self.order(root, (), None, [])) for root in self.roots}
        waiting = list(pairs)
        while waiting:
            fingerprint, before = waiting.pop()
            _, children = self.listings[fingerprint]
            for at, key in enumerate(before):
                for child, sent in children[key]:
                    pair = (child, self.order(child, before, at, sent))
                    if pair not in pairs:
                        pairs.add(pair)
                        waiting.append(pair)
        return pairs

    def order(
        self, fingerprint: int, before: tuple[int, ...], ran: int | None, sent: list[Any]
    ) -> tuple[int, ...]:
        """The keys of the tasks of a state, as the scheduler arranges them."""
        tasks, _ = self.listings[fingerprint]
        place = self.placed(fingerprint, list(before), ran, sent)
        return tuple(task.key for task in sorted(tasks, key=place))
