"""Canonical values: the laws that make equal states equal bytes, for every type that may be state.

A fresh `Codec` per test, because a codec remembers the classes it has met.
"""

from __future__ import annotations

import decimal
import fractions
import functools
import itertools
import math
import os
import subprocess
import sys
import threading
import time
from collections import Counter, OrderedDict, defaultdict, deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.model.value_samples import (
    UTC_NOON,
    VALUES,
    Caching,
    Color,
    Frozen,
    FrozenSlots,
    FrozenStruct,
    Level,
    Money,
    MyDict,
    MyInt,
    MyList,
    MySet,
    MyStr,
    MyTuple,
    Plain,
    Point,
    Record,
    Right,
    Slotted,
    Struct,
    made,
    make_zero,
)

from presage._core import Codec


@pytest.fixture
def codec() -> Codec:
    return Codec()


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{type(value).__name__}")
def test_a_copy_equals_its_original_in_value_type_and_bytes(codec: Codec, value: object) -> None:
    for whole in (value, [value], {"k": (value,)}):
        data = codec.encode(whole)
        copy = codec.decode(data)
        assert copy == whole
        assert type(copy) is type(whole)
        assert codec.encode(copy) == data
    assert type(codec.decode(codec.encode([value]))[0]) is type(value)


def test_subclasses_that_override_their_container_are_copied_beneath_it(codec: Codec) -> None:
    table = MyDict({1: 2})
    assert dict.__eq__(codec.decode(codec.encode(table)), {1: 2})
    data = codec.encode(MySet([3, 1]))
    assert set.__contains__(codec.decode(data), 3)
    assert codec.encode(codec.decode(data)) == data == codec.encode(MySet([1, 3]))


def test_every_value_has_its_own_bytes(codec: Codec) -> None:
    alike = [1, True, 1.0, 1 + 0j, "1", b"1", bytearray(b"1"), MyInt(1), Level.LOW, Right.READ,
             decimal.Decimal(1), decimal.Decimal("1.0"), fractions.Fraction(1), (1,), [1], {1},
             {1.0}, {True}, frozenset({1}), deque([1]), deque([1], maxlen=1), MyList([1]),
             MyTuple([1]), {1: None}, {True: None}, OrderedDict({1: None}), Counter({1: None}),
             defaultdict(None, {1: None}), defaultdict(int, {1: None}), None, False, 0, 0.0, -0.0,
             math.nan, "", b"", (), [], {}, set(), frozenset(), int, bool, Record(1), Frozen(1),
             FrozenSlots(1), Struct(1), Plain(a=1), Point(1), (1, 0), ((1,), 0), (1, (0,)),
             ("", "a"), ("a", ""), "\ud800", made(Slotted(), a=1),
             made(Slotted(), b=1)]  # fmt: skip
    data = [codec.encode(value) for value in alike]
    assert len(set(data)) == len(alike)
    assert len({codec.digest(each) for each in data}) == len(alike)


def test_there_is_one_nan(codec: Codec) -> None:
    quiet, other = math.nan, -math.nan
    assert codec.encode(quiet) == codec.encode(other) == codec.encode(math.inf - math.inf)
    assert math.isnan(codec.decode(codec.encode(other)))


def test_insertion_order_counts_only_where_python_says_so(codec: Codec) -> None:
    orders = list(itertools.permutations(["n0", "n1", 7, (1,)]))
    for kind in (set, frozenset, dict.fromkeys, Counter, lambda keys: Plain(a=set(keys))):
        assert len({codec.encode(kind(order)) for order in orders}) == 1
    for kind in (OrderedDict.fromkeys, list, tuple, deque):
        assert len({codec.encode(kind(order)) for order in orders}) == len(orders)
    assert codec.encode(Plain(a=1, b=2)) == codec.encode(Plain(b=2, a=1))
    moved = OrderedDict(a=1, b=2)
    moved.move_to_end("a")
    assert codec.encode(moved) == codec.encode(OrderedDict(b=2, a=1))
    assert list(codec.decode(codec.encode(moved))) == ["b", "a"]


