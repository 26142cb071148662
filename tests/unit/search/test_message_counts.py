"""How many messages there are is asked as a count, and filed under it."""

from random import Random
from typing import Any

import pytest
from msgspec import Struct

from presage import Faults, Service, System, action, always, check, on


class Even(Struct, frozen=True):
    number: int


class Odd(Struct, frozen=True):
    number: int


class Sender(Service):
    left: int
    to: str
    step: int = 1

    @action(when=lambda self: self.left > 0)
    def go(self) -> None:
        self.left -= self.step
        kind = Even if self.left % 2 == 0 else Odd
        self.send(self.to, kind(self.left))

    @on(Even)
    def even(self, message: Even, source: str) -> None:
        if message.number > 2:
            self.send(source, Odd(message.number - 1))

    @on(Odd)
    def odd(self, message: Odd) -> None:
        self.step = 1 + message.number % 2


def counted(world: Any, *types: type) -> int:
    return len(world.messages(*types))


def listed(world: Any, *types: type) -> int:
    return len(list(world.messages(*types)))


def at_most(count: Any, evens: int, all_: int) -> Any:
    @always
    def few(world: Any) -> bool:
        return bool(count(world, Even) <= evens and count(world) <= all_)

    return few


@pytest.mark.parametrize("network", ["unordered", "ordered", "duplicating"])
def test_counts_lead_to_the_verdicts_that_lists_lead_to(network: Any) -> None:
    spared, verdicts = 0, set()
    for seed in range(12):
        random = Random(seed)
        lefts = [random.randint(1, 4) for _ in range(2)]
        limits = (random.randint(1, 3), random.randint(2, 5))
        reports = []
        for count in (counted, listed):
            nodes = {"a": Sender(left=lefts[0], to="b"), "b": Sender(left=lefts[1], to="a")}
            system = System(
                nodes,
                network=network,
                faults=Faults(drop=1) if network == "unordered" else None,
                properties=[at_most(count, *limits)],
            )
            reports.append(check(system, traces=None))
        ours, theirs = reports
        assert (ours.unique, ours.generated) == (theirs.unique, theirs.generated)
        assert ours.properties == theirs.properties
        assert [each.steps for each in ours.violations] == [e.steps for e in theirs.violations]
        spared += theirs.property_runs - ours.property_runs
        verdicts.update(ours.properties.values())
    assert verdicts == {"held", "violated"}
    assert spared > 0
