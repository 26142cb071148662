"""Values are written the same way in every process."""

import os
import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import msgspec
import pytest

from presage.trace.show import TEXT_MAX, show, show_call


class Colour(Enum):
    RED = 1


class Vote(NamedTuple):
    term: int
    seen: frozenset[str]


@dataclass(frozen=True)
class Join:
    ttl: int
    seen: frozenset[str] = field(default_factory=frozenset)


class Put(msgspec.Struct, frozen=True):
    keys: frozenset[str]


class Plain:
    def __init__(self) -> None:
        self.b = {"y", "x"}
        self.a = 1


class Slotted:
    __slots__ = ("left", "right")

    def __init__(self) -> None:
        self.left = 1


class Told:
    def __repr__(self) -> str:
        return "told by hand"


class Broken:
    def __repr__(self) -> str:
        raise ValueError("half built")


SAMPLES: list[tuple[Any, str]] = [
    (None, "None"),
    (True, "True"),
    (1.5, "1.5"),
    ("a'b", '"a\'b"'),
    (b"x", "b'x'"),
    ([1, (2,), (), (3, 4)], "[1, (2,), (), (3, 4)]"),
    ({"b", "a"}, "{'a', 'b'}"),
    (frozenset({2, 1}), "{1, 2}"),
    (set(), "set()"),
    ({"b": 1, "a": {2, 1}}, "{'a': {1, 2}, 'b': 1}"),
    (OrderedDict(b=1, a=2), "OrderedDict({'b': 1, 'a': 2})"),
    (Counter("aab"), "Counter({'a': 2, 'b': 1})"),
    (defaultdict(set, {"k": {"v"}}), "defaultdict({'k': {'v'}})"),
    (deque([1, 2]), "deque([1, 2])"),
    (Colour.RED, "Colour.RED"),
    (Vote(1, frozenset({"b", "a"})), "Vote(term=1, seen={'a', 'b'})"),
    (Join(3, frozenset({"b", "a"})), "Join(ttl=3, seen={'a', 'b'})"),
    (Put(frozenset({"b", "a"})), "Put(keys={'a', 'b'})"),
    (Plain(), "Plain(a=1, b={'x', 'y'})"),
    (Slotted(), "Slotted(left=1)"),
    (Told(), "told by hand"),
    ([Broken()], "[<Broken>]"),
]


@pytest.mark.parametrize(("value", "text"), SAMPLES, ids=[text for _, text in SAMPLES])
def test_a_value_is_written_in_one_way(value: Any, text: str) -> None:
    assert show(value) == text


def test_a_call_without_arguments_is_its_name() -> None:
    assert show_call("retry", ()) == "retry"
    assert show_call("put", ("A", {2, 1})) == "put('A', {1, 2})"


def test_a_huge_or_endless_value_is_cut() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert show(endless).count("[") < 100
    assert len(show("x" * 100_000)) == TEXT_MAX


def test_the_text_does_not_depend_on_the_hash_seed() -> None:
    program = (
        "from presage.trace.show import show;"
        "print(show({'s': {'a', 'b', 'c', 'd'}, 't': [frozenset('xyz')]}))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert texts == {"{'s': {'a', 'b', 'c', 'd'}, 't': [{'x', 'y', 'z'}]}\n"}
