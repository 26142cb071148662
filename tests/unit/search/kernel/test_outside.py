"""What checked code keeps outside of fields is named, and nothing else is."""

import enum
import functools
import itertools
import random
import re
from collections import deque
from typing import Any, ClassVar

import pytest

from presage import Call, Observer, Service, System, always, check, state
from presage.errors import OrderDependence


class Colour(enum.Enum):
    RED = ["r"]


class Plain:
    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: list[int] = []


SEEN: list[int] = []
NESTED = {"a": [{"b": deque([1])}]}
NUMBERS = itertools.count()
CHANCE = random.Random(3)
INSTANCE = Plain()
LATER = 0
TABLE = {"x": (1, 2.0, -0.0, float("nan"), b"y"), "f": len}


def squares():
    yield from (n * n for n in itertools.count())


SQUARES = squares()


def count(new: int = 0, *, old: list[int] = []) -> int:  # noqa: B006
    old.append(new)
    return len(old)


def counting():
    n = 0

    def step() -> int:
        nonlocal n
        n += 1
        return n

    return step


STEP = counting()


def marked() -> None:
    marked.times = getattr(marked, "times", 0) + 1  # type: ignore[attr-defined]


@functools.cache
def square(n: int) -> int:
    return n * n


def rebind() -> None:
    global LATER
    LATER += 1


class Node(Service):
    """Does one thing of a kind."""

    mode: str
    n: int = 0
    shared: ClassVar[list[int]] = []

    def begin(self) -> None:
        KEEPING.get(self.mode, HARMLESS.get(self.mode))(self)
        self.n = 1


KEEPING: dict[str, Any] = {
    "SEEN": lambda self: SEEN.append(1),
    "NESTED": lambda self: NESTED["a"][0]["b"].append(1),  # type: ignore[attr-defined]
    "NUMBERS": lambda self: next(NUMBERS),
    "SQUARES": lambda self: next(SQUARES),
    "CHANCE": lambda self: CHANCE.getrandbits(8),
    "INSTANCE": lambda self: INSTANCE.value.append(1),
    "Node.shared": lambda self: self.shared.append(1),
    "count(default 2)": lambda self: count(),
    "n": lambda self: STEP(),
    "marked.__dict__": lambda self: marked(),
    "Node.__dict__": lambda self: setattr(Node, f"new_{len(vars(Node))}", 1),
    "Colour.RED": lambda self: Colour.RED.value.append("s"),
    "LATER": lambda self: rebind(),
}
HARMLESS: dict[str, Any] = {
    "a cache": lambda self: square(len(self.name)),
    "the cache of re": lambda self: re.match("a+" + self.name, "b"),
    "a look": lambda self: (TABLE["x"], len(SEEN), Colour.RED.value, INSTANCE.value),
    "an equal value": lambda self: SEEN.append(SEEN.pop()) if SEEN else None,
    "an own object": lambda self: Plain().value.append(1),
}


def report_of(mode: str, *properties, **more):
    nodes = {"a": Node(mode=mode), "b": Node(mode=mode)}
    calls = {"a": [Call("begin")], "b": [Call("begin")]}
    system = System(nodes, calls=calls, properties=properties, **more)
    return check(system, traces=None)


@pytest.mark.parametrize("name", KEEPING)
def test_what_a_handler_keeps_outside_of_fields_is_named(name):
    report = report_of(name)
    assert [(found.code, found.between) for found in report.orders] == [(name, "outside")]
    assert not report.exhausted
    assert report.exit_status == 3
    with pytest.raises(OrderDependence, match="which is no field"):
        report.assert_holds()


@pytest.mark.parametrize("name", HARMLESS)
def test_what_changes_nothing_outside_is_no_finding(name):
    report = report_of(name)
    assert report.orders == ()
    assert report.exhausted
    report.assert_holds()


def test_the_text_says_where_and_what_to_do():
    text = report_of("SEEN").orders[0].__str__()
    assert "test_outside.py:" in text
    assert "`SEEN`, which is no field, changed while the system was checked: it is now [" in text
    assert "make it a field" in text
    summary = str(report_of("SEEN"))
    assert "held" not in summary or "in one history of what the checked code keeps" in summary


def test_a_predicate_that_remembers_is_named():
    seen: list[int] = []

    def few(world) -> bool:
        seen.append(1)
        return len(seen) < 3 or world["a"].n == 0

    report = report_of("a cache", always(few))
    assert [found.code for found in report.orders] == ["seen"]


def test_an_observer_that_keeps_a_state_of_its_own_is_named():
    class Counting(Observer):
        def __init__(self) -> None:
            self.times = 0

        def initial(self) -> int:
            return 0

        def observe(self, state: int, node: str, record: int) -> int:
            self.times += 1
            return record

    class Telling(Service):
        def begin(self) -> None:
            self.record(1)

    system = System({"a": Telling()}, calls={"a": [Call("begin")]}, observers={"o": Counting()})
    assert [found.code for found in check(system, traces=None).orders] == ["Counting"]


def test_a_module_without_a_file_and_a_loop_of_objects_are_no_trouble():
    class Ring:
        def __init__(self) -> None:
            self.next = self

    ring = Ring()

    class Looking(Service):
        rings: list[int] = state(list)

        def begin(self) -> None:
            self.rings.append(1)
            if len(self.rings) > 1:
                ring.next = Ring()

    def system(times: int) -> System:
        return System({"a": Looking()}, calls={"a": [Call("begin")] * times})

    assert check(system(1), traces=None).exhausted
    assert [found.code for found in check(system(2), traces=None).orders] == ["ring"]


def test_what_only_saves_time_is_not_named():
    class Table:
        def __init__(self) -> None:
            self.calls = 0

        @functools.cached_property
        def large(self) -> list[int]:
            return [1, 2, 3]

    tables = [Table()]

    class Looking(Service):
        total: int = 0

        def begin(self) -> None:
            self.total += sum(tables[0].large)

        def note(self) -> None:
            tables[0].calls += 1

    def named(call: str) -> list[str]:
        report = check(System({"a": Looking()}, calls={"a": [Call(call)]}), traces=None)
        return [found.code for found in report.orders]

    assert named("begin") == []
    assert named("note") == ["tables"]