def test_a_dict_is_rebuilt_in_the_order_of_its_numbers(codec: Codec) -> None:
    keys = [10**9, -1, 64, 3, 2**40, -300, 128, 0, -17, 111, 112, 256, -(2**63), 2**63 - 1]
    assert list(codec.decode(codec.encode(dict.fromkeys(keys)))) == sorted(keys)
    floats = [1.5, -2.0, 0.0, -0.5, math.inf, -math.inf]
    assert list(codec.decode(codec.encode(dict.fromkeys(floats)))) == sorted(floats)


def test_sharing_does_not_show(codec: Codec) -> None:
    part = [1]
    shared = codec.encode([part, part, {"k": part}])
    assert shared == codec.encode([[1], [1], {"k": [1]}])
    first, second, _ = codec.decode(shared)
    assert first is not second


def test_decoding_makes_fresh_objects_each_time(codec: Codec) -> None:
    data = codec.encode(Record([1], {"k": {2}}))
    first, second = codec.decode(data), codec.decode(data)
    first.a.append(9)
    first.b["k"].add(9)
    first.c = 9
    assert second == Record([1], {"k": {2}}) and not hasattr(second, "c")


def test_bytes_do_not_depend_on_the_hash_seed() -> None:
    script = (
        "import collections, dataclasses, enum, msgspec, re, uuid\n"
        "from presage._core import Codec\n"
        "@dataclasses.dataclass(frozen=True)\n"
        "class M: a: object\n"
        "class S(msgspec.Struct, frozen=True, cache_hash=True): a: str\n"
        "class E(enum.Enum): X = 1\n"
        "words = [f'w{i}' for i in range(50)]\n"
        "struct = S('a'); hash(struct)\n"
        "value = [set(words), frozenset(map(M, words)), dict.fromkeys(words), struct, E.X, M,\n"
        "         collections.Counter(words), uuid.UUID(int=1), re.I | re.A,\n"
        "         {M(w): w for w in words}]\n"
        "codec = Codec()\n"
        "data = codec.encode(value)\n"
        "print(list(set(words))[:5], data.hex(), codec.digest(data), sep='|')\n"
    )
    runs = []
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", script]
        output = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        runs.append(output.stdout.split("|"))
    assert runs[0][0] != runs[1][0], "the seeds must differ for this test to say anything"
    assert runs[0][1:] == runs[1][1:]


def test_a_digest_is_xxh3_and_never_changes(codec: Codec) -> None:
    assert codec.digest(b"") == 0x2D06800538D394C2
    assert codec.digest(codec.encode((1, "n0"))) == codec.digest(Codec().encode((1, "n0")))


@pytest.mark.parametrize(
    "value, immutable",
    [(value, True) for value in (None, 1, "a", (1, (2,)), frozenset({1}), Color.RED, Right(0), int,
                                 make_zero, Frozen(1), FrozenSlots((1,)), FrozenStruct(a=1),
                                 Point(1), MyTuple((1,)), UTC_NOON, decimal.Decimal(1), range(3))]
    + [(value, False) for value in ([], {}, set(), bytearray(), deque(), Counter(), ([],),
                                    Record(1), Frozen([]), FrozenStruct(a={}), Point([]), Plain(),
                                    MyStr("s"), Slotted(), Struct(1), Caching(1),
                                    made(Frozen(1), c=1), Money(1))],
)  # fmt: skip
def test_what_cannot_change_in_place_may_be_shared(
    codec: Codec, value: object, immutable: bool
) -> None:
    assert codec.immutable(codec.encode(value)) is immutable
    assert codec.immutable(codec.encode((1, value))) is immutable


