"""Plain data, what differs in it, and how little it takes to keep many states."""

from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from presage.trace.diff import Change, diff, same
from presage.trace.patch import apply
from presage.trace.plain import TEXT_MAX, plain, text_of
from presage.trace.writers import writer


class Colour(Enum):
    RED = 1


class Piece(msgspec.Struct, frozen=True):
    seq: int
    data: tuple[int, ...] = ()


@dataclass
class Outgoing:
    inflight: list[Piece] = field(default_factory=list)
    fresh: set[int] = field(default_factory=set)


class Plain:
    def __init__(self) -> None:
        self.one = 1


VALUES: dict[str, tuple[Any, Any, str]] = {
    "number": (1, 1, "1"),
    "float": (1.5, 1.5, "1.5"),
    "not finite": (float("inf"), {"": "inf"}, "inf"),
    "huge": (2**60, {"": str(2**60)}, str(2**60)),
    "text": ("n1", "n1", "'n1'"),
    "bytes": (b"x", {"": "b'x'"}, "b'x'"),
    "enum": (Colour.RED, {"": "Colour.RED"}, "Colour.RED"),
    "tuple": ((1, None), (1, None), "(1, None)"),
    "tuple of one": ((1,), (1,), "(1,)"),
    "list": ([1, None], [1, None], "[1, None]"),
    "dict": ({("a", 1): True}, {"('a', 1)": True}, "{('a', 1): True}"),
    "set": ({"b", "a"}, {"": "set", "'a'": "a", "'b'": "b"}, "{'a', 'b'}"),
    "empty set": (frozenset(), {"": "set"}, "set()"),
    "struct": (Piece(1), {"": "Piece", "seq": 1, "data": ()}, "Piece(seq=1, data=())"),
    "object": (Plain(), {"": "Plain", "one": 1}, "Plain(one=1)"),
    "deque": (deque([1]), {"": "deque", "items": [1]}, "deque([1])"),
}


@pytest.mark.parametrize(("value", "data", "text"), VALUES.values(), ids=VALUES.keys())
def test_values_become_plain_data(value: Any, data: Any, text: str) -> None:
    assert plain(value) == data
    assert text_of(plain(value)) == text
    msgspec.json.encode(plain(value))


def test_long_texts_that_differ_at_their_ends_differ() -> None:
    one, other = (plain("x" * 1_000_000 + end) for end in "ab")
    assert isinstance(one, str) and len(one) < TEXT_MAX + 100
    assert "1,000,001 characters" in one
    assert not same(one, other)
    assert plain("\ud800") == "\\ud800"


def changes(before: Any, after: Any) -> list[Change]:
    return diff(plain(before), plain(after))


def test_records_are_compared_part_by_part() -> None:
    before = Outgoing([Piece(1), Piece(2)], {1})
    after = Outgoing([Piece(2), Piece(3)], {1, 2})
    assert changes(before, after) == [
        Change("D", ("inflight", 0), before={"": "Piece", "seq": 1, "data": ()}),
        Change("A", ("inflight", 1), after={"": "Piece", "seq": 3, "data": ()}),
        Change("A", ("fresh", "2"), after=2),
    ]


def test_an_element_in_front_is_one_addition() -> None:
    assert changes([2, 3], [1, 2, 3]) == [Change("A", (0,), after=1)]
    assert changes([1, 2, 3], [1, 3]) == [Change("D", (1,), before=2)]
    assert changes([[1], 2], [[3], 2]) == [Change("M", (0, 0), 1, 3)]
    assert len(changes(list(range(1000)), list(range(1, 1000)))) == 1000  # by position


def test_dicts_are_compared_by_key_and_another_class_is_another_value() -> None:
    assert changes({"a": 1, "b": 2}, {"b": 3, "c": 4}) == [
        Change("D", ("'a'",), before=1),
        Change("M", ("'b'",), 2, 3),
        Change("A", ("'c'",), after=4),
    ]
    assert [change.mark for change in changes(Piece(1), Outgoing())] == ["M"]
    assert changes(1, True) == [Change("M", (), 1, True)]
    assert changes(1, 1.0) == [Change("M", (), 1, 1.0)]


leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=12,
)


@given(values, values)
def test_what_differs_makes_one_value_of_another(before: Any, after: Any) -> None:
    one, other = plain(before), plain(after)
    kept = msgspec.json.encode(one)
    found = diff(one, other)
    assert same(apply(one, found), other)
    assert msgspec.json.encode(one) == kept
    assert same(one, other) == (found == [])


@given(st.lists(st.dictionaries(st.sampled_from("ab"), st.integers(0, 2)), min_size=1, max_size=8))
def test_the_writer_of_a_part_is_the_last_step_that_changed_it(states: list[Any]) -> None:
    for step in range(len(states)):
        found = writer(states, step, ("a",))
        values = [state.get("a") for state in states[: step + 1]]
        assert len(set(values[found:])) == 1
        assert found == 0 or values[found - 1] != values[found]
