"""Programs in simulated processes, run to their end by one fair driver."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from presage.frontends.real.machine import kernel
from presage.frontends.real.machine.effects import Effects
from presage.frontends.real.machine.names import Host
from presage.frontends.real.machine.process import Process
from presage.process.leaves import TABLE

assert kernel
NAMES = ("a", "b")


class Table:
    """A context manager: the leaves are replaced inside."""

    def __enter__(self) -> None:
        TABLE.up()

    def __exit__(self, *_: object) -> None:
        TABLE.down()


@pytest.fixture(scope="module")
def table() -> Iterator[None]:
    """The leaves, replaced for all tests of a module: replacing them takes time."""
    with Table():
        yield


def process_of(program: Callable[[], Any], **options: Any) -> Process:
    return Process(Host("a", NAMES), program, **options)


def run(program: Callable[[], Any], events: int = 10_000, **options: Any) -> Process:
    """A process that ran until nothing more can happen: threads in turn, timers last."""
    process = process_of(program, **options)
    with Table():
        process.begin()
        for number in range(events):
            own = process.own_events()
            if process.ended or not own:
                break
            first = [event for event in own if event[0] != "timer"] or own
            process.go(first[number % len(first)])
    return process


def effects(program: Callable[[], Any], **options: Any) -> Effects:
    """What a program did until its end."""
    process = run(program, **options)
    assert process.ended, [(each.name, each.what) for each in process.threads]
    found = process.collect()
    with Table():
        process.dispose()
    return found
