"""Thousands of messages in one queue: as cheap as any others, and the same to both oracles."""

from dataclasses import dataclass

import pytest

from presage import Service, System, always, check, on

QUEUED = {
    "ordered": {"network": "ordered"},
    "lanes": {"network": "lanes"},
    "streams": {"streams": True},
}


@dataclass(frozen=True)
class Item:
    number: int
    lane: str = "only"


class Source(Service):
    count: int = 0
    streams: bool = False

    def start(self) -> None:
        for number in range(self.count):
            if self.streams:
                self.stream.send("sink", Item(number))
            else:
                self.send("sink", Item(number))


class Sink(Service):
    got: int = 0

    @on(Item)
    def take(self, item: Item) -> None:
        assert item.number == self.got
        self.got += 1


def fewer_than(most):
    @always
    def few(world):
        return world["sink"].got < most

    return few


def drained(queued, count, *properties):
    source = Source(count=count, streams=queued == "streams")
    nodes = {"source": source, "sink": Sink()}
    return check(System(nodes, properties=properties, **QUEUED[queued]), traces=None)


@pytest.mark.parametrize("queued", QUEUED)
def test_a_queue_of_thousands_is_drained_one_by_one(queued):
    report = drained(queued, 2000)  # with all that was queued copied for each: gigabytes
    assert (report.unique, report.generated, report.depth) == (2001, 2001, 2001)
    assert not report.violations


@pytest.mark.parametrize("queued", QUEUED)
def test_the_live_world_agrees_on_long_queues(queued):
    """A finding is replayed there, and every fingerprint is compared."""
    report = drained(queued, 1100, fewer_than(5))
    [violation] = report.violations
    assert len(violation.trace.steps) == 5
