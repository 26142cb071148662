"""Code that depends on the order of a set or dict is named, and nothing else is."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import pytest

from presage import Call, Service, System, action, always, check, on, state, step, timer
from presage.errors import Nondeterminism, OrderDependence


@dataclass(frozen=True)
class Offer:
    names: frozenset[str] = frozenset()
    rank: int = 0


class Node(Service):
    """Does one thing of a kind, which `mode` says."""

    mode: str
    peers: set[str] = state(lambda: {"a", "b", "c"})
    table: dict[str, int] = state(lambda: {"x": 1, "y": 2})
    kept: Any = state(lambda: OrderedDict(z=1, y=2))
    first: Any = None

    def start(self) -> None:
        if self.name == "a":
            getattr(self, self.mode)()

    def of_a_set(self) -> None:
        self.first = next(iter(self.peers))

    def of_a_dict(self) -> None:
        self.first = next(iter(self.table))

    def in_a_list(self) -> None:
        self.first = list(self.table)

    def by_sum(self) -> None:
        self.first = sum(self.table.values())

    def sorted_first(self) -> None:
        self.first = min(self.peers), sorted(self.table)

    def of_an_ordered_dict(self) -> None:
        self.first = self.kept.popitem(last=False)

    def in_the_order_of_sends(self) -> None:
        for peer in self.peers:
            self.send(peer, Offer())

    def in_what_is_sent(self) -> None:
        for rank, peer in enumerate(self.peers):
            self.send(peer, Offer(rank=rank))

    def twice_to_one(self) -> None:
        for name in self.table:
            self.send("b", Offer(frozenset({name})))

    def by_choice(self) -> None:
        self.first = self.choose(list(self.peers))

    def by_message(self) -> None:
        self.send("b", Offer(frozenset({"a", "b"})))

    def by_raising(self) -> None:
        if next(iter(self.table)) == "y":
            raise ValueError("the other order")

    def by_timer(self) -> None:
        self.arm("tick", next(iter(self.table)))

    def by_timers(self) -> None:
        self.arm("tick", "x")
        self.arm("tick", "y")

    @on(Offer)
    def offered(self, offer: Offer) -> None:
        if offer.names:
            self.first = next(iter(offer.names))

    @timer
    def tick(self, name: str) -> None:
        if self.mode == "by_timers":
            self.first = len(self.timers)


def system(mode: str, network: str = "unordered", **named: Any) -> System:
    nodes = {name: Node(mode=mode) for name in "abc"}
    return System(nodes, network=network, **named)


NAMED = {
    "of_a_set": ("start", "self.peers", "differed in `first`"),
    "of_a_dict": ("start", "self.table", "differed in `first`"),
    "in_a_list": ("start", "self.table", "differed in `first`"),
    "in_what_is_sent": ("start", "self.peers", "differed in what it sent"),
    "by_message": ("offered", "message.names", "differed in `first`"),
    "by_raising": ("start", "self.table", "differed in timers or status"),
    "by_timer": ("start", "self.table", "differed in timers or status"),
}


@pytest.mark.parametrize("mode", NAMED)
def test_what_depends_on_an_order_is_named_with_line_and_field(mode):
    code, part, difference = NAMED[mode]
    report = check(system(mode), traces=None)
    (found,) = report.orders
    assert found.code == f"Node.{code}"
    assert found.parts == (part,)
    assert difference in found.difference
    assert "test_order.py:" in found.place
    text = str(found)
    assert "`sorted(...)`" in text
    assert "`OrderedDict`" in text


@pytest.mark.parametrize(
    "mode",
    [
        "by_sum",
        "sorted_first",
        "of_an_ordered_dict",
        "in_the_order_of_sends",
        "twice_to_one",
        "by_choice",
        "by_timers",
    ],
)
def test_what_does_not_depend_on_an_order_is_not_named(mode):
    report = check(system(mode), traces=None)
    assert report.orders == ()
    assert report.exit_status == 0
    assert report.exhausted


def test_where_the_network_keeps_the_order_of_sends_to_one_node_it_matters():
    assert check(system("in_the_order_of_sends", "ordered"), traces=None).orders == ()
    (found,) = check(system("twice_to_one", "ordered"), traces=None).orders
    assert found.parts == ("self.table",)


def test_the_result_is_not_claimed_for_every_order():
    report = check(system("of_a_dict"), traces=None)
    assert report.exit_status == 3
    assert not report.exhausted
    assert report.to_json()["order_dependence"][0]["parts"] == ["self.table"]
    with pytest.raises(OrderDependence, match=r"self\.table"):
        report.assert_holds()


def test_a_violation_is_reported_with_it():
    @always
    def never_x(world):
        return world["a"].first != "x"

    report = check(system("of_a_dict", properties=[never_x]), traces=None)
    assert [violation.prop for violation in report.violations] == ["never_x"]
    assert report.exit_status == 3
    with pytest.raises(AssertionError, match=r"(?s)never_x.*self\.table"):
        report.assert_holds()


class Guarded(Service):
    names: set[str] = state(lambda: {"a", "b"})
    on_offer: dict[str, int] = state(lambda: {"x": 1, "y": 2})
    taken: Any = None

    def start(self) -> None:
        self.send(self.name, Offer())

    @on(Offer, when=lambda self: next(iter(self.on_offer)) == "x")
    def offered(self, offer: Offer) -> None:
        self.taken = 1

    @action(when=lambda self: not self.taken, over=lambda self: list(self.names)[:1])
    def take(self, name: str) -> None:
        self.taken = 2

    @action(when=lambda self, name: not self.taken and name == "x", over=["x", "y"])
    def fine(self, name: str) -> None:
        self.taken = 3


def test_guards_and_what_actions_are_over_are_named():
    found = check(System({"n": Guarded()}), traces=None).orders
    assert {(each.code, each.parts) for each in found} == {
        ("Guarded.offered, `when`", ("self.on_offer",)),
        ("Guarded.take, `when` and `over`", ("self.names",)),
    }


class Called(Service):
    seen: Any = None

    def take(self, names: Any) -> None:
        self.seen = next(iter(names))


def test_arguments_of_calls_are_reordered():
    calls = {"n": [Call("take", {"x": 1, "y": 2})]}
    (found,) = check(System({"n": Called()}, calls=calls), traces=None).orders
    assert found.code == "Called.take"
    assert found.parts == ("the arguments",)


def test_a_step_property_that_depends_on_an_order_is_named():
    @step
    def never_y_first(before, after):
        return next(iter(after.table)) != "y"

    system = System({"n": Node(mode="by_sum"), "a": Node(mode="by_timers")})
    system = System(system.nodes, properties=[never_y_first])
    (found,) = check(system, traces=None).orders
    assert found.code == "never_y_first"


COUNT = [0]


class Chancy(Service):
    names: set[str] = state(lambda: {"a", "b"})
    n: int = 0

    def start(self) -> None:
        COUNT[0] += 1
        self.n = COUNT[0]


def test_what_differs_in_one_order_as_well_is_no_matter_of_order():
    with pytest.raises(Nondeterminism, match="run twice from the same state"):
        check(System({"n": Chancy()}), traces=None)


@pytest.mark.parametrize("search", ["bfs", "dfs", "walk", "tree"])
def test_every_search_finds_it(search):
    (found,) = check(system("of_a_dict"), search=search, traces=None).orders
    assert found.parts == ("self.table",)


def test_every_distinct_step_is_run_in_the_second_order_not_only_the_first_ones():
    class Late(Service):
        n: int = 0
        names: Any = state(lambda: {"x": 1, "y": 2})
        last: Any = None

        @action(when=lambda self: self.n < 1000)
        def count(self) -> None:
            self.n += 1
            if self.n == 773:
                self.last = next(iter(self.names))

    (found,) = check(System({"n": Late()}), traces=None).orders
    assert "count" in found.step
