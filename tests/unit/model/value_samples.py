"""One value of every kind that may be state, and the classes they need.

Each compares equal to a faithful copy of itself, so a round trip can be judged by `==`.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import math
import pathlib
import re
import time
import typing
import uuid
from collections import Counter, OrderedDict, defaultdict, deque

import msgspec


class Color(enum.Enum):
    RED = 1
    CRIMSON = 1  # noqa: PIE796
    GREEN = "g"


class Level(enum.IntEnum):
    LOW = 1


class Name(enum.StrEnum):
    N0 = "n0"


class Right(enum.Flag):
    READ = 1
    WRITE = 2
    BOTH = 3
    RUN = 4


@dataclasses.dataclass
class Record:
    a: object
    b: object = None


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: object
    b: object = None


@dataclasses.dataclass(frozen=True, slots=True)
class FrozenSlots:
    a: object
    b: object = None


@dataclasses.dataclass(frozen=True)
class Caching:
    a: int

    @functools.cached_property
    def double(self) -> int:
        return 2 * self.a


class Point(typing.NamedTuple):
    x: object
    y: object = 0


class Struct(msgspec.Struct):
    a: object
    b: object = None


class FrozenStruct(msgspec.Struct, frozen=True, cache_hash=True, kw_only=True):
    a: object
    b: object = None


class DictStruct(msgspec.Struct, dict=True, weakref=True):
    a: object


class Same:
    """Equal if every attribute and slot is."""

    __slots__ = ()

    def parts(self) -> dict[str, object]:
        slots = [n for c in type(self).__mro__ for n in getattr(c, "__slots__", ())]
        found = {n: getattr(self, n) for n in slots if hasattr(self, n) and n != "__dict__"}
        return found | getattr(self, "__dict__", {})

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.parts() == other.parts()

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.parts())))


class Plain(Same):
    def __init__(self, **parts: object) -> None:
        self.__dict__.update(parts)


class Slotted(Same):
    __slots__ = ("a", "b")


class Both(Slotted):
    __slots__ = ("c", "__dict__")


class Hiding(Slotted):
    __slots__ = ("a",)  # another place than the inherited `a`


class Stern(Same):
    """Refuses the ways in that a copy must not take."""

    def __init__(self, key: str) -> None:
        assert key == "let me in"
        object.__setattr__(self, "inside", [1])

    def __setattr__(self, name: str, value: object) -> None:
        raise AssertionError(name)

    def __getattribute__(self, name: str) -> object:
        assert name not in ("inside", "__reduce_ex__")
        return super().__getattribute__(name)

    def parts(self) -> dict[str, object]:
        return dict(object.__getattribute__(self, "__dict__"))


class Money(Same):
    """Says itself how it is copied."""

    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __reduce__(self) -> object:
        return (type(self), (self.cents,))


class Bag(Same):
    def __getstate__(self) -> object:
        return {"kept": self.__dict__.get("kept")}


class MyList(list):
    pass


class MyDict(dict):
    def __setitem__(self, key: object, value: object) -> None:
        raise AssertionError(key)


class MySet(set):
    def __iter__(self) -> typing.Iterator[object]:
        raise AssertionError


class MyTuple(tuple):
    __slots__ = ()


class MyStr(str):
    pass


class MyInt(int):
    pass


class MyOrder(OrderedDict):
    pass


def make_zero() -> int:
    return 0


def made(thing: typing.Any, **parts: object) -> typing.Any:
    """`thing` with `parts` set beneath its own `__setattr__`."""
    for name, value in parts.items():
        object.__setattr__(thing, name, value)
    return thing


def struct_with_more() -> DictStruct:
    struct = DictStruct(1)
    struct.more = [2]  # type: ignore[attr-defined]
    return struct


def hiding() -> Hiding:
    thing = made(Hiding(), a="outer")
    Slotted.a.__set__(thing, "inner")
    return thing


EAST = datetime.timezone(datetime.timedelta(hours=2), "east")
UTC_NOON = datetime.datetime(2020, 2, 3, 12, tzinfo=datetime.UTC)

VALUES = [
    None, True, False, 0, 1, -1, -16, -17, 111, 112, 255, 256, -256, -257, 2**31, 2**63 - 1, 2**63,
    -(2**63), -(2**63) - 1, 10**100, -(10**100), 0.0, -0.0, 1.5, -1e300, math.inf, -math.inf,
    5e-324, 0j, complex(-0.0, 2), "", "n0", "é ∀ 🐍", "\ud800", "a\udfffb", b"", b"\x00\xff",
    bytearray(b"ab"),
    (), (1, (2, ())), [], [1, [2, []]], {}, {"b": 1, "a": {2: 3}}, set(), {1, "a", None},
    frozenset(), frozenset({(1, 2), frozenset({3})}),
    deque(), deque([1, 2]), deque([1, 2], maxlen=2), deque([], maxlen=0),
    OrderedDict([("b", 1), ("a", 2)]), Counter("abca"), Counter(a=-1), defaultdict(list, {1: [2]}),
    defaultdict(make_zero, {1: 2}), defaultdict(None, {1: 2}),
    Color.RED, Color.CRIMSON, Color.GREEN, Level.LOW, Name.N0, Right.READ, Right.BOTH,
    Right.READ | Right.RUN, Right(0), re.A | re.I,
    Record(1, [2]), made(Record(1), extra={3}), Frozen((1,), "b"), FrozenSlots(1, [2]), Caching(4),
    Point(1), Point([1], Point(2)), Struct(1, [2]), FrozenStruct(a=1), struct_with_more(),
    Plain(), Plain(b=1, a=[Plain()]), Slotted(), made(Slotted(), b=2), hiding(),
    made(Both(), a=1, c=3, other=[4]), Stern("let me in"), Money(150), made(Bag(), kept=[1]),
    MyList([1, 2]), made(MyList([1]), tag="t"), MyTuple((1, 2)), MyStr("s"), MyInt(7),
    MyInt(10**30), made(MyStr("s"), tag=[1]), MyOrder(b=1, a=2),
    int, dict, type(None), Color, Record, make_zero, len, math.sqrt, str.upper, dict.fromkeys,
    datetime.date(2020, 2, 3), UTC_NOON, datetime.timedelta(days=-1, microseconds=1),
    datetime.datetime(2020, 2, 3, 12, fold=1, tzinfo=EAST),
    decimal.Decimal("1.50"), fractions.Fraction(1, 3), uuid.UUID(int=5), range(1, 9, 2),
    slice(1, 2), ..., NotImplemented, pathlib.PurePosixPath("a/b"), re.compile("a+", re.I),
    list[int], time.gmtime(0), msgspec.UNSET,
]  # fmt: skip
