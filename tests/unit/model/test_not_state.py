"""What cannot be state is refused, with its place, its type and the reason; nothing is guessed.

The other half of `test_values.py`: every way a value, a class or the bytes can be wrong.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
import threading
import typing
from collections import OrderedDict, defaultdict, deque

import pytest
from unit.model.value_samples import (
    Bag,
    Color,
    MyList,
    Plain,
    Point,
    Record,
    Slotted,
    Struct,
    made,
)

from presage import Call, Service, System, check, state
from presage._core import Codec
from presage.errors import NotCopied, NotState


@pytest.fixture
def codec() -> Codec:
    return Codec()


def refusal(codec: Codec, value: object) -> NotState:
    with pytest.raises(NotState) as caught:
        codec.encode(value)
    return caught.value


def closure() -> typing.Callable[[], list[int]]:
    seen: list[int] = []
    return lambda: seen


async def coroutine() -> None: ...


class Failing:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __getstate__(self) -> object:
        raise self.error


class Shifting:
    """Every copy made by its recipe is one further."""

    def __init__(self, about: int = 0) -> None:
        self.about = about

    def __reduce__(self) -> object:
        return (Shifting, (self.about + 1,))


class Turning(Shifting):
    """Its recipe makes something else."""

    def __reduce__(self) -> object:
        return (list, ())


class Clumsy(Shifting):
    """Its recipe does not work."""

    def __reduce__(self) -> object:
        return (Clumsy, (1, 2))


class Dodging(Shifting):
    """Its recipe begins with something that no name leads to."""

    def __reduce__(self) -> object:
        return (lambda: 1, ())


class Local:
    def method(self) -> None: ...


@pytest.mark.parametrize(
    "make, type_name, reason",
    [
        (lambda: __import__("socket").socket(), "socket.socket", "outside"),
        (lambda: open(os.devnull), "_io.TextIOWrapper", "outside"),
        (threading.Lock, "_thread.lock", "threads"),
        (threading.RLock, "_thread.RLock", "threads"),
        (threading.Event, "threading.Event", "threads"),
        (threading.Thread, "threading.Thread", "work in progress"),
        (lambda: (i for i in []), "generator", "work in progress"),
        (lambda: iter([1]), "list_iterator", "iterator"),
        (lambda: sys, "module", "running program"),
        (lambda: __import__("weakref").ref(Local), "weakref.ReferenceType", "alive"),
        (closure, "function", "variables of the function around it"),
        (lambda: lambda: 1, "function", "does not lead back to it"),
        (lambda: Local().method, "method", "carries its object"),
        (lambda: [].append, "builtin_function_or_method", "carries its object"),
        (lambda: memoryview(b""), "memoryview", "view"),
        (object, "object", "identity"),
        (lambda: Failing(ValueError("no way")), f"{__name__}.Failing", "ValueError: no way"),
        (lambda: Clumsy(1), f"{__name__}.Clumsy", "TypeError: "),
        (lambda: Dodging(1), "function", "does not lead back to it"),
        (lambda: Shifting(1), f"{__name__}.Shifting", "is not the same"),
        (lambda: Turning(1), f"{__name__}.Turning", "another type"),
    ],
)
def test_what_cannot_be_state_is_named_with_its_place(
    codec: Codec, make: typing.Callable[[], object], type_name: str, reason: str
) -> None:
    bad = make()
    error = refusal(codec, Plain(peers=[0, 1, {"k": Plain(sock=bad)}]))
    assert (error.path, error.type_name) == (".peers[2]['k'].sock", type_name)
    assert reason in error.reason
    assert refusal(codec, bad).path == ""


def test_places_of_all_kinds_are_named(codec: Codec) -> None:
    bad = threading.Lock()
    places = [
        ((1, bad), "[1]"), (deque([bad]), "[0]"), ({bad}, "{<_thread.lock>}"),
        ({bad: 1}, "{<_thread.lock>: ...}"), ({3: bad}, "[3]"), ({(1,): bad}, "[<tuple>]"),
        (OrderedDict(a=bad), "['a']"), (Record(1, bad), ".b"), (made(Record(1), x=bad), ".x"),
        (Struct(bad), ".a"), (made(Slotted(), b=bad), ".b"), (Point(0, bad), "[1]"),
        (defaultdict(lambda: 1), ".default_factory"), (MyList([bad]), "[0]"),
        (made(Bag(), kept=[bad]), ".kept[0]"), ({"k" * 99: bad}, "['" + "k" * 39 + "...]"),
    ]  # fmt: skip
    assert [refusal(codec, value).path for value, _ in places] == [path for _, path in places]


def test_an_interrupt_in_the_code_of_a_class_is_no_opinion_about_it(codec: Codec) -> None:
    with pytest.raises(KeyboardInterrupt):
        codec.encode([Failing(KeyboardInterrupt())])


def test_a_coroutine_is_refused(codec: Codec) -> None:
    running = coroutine()
    assert refusal(codec, [running]).type_name == "coroutine"
    running.close()


def test_a_cycle_is_named_where_it_closes(codec: Codec) -> None:
    loop: list[object] = [0]
    loop.append({"k": loop})
    error = refusal(codec, Plain(x=loop))
    assert error.path == ".x[1]['k']"
    assert error.reason == "it contains itself: it is the same object as `.x`"
    parent, child = Plain(), Plain()
    parent.child, child.parent = child, parent
    error = refusal(codec, parent)
    assert error.path == ".child.parent"
    assert error.reason.endswith("the same object as the value itself")


def test_depth_and_size_have_a_limit_and_no_stack_overflows(codec: Codec) -> None:
    def nest(levels: int) -> Plain:
        return functools.reduce(lambda inner, _: Plain(a=inner), range(levels), Plain())

    found: list[object] = []

    def deep() -> None:
        data = codec.encode(nest(499))
        found.append(codec.encode(codec.decode(data)) == data)
        found.append(refusal(codec, nest(500)).reason)

    before = threading.stack_size(1 << 20)
    thread = threading.Thread(target=deep)
    thread.start()
    thread.join()
    threading.stack_size(before)
    assert found == [True, "it is nested more than 500 levels deep"]
    doubled = functools.reduce(lambda inner, _: [inner, inner], range(60), 1)
    assert refusal(codec, doubled).reason == "it is larger than 16 MiB"


def twin(size: int) -> typing.Any:
    kind = dataclasses.make_dataclass("Twin", [f"f{i}" for i in range(size)])
    kind.__module__ = __name__
    return kind


def test_two_classes_of_one_name_are_told_apart(codec: Codec) -> None:
    first, second = twin(1), twin(2)
    codec.encode(first(1))
    error = refusal(codec, {"k": second(1, 2)})
    assert error.path == "['k']"
    assert f"another class is also named `{__name__}.Twin`" in error.reason
    assert codec.decode(codec.encode(first(1))) == first(1)
    assert Codec().encode(second(1, 2))


def replaced() -> None: ...


def test_a_name_that_changes_its_meaning_is_noticed(
    codec: Codec, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = replaced
    codec.encode(old)
    new = type(old)(old.__code__, globals(), "replaced")
    monkeypatch.setitem(globals(), "replaced", new)
    assert "meant another object before" in refusal(codec, new).reason


def test_bytes_of_another_codec_are_refused(codec: Codec) -> None:
    for value in (Record(1), Color.RED, len):
        with pytest.raises(ValueError, match="this codec has not seen"):
            codec.decode(Codec().encode(value))


def test_a_class_inside_a_function_may_have_instances_but_is_no_value(codec: Codec) -> None:
    @dataclasses.dataclass(frozen=True)
    class Inner:
        a: int

    assert codec.decode(codec.encode([Inner(1)])) == [Inner(1)]
    assert "does not lead back to it" in refusal(codec, Inner).reason


class Fickle:
    """Hashable by identity, equal to everything of its kind once copied."""

    def __eq__(self, other: object) -> bool:
        return type(other) is Fickle and self.__dict__ == {} == other.__dict__

    def __hash__(self) -> int:
        return 1


def test_elements_that_merge_in_a_copy_are_noticed(codec: Codec) -> None:
    first, second = Fickle(), Fickle()
    first.apart = True  # type: ignore[attr-defined]
    both = {first, second}
    del first.apart  # type: ignore[attr-defined]
    data = codec.encode(both)
    with pytest.raises(NotCopied, match="became equal in a copy"):
        codec.decode(data)
    assert issubclass(NotCopied, ValueError)  # which readers of foreign bytes catch


class Number:
    def __init__(self, value: int) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and self.value == other.value

    def __hash__(self) -> int:
        return self.value


class Merging(Service):
    numbers: set[Number] = state(set)

    def merge(self) -> None:
        one = Number(1)
        self.numbers = {one, Number(2)}
        one.value = 2


def test_a_step_after_which_elements_merge_is_an_error_of_the_checked_code() -> None:
    system = System({"a": Merging()}, calls={"a": [Call("merge")] * 2})
    with pytest.raises(NotCopied, match="an object that was changed after it was put there"):
        check(system, traces=None)
