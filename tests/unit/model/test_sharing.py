"""One mutable object in two places of a state is refused, with both places and the code."""

from array import array
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any, NamedTuple

import pytest

from presage import Service, System, action, always, check, ghost, on, state
from presage.errors import NotState, Sharing
from presage.model.world.world import World


@dataclass
class Entry:
    term: int = 0
    sent: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Batch:
    entries: list[int]


class Pair(NamedTuple):
    left: Any
    right: Any


class Nothing:
    __slots__ = ()


def push(to: list[int]) -> None:
    to.append(1)


class Log(Service):
    history: dict[int, Any] = state(dict)
    current: Any = state(list)
    note: Any = ghost(None)
    mode: str = ""

    @action(when=lambda self: not self.history)
    def go(self) -> None:
        getattr(self, self.mode)()

    def two_fields(self) -> None:
        self.history[1] = self.current

    def one_field(self) -> None:
        self.current = [{}, 7]
        self.current[1] = self.current[0]

    def inside_immutable(self) -> None:
        pair = Pair([], 1)
        self.history = {1: pair, 2: (pair.left,)}

    def an_object(self) -> None:
        entry = Entry()
        self.history[0] = entry
        self.current = deque([entry])

    def part_of_an_object(self) -> None:
        entry = Entry()
        self.history[0] = entry
        self.current = entry.sent

    def a_ghost(self) -> None:
        self.history[0] = 1
        self.note = self.current

    def in_a_partial(self) -> None:
        self.history[1] = partial(push, self.current)

    def in_two_partials(self) -> None:
        items: list[int] = []
        self.history[1] = partial(push, items)
        self.history[2] = partial(push, to=items)

    def parts_of_libraries(self) -> None:
        zone = timezone(timedelta(hours=1))
        self.history = {n: datetime(2020, 1, n, tzinfo=zone) for n in (1, 2)}
        self.current = [partial(push, []), partial(push, []), array("i", [1]), array("i", [1])]

    def a_copy(self) -> None:
        self.history[1] = list(self.current)

    def immutable(self) -> None:
        pair = Pair(1, frozenset({2}))
        self.history = {1: pair, 2: pair}
        self.current = pair

    def a_message(self) -> None:
        self.history[1] = 1
        self.send(self.name, Batch(self.current))
        self.current.append(1)

    def itself(self) -> None:
        self.current.append(self.current)

    def an_empty_object(self) -> None:
        thing = Nothing()
        self.history = {1: thing, 2: thing}

    @on(Batch)
    def batch(self, message: Batch) -> None:
        self.mode = f"got {message.entries}"


def log(mode: str) -> System:
    return System({"n": Log(mode=mode)})


SHARED = {
    "two_fields": ("self.history[1]", "self.current", "list"),
    "one_field": ("self.current[0]", "self.current[1]", "dict"),
    "inside_immutable": ("self.history[1][0]", "self.history[2][0]", "list"),
    "an_object": ("self.history[0]", "self.current[0]", "Entry"),
    "part_of_an_object": ("self.history[0].sent", "self.current", "list"),
    "a_ghost": ("self.current", "self.note", "list"),
    "in_a_partial": ("self.history[1][1][0]", "self.current", "list"),
    "in_two_partials": ("self.history[1][1][0]", "self.history[2][2]['to']", "list"),
}


@pytest.mark.parametrize("mode", SHARED)
def test_a_mutable_object_in_two_places_is_an_error_that_names_both(mode):
    first, second, kind = SHARED[mode]
    with pytest.raises(Sharing) as caught:
        check(log(mode), traces=None)
    text = str(caught.value)
    assert f"`{first}` and `{second}` are one mutable object, a `" in text
    assert f"{kind}`" in text
    assert "test_sharing.py:" in text
    assert "`Log.go`" in text
    assert "copy.deepcopy" in text


@pytest.mark.parametrize("mode", SHARED)
def test_a_live_world_refuses_it_in_the_same_words(mode):
    world = World.initial(log(mode))
    with pytest.raises(Sharing) as caught:
        world.apply(world.enabled()[0])
    with pytest.raises(Sharing) as checked:
        check(log(mode), traces=None)
    assert str(caught.value) == str(checked.value)


@pytest.mark.parametrize("mode", ["a_copy", "immutable", "an_empty_object", "parts_of_libraries"])
def test_copies_and_immutable_objects_may_be_anywhere(mode):
    check(log(mode), traces=None).assert_holds()


def test_a_message_is_what_it_was_when_it_was_sent():
    @always
    def nothing_else(world):
        return world["n"].mode in ("a_message", "got []")

    system = System({"n": Log(mode="a_message")}, properties=[nothing_else])
    report = check(system, traces=None)
    report.assert_holds()
    assert report.unique == 3


def test_a_value_that_contains_itself_is_told_as_such():
    with pytest.raises(NotState, match="it contains itself"):
        check(log("itself"), traces=None)


def test_a_prototype_with_one_object_in_two_fields_is_refused():
    shared = [1]
    with pytest.raises(Sharing, match=r"node `n`: the prototype: `self.history\[1\]` and"):
        System({"n": Log(history={1: shared}, current=shared)})


def test_nodes_may_be_made_of_one_object():
    shared = [1]
    system = System({"a": Log(current=shared, mode="a_copy"), "b": Log(current=shared)})
    assert len(World.initial(system).enabled()) == 2


def test_a_hundred_objects_are_told_apart_as_well_as_three():
    class Many(Service):
        rows: Any = state(list)

        def start(self) -> None:
            self.rows = [[number] for number in range(100)]
            self.rows.append(self.rows[70])

    with pytest.raises(Sharing, match=r"`self.rows\[70\]` and `self.rows\[100\]`"):
        check(System({"n": Many()}), traces=None)