class Slow:
    """A class whose code lets other threads run while it is being reduced."""

    def __reduce__(self) -> object:
        time.sleep(0.001)
        return (type(self), ())


def test_threads_meet_new_classes_at_once_without_waiting_for_each_other(codec: Codec) -> None:
    kinds = [type(f"Slow{i}", (Slow,), {"__module__": __name__}) for i in range(20)]
    results: list[list[bytes]] = [[] for _ in range(4)]
    start = threading.Barrier(4)

    def work(mine: list[bytes]) -> None:
        start.wait()
        mine.extend(codec.encode([kind() for kind in kinds[at:] + kinds[:at]]) for at in range(3))

    threads = [threading.Thread(target=work, args=(mine,), daemon=True) for mine in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert all(not thread.is_alive() for thread in threads)
    assert len(results[0]) == 3 and results.count(results[0]) == 4


ATOMS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.binary(max_size=5)
    | st.text(st.characters(codec=None), max_size=5) | st.complex_numbers(allow_nan=False)
    | st.sampled_from([*Color, *Level, Right.READ | Right.RUN, int, make_zero])
    | st.decimals(allow_nan=False) | st.dates() | st.uuids() | st.fractions()
)  # fmt: skip
KEYS = st.recursive(
    ATOMS,
    lambda inner: (
        st.tuples(inner, inner)
        | st.frozensets(inner, max_size=3)
        | st.builds(Frozen, inner, inner)
        | st.builds(FrozenStruct, a=inner, b=inner)
        | st.builds(Point, inner, inner)
    ),
    max_leaves=5,
)
NESTED = st.recursive(
    KEYS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.sets(KEYS, max_size=4)
        | st.lists(inner, max_size=3).map(deque)
        | st.dictionaries(KEYS, inner, max_size=3).map(OrderedDict)
        | st.dictionaries(KEYS, inner, max_size=3).map(functools.partial(defaultdict, list))
        | st.builds(Record, inner, inner)
        | st.builds(Struct, inner, inner)
        | st.dictionaries(st.text("abc_", min_size=1), inner, max_size=3).map(lambda d: Plain(**d))
    ),
    max_leaves=20,
)


@given(NESTED)
def test_any_nesting_round_trips(value: object) -> None:
    codec = Codec()
    data = codec.encode(value)
    copy = codec.decode(data)
    assert copy == value and type(copy) is type(value)
    assert codec.encode(copy) == data == Codec().encode(value)


@given(KEYS, KEYS)
def test_equal_bytes_mean_equal_values(left: object, right: object) -> None:
    codec = Codec()
    if codec.encode(left) == codec.encode(right):
        assert left == right and type(left) is type(right)
    assert codec.encode((left, right)) != codec.encode((left, right, None))


@given(st.integers(), st.integers())
def test_integers_of_64_bits_sort_like_their_bytes(left: int, right: int) -> None:
    if all(-(2**63) <= number < 2**63 for number in (left, right)):
        codec = Codec()
        assert (left < right) is (codec.encode(left) < codec.encode(right))


@settings(max_examples=100)
@given(KEYS, st.data())
def test_damaged_bytes_are_an_error_and_never_a_crash(value: object, data: st.DataObject) -> None:
    codec = Codec()
    whole = bytearray(codec.encode([value, Counter("ab"), deque([1], 3), UTC_NOON]))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] = data.draw(st.integers(0, 255))
    damaged = bytes(whole[: data.draw(st.integers(at, len(whole)))])
    try:
        copy = codec.decode(damaged)
    except Exception as error:
        assert not isinstance(error, SystemError)
    else:
        again = codec.encode(copy)
        assert codec.encode(codec.decode(again)) == again


def test_a_large_value_leaves_the_values_after_it_their_room() -> None:
    large = bytes(9 << 20)  # of 16 MiB that each may take
    codec = Codec()
    assert codec.encode_fields([large, (1, 2)])[1] == codec.encode((1, 2))
