"""A node that fails stops; what it did in that step never was, and the others go on."""

from dataclasses import dataclass

import pytest
from unit.search.looking import counts, explored

from presage import Faults, Service, System, action, always, check, durable, on, timer


@dataclass(frozen=True)
class Work:
    n: int


class Term(Service):
    term: int = 0

    @action
    def raise_term(self):
        self.term = (self.term + 1) % 4


class Fragile(Service):
    n: int = 0
    items: list[int] = durable(factory=list)

    def start(self):
        self.arm("tick")

    @action(when=lambda self: self.n == 0)
    def fail(self):
        self.n = 7
        self.items.append(7)
        self.send("b", Work(1))
        self.record("lost")
        raise ValueError("at the end")

    @timer
    def tick(self):
        self.n = 1

    @on(Work)
    def take(self, work):
        self.n = 2


def failing_world(world):
    node = world["a"]
    return (node.up, node.n, tuple(node.items), len(node.timers), len(world.messages()))


def test_a_node_that_fails_stays_as_it_was_and_its_step_has_no_effects():
    nodes = {"a": Fragile(), "b": Term()}
    seen, report = explored(nodes, failing_world, faults=Faults(crash=1, restart=1, nodes=["a"]))
    failed = {each for each in seen if not each[0] and each[1:] == (0, (), 0, 0)}
    assert failed
    assert not any(7 in (n, *items) or messages for _, n, items, _, messages in seen)
    [violation] = report.violations
    assert (violation.prop, violation.kind, violation.steps) == ("no_exception", "exception", 1)


def test_the_others_go_on_when_a_node_has_failed():
    def both(world):
        return (world["a"].up, world["b"].term)

    seen, _ = explored({"a": Fragile(), "b": Term()}, both)
    assert seen == {(up, term) for up in (True, False) for term in range(4)}


def test_a_failed_node_neither_crashes_nor_restarts_nor_listens():
    class Failed(Service):
        def start(self):
            raise RuntimeError("never up")

        @on(Work)
        def take(self, work):
            raise AssertionError("a failed node runs no handler")

    class Nagging(Service):
        def start(self):
            self.send("a", Work(1))

    _, report = explored(
        {"a": Failed(), "b": Nagging()},
        lambda world: world["a"].up,
        faults=Faults(crash=1, restart=1, nodes=["a"]),
    )
    # All that can still happen is that the message arrives and is lost.
    assert counts(report) == (2, 2, 2)
    [violation] = report.violations
    assert (violation.prop, violation.step, violation.steps) == ("no_exception", 0, 0)
    assert "RuntimeError: never up at " in violation.message


def test_a_message_without_a_handler_fails_its_receiver():
    class Deaf(Service):
        def start(self):
            self.send(self.name, Work(1))

    [violation] = check(System({"a": Deaf()}), traces=None).violations
    assert violation.message == "Unhandled: `Deaf` has no handler for `Work`, sent by a"


@pytest.mark.parametrize("keep_going", [True, False])
def test_an_exception_stops_the_search_unless_it_keeps_going(keep_going):
    @always
    def small(world):
        return world["b"].term < 3

    system = System({"a": Fragile(), "b": Term()}, properties=[small])
    report = check(system, keep_going=keep_going, traces=None)
    found = {violation.prop for violation in report.violations}
    assert found == ({"no_exception", "small"} if keep_going else {"no_exception"})
    assert report.stopped_by == (None if keep_going else "violation")
