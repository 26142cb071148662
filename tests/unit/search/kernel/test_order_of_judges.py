"""Properties, observers and the doctor in the second order of sets and dicts."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import pytest

from presage import Service, System, action, always, check, eventually, on, sometimes, state
from presage.search.doctor import transcribe


@dataclass(frozen=True)
class Offer:
    names: frozenset[str]


class Node(Service):
    names: set[str] = state(lambda: {"a", "b", "c"})
    table: dict[str, int] = state(lambda: {"x": 1, "y": 2})
    kept: Any = state(lambda: OrderedDict(y=1, x=2))
    is_told: bool = False

    def start(self) -> None:
        self.send(self.name, Offer(frozenset({"a", "b"})))

    @action(when=lambda self: not self.is_told)
    def tell(self) -> None:
        self.is_told = True
        self.record(frozenset({"p", "q"}))
        self.record("r")

    @on(Offer)
    def take(self, offer: Offer) -> None:
        pass


class Judged:
    """Predicates by what they read."""

    @staticmethod
    def a_dict(world):
        return next(iter(world["n"].table)) == "x"

    @staticmethod
    def messages(world):
        first = [next(iter(each.message.names)) for each in world.messages(Offer)]
        return "a" not in first

    @staticmethod
    def an_observer(world):
        seen = list(world.observer("seen"))
        return len(seen) < 2 or seen[0] < seen[1]


def system(*properties, observers=None):
    return System({"n": Node()}, properties=properties, observers=observers or {})


class Seen:
    """Keeps a set."""

    def initial(self):
        return frozenset()

    def observe(self, state, node, record):
        return state | record if isinstance(record, frozenset) else state


@pytest.mark.parametrize("kind", [always, sometimes, eventually])
@pytest.mark.parametrize("name", ["a_dict", "messages"])
def test_a_property_whose_verdict_depends_on_an_order_is_named(kind, name):
    prop = kind(getattr(Judged, name), name=name)
    report = check(system(prop), keep_going=True, traces=None)
    (found,) = report.orders
    assert found.code == name
    assert "test_order_of_judges.py:" in found.place
    assert found.difference == "gave another verdict"
    assert report.exit_status == 3 and not report.exhausted


def test_a_property_that_reads_an_observer_is_judged_in_a_second_order_too():
    prop = always(Judged.an_observer, name="an_observer")
    made = system(prop, observers={"seen": Seen()})
    (found,) = check(made, keep_going=True, traces=None).orders
    assert found.code == "an_observer"


def test_a_property_is_named_with_the_field_that_it_read():
    prop = always(Judged.a_dict, name="a_dict")
    (found,) = check(system(prop), keep_going=True, traces=None).orders
    assert found.parts == ("n.table",)


@pytest.mark.parametrize(
    "predicate",
    [
        lambda world: min(world["n"].names) == "a",
        lambda world: sum(world["n"].table.values()) == 3,
        lambda world: next(iter(world["n"].kept)) == "y",
        lambda world: all("a" in each.message.names for each in world.messages(Offer)),
        lambda world: set(world["n"].names) == {"a", "b", "c"},
        lambda world: [n for n in world["n"].names if n != "d"] != [],
    ],
)
def test_a_property_that_depends_on_no_order_is_not_named(predicate):
    report = check(system(always(predicate, name="fine")), traces=None)
    assert report.orders == ()
    assert report.exit_status == 0 and report.exhausted


class First:
    """Takes any of a set."""

    def initial(self):
        return None

    def observe(self, state, node, record):
        return next(iter(record)) if isinstance(record, frozenset) else state


class Oldest(Seen):
    """Keeps a dict, and forgets one of it."""

    def initial(self):
        return {"s": 1, "t": 2}

    def observe(self, state, node, record):
        if record == "r":
            state.pop(next(iter(state)))
        return state


@pytest.mark.parametrize("observer", [First, Oldest])
def test_an_observer_that_depends_on_an_order_is_named(observer):
    report = check(system(observers={"seen": observer()}), traces=None)
    (found,) = report.orders
    assert found.code == f"{observer.__name__}.observe"
    assert found.step == "seen"
    assert "test_order_of_judges.py:" in found.place
    assert found.difference == "was left in another state"
    assert report.exit_status == 3 and not report.exhausted


def test_an_observer_that_depends_on_no_order_is_not_named():
    report = check(system(observers={"seen": Seen()}), traces=None)
    assert report.orders == ()
    assert report.exit_status == 0 and report.exhausted


class Evicting(Node):
    @action(when=lambda self: self.is_told and len(self.table) > 1)
    def evict(self) -> None:
        del self.table[next(iter(self.table))]


class Guarded(Node):
    @action(when=lambda self: self.is_told and next(iter(self.table)) == "x")
    def go(self) -> None:
        self.is_told = False


class Fine(Node):
    @action(when=lambda self: self.is_told and len(self.table) > 1)
    def evict(self) -> None:
        del self.table[min(self.table)]


def test_the_doctor_names_handlers_and_guards_that_depend_on_an_order():
    (finding,) = transcribe(System({"n": Evicting()})).findings
    assert "`Evicting.evict` depends on the order of `self.table`" in finding
    assert "`OrderedDict`" in finding
    (finding,) = transcribe(System({"n": Guarded()})).findings
    assert "`Guarded.go, `when` and `over`` depends on the order of `self.table`" in finding


def test_the_doctor_finds_nothing_where_nothing_depends_on_an_order():
    transcript = transcribe(System({"n": Fine()}))
    assert transcript.findings == () and transcript.exhausted
