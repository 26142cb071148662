"""Values from outside: plain containers and admitted classes; all else is refused, without harm."""

from __future__ import annotations

import functools
import random
from collections import OrderedDict, deque
from dataclasses import dataclass
from enum import Enum, Flag
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from msgspec import Struct

from presage._core import Codec
from presage.errors import NotState


class Colour(Enum):
    RED = 1
    BLUE = 2


class Rights(Flag):
    READ = 1
    WRITE = 2


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass(frozen=True)
class Note:
    text: Any
    size: Any = 0


class Ballot(Struct, frozen=True):
    round: Any
    colour: Any = Colour.RED


class Stranger(Struct, frozen=True):
    x: int = 0


CLASSES = (Colour, Rights, Pair, Note, Ballot, deque, OrderedDict)
RAN: list[str] = []


def called(text: str) -> None:
    RAN.append(text)


class Reducing:
    def __reduce__(self) -> Any:
        return called, ("reduced",)


def codec() -> Codec:
    made = Codec()
    for cls in CLASSES:
        made.admit(cls)
    return made


PLAIN = [
    None,
    True,
    -1,
    10**30,
    1.5,
    2j,
    "text",
    "\udc80",
    b"bytes",
    bytearray(b"x"),
    (),
    (1, "a"),
    [1, [2]],
    {1: {2: 3}},
    {1, 2},
    frozenset({"a", "b"}),
    Colour.BLUE,
    Rights.READ | Rights.WRITE,
    Pair(1, (2,)),
    Note("a", frozenset({1})),
    Ballot(3, Colour.BLUE),
    (Ballot(Note(Pair(1, 2))),),
    deque([1, 2], 3),
    OrderedDict(a=1),
]


@pytest.mark.parametrize("value", PLAIN, ids=lambda value: type(value).__name__)
def test_plain_values_come_back_as_they_were(value: Any) -> None:
    one, other = codec(), codec()
    found = other.decode_plain(one.encode(value))
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    "value",
    [
        Stranger(),
        (Stranger(),),
        len,
        Colour,
        UUID(int=1),
        functools.partial,
        [functools.reduce],
        {1: Stranger},
        range(3),
    ],
    ids=repr,
)
def test_what_no_handler_names_is_refused_by_the_codec_that_wrote_it(value: Any) -> None:
    both = codec()
    data = both.encode(value)
    both.decode(data)
    with pytest.raises(ValueError, match="not an encoded value"):
        both.decode_plain(data)


def test_a_reduced_object_never_runs() -> None:
    both = codec()
    try:
        data = both.encode(Reducing())
    except NotState:  # its copy has another type
        data = b"\x00\x13" + both.encode(called)[1:] + b"\x01" + both.encode("x")[1:] + b"\0\0\0"
    RAN.clear()
    with pytest.raises(ValueError, match="importable"):
        both.decode_plain(data)
    assert RAN == []
    with pytest.raises(NotState):
        both.admit(Reducing)


def test_objects_have_the_fields_of_their_class() -> None:
    both = codec()
    note, pair = both.encode(Note("abc")), both.encode(Pair(1, 2))
    absent = note.replace(both.encode("abc")[1:], b"\x14")
    extra = note[:-1] + b"\x01" + both.encode("text2")[1:] + both.encode(1)[1:]
    longer = pair[:-3] + b"\x03" + pair[-2:] + pair[-1:]
    for data in (absent, extra, longer):
        assert data not in (note, pair)
        both.decode(data)
        with pytest.raises(ValueError, match="not an encoded value"):
            both.decode_plain(data)


def test_few_bytes_cannot_become_many_objects() -> None:
    both = codec()
    data = both.encode([set() for _ in range(100_000)])
    with pytest.raises(ValueError, match="too many parts"):
        both.decode_plain(data)
    deep = b"\x01" + b"\x09\x01" * 5000 + b"\x00"
    with pytest.raises(ValueError, match="nested too deep"):
        both.decode_plain(deep)


def test_unhashable_keys_are_malformed() -> None:
    both = codec()
    data = b"\x00\x0c\x01\x0a\x00"  # {[]}
    with pytest.raises(ValueError, match="unhashable"):
        both.decode_plain(data)


def test_every_truncation_is_refused() -> None:
    both = codec()
    for value in PLAIN:
        data = both.encode(value)
        for end in range(len(data)):
            with pytest.raises(ValueError):
                both.decode_plain(data[:end])
        with pytest.raises(ValueError):
            both.decode_plain(data + b"\0")


ALLOWED = (
    type(None),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    bytearray,
    tuple,
    list,
    dict,
    set,
    frozenset,
    *CLASSES,
)


def check_plain(value: Any) -> None:
    assert type(value) in ALLOWED
    if isinstance(value, Pair):
        assert len(value) == 2
    if isinstance(value, tuple | list | set | frozenset | deque):
        for item in value:
            check_plain(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            check_plain(key)
            check_plain(item)
    elif isinstance(value, Note):
        assert set(vars(value)) == {"text", "size"}
        check_plain(value.text)
        check_plain(value.size)
    elif isinstance(value, Ballot):
        check_plain(value.round)
        check_plain(value.colour)


def fuzz(count: int, seed: int) -> tuple[int, int]:
    """Decode mutated encodings of anything; how many were values, and how many refused."""
    dice, both = random.Random(seed), codec()
    seeds = [both.encode(value) for value in (*PLAIN, Stranger(), len, Colour, UUID(int=1))]
    whole = refused = 0
    for turn in range(count):
        data = bytearray(dice.choice(seeds) if turn % 4 else dice.randbytes(dice.randint(0, 40)))
        for _ in range(dice.randint(1, 3)):
            if data:
                data[dice.randrange(len(data))] = dice.choice([dice.randrange(256), 0x13, 0x11, 9])
        try:
            value = both.decode_plain(bytes(data))
        except ValueError:
            refused += 1
        else:
            whole += 1
            check_plain(value)
    return whole, refused


def test_mutated_encodings_give_plain_values_or_errors() -> None:
    whole, refused = fuzz(20_000, 1)
    assert whole > 500 and refused > 500


@pytest.mark.slow
def test_a_million_mutated_encodings_give_plain_values_or_errors() -> None:
    whole, refused = fuzz(1_000_000, 2)
    assert whole > 50_000 and refused > 50_000
