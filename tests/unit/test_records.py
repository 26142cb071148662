"""Classes that are quickly made: the same as those that the standard library makes."""

import copy
import dataclasses
import functools
import inspect
import pickle
import random
import re
import typing
from typing import ClassVar

import pytest

from presage.records import NamedTuple, record


@record(frozen=True)
class Point:
    """One that other processes know by name."""

    x: int
    y: int = 3


@record(frozen=True)
class Deep(Point):
    z: tuple[int, ...] = ()


def both(**options):
    """A class by `record`, and the same one by `dataclass`."""

    def made(decorate):
        @decorate(**options)
        class Made:
            """A class with all that one may have."""

            name: str
            size: int = 1
            parts: list[int] = dataclasses.field(default_factory=list, compare=False)
            hidden: int = dataclasses.field(default=4, repr=False, hash=False)
            later: dict[str, int] = dataclasses.field(default_factory=dict, init=False)
            never: int = dataclasses.field(default=5, init=False)
            unset: int = dataclasses.field(init=False, repr=False, compare=False)
            last: str = dataclasses.field(default="", kw_only=True)
            shared: ClassVar[int] = 0

            def __post_init__(self):
                object.__setattr__(self, "size", self.size + 1)

        return Made

    return made(record), made(dataclasses.dataclass)


def text(call):
    """What a call gives or raises, as a text without the places of things in memory."""
    try:
        return re.sub("0x[0-9a-f]+", "0x", str(call()))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


ASKS = (
    lambda cls: cls("a"),
    lambda cls: list(vars(cls("a", last="b"))),
    lambda cls: cls("a", 2, [1], 7, last="b"),
    lambda cls: cls(size=2, name="a"),
    lambda cls: cls(),
    lambda cls: cls(size=2),
    lambda cls: cls("a", 1, [], 4, 5),
    lambda cls: cls("a", name="a"),
    lambda cls: cls("a", other=1),
    lambda cls: cls("a", later={}),
    lambda cls: cls("a", size=2) == cls("a", 2, [1]),
    lambda cls: cls("a") == cls("a", hidden=5),
    lambda cls: cls("a") == ("a", 1),
    lambda cls: cls("a").parts is cls("a").parts,
    lambda cls: hash(cls("a")) == hash(cls("a", 1, [4], 5)),
    lambda cls: cls.__hash__ is object.__hash__ or hash(cls("a")),
    lambda cls: cls("a").unset,
    lambda cls: setattr(cls("a"), "name", "b"),
    lambda cls: setattr(cls("a"), "other", "b"),
    lambda cls: delattr(cls("a"), "name"),
    lambda cls: [(each.name, each.init, each.type) for each in dataclasses.fields(cls)],
    lambda cls: dataclasses.is_dataclass(cls),
    lambda cls: dataclasses.replace(cls("a", last="b"), size=4),
    lambda cls: dataclasses.replace(cls("a"), later={}),
    lambda cls: dataclasses.asdict(cls("a")),
    lambda cls: cls.__match_args__,
    lambda cls: cls.__dataclass_params__,
    lambda cls: inspect.signature(cls),
    lambda cls: inspect.signature(type("Derived", (cls,), {})),
    lambda cls: inspect.signature(type("Derived", (cls,), {"__init__": lambda self, own: None})),
    lambda cls: cls.__doc__,
    lambda cls: copy.copy(cls("a", 4)),
    lambda cls: [name for name in sorted(vars(cls)) if name != "__signature__"],
    lambda cls: (cls.__init__.__qualname__, cls.__module__),
    lambda cls: type("Derived", (cls,), {})("a") == cls("a"),
    lambda cls: setattr(type("Derived", (cls,), {})("a"), "own", 1),
    lambda cls: setattr(type("Derived", (cls,), {})("a"), "name", "b"),
)
OPTIONS = (
    *({}, {"frozen": True}, {"eq": False}, {"repr": False}, {"kw_only": True}),
    *({"frozen": True, "eq": False}, {"frozen": True, "kw_only": True}),
)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_class_answers_as_one_that_dataclasses_made(options):
    ours, other = both(**options)
    for ask in ASKS:
        assert text(lambda ask=ask: ask(ours)) == text(lambda ask=ask: ask(other))


def test_a_random_call_gives_what_it_gives_a_class_that_dataclasses_made():
    rng, names = random.Random(1), ("name", "size", "parts", "hidden", "last", "never", "none")
    for options in OPTIONS:
        both_of = both(**options)
        for _ in range(60):
            args = range(rng.randrange(6))
            named = {name: rng.randrange(9) for name in names if rng.random() < 0.3}
            calls = [functools.partial(cls, *args, **named) for cls in both_of]
            made = [text(lambda call=call: vars(call())) for call in calls]
            assert made[0] == made[1]


def test_no_method_is_compiled_for_a_class(monkeypatch):
    def refused(*_):
        raise AssertionError("a text was compiled")

    monkeypatch.setattr(dataclasses, "exec", refused, raising=False)

    @record(frozen=True)
    class Made:
        name: str
        size: int = 1

    assert Made("a") == Made("a", 1)
    assert repr(Made("a")).endswith("Made(name='a', size=1)")
    assert hash(Made("a")) == hash(Made("a"))


def test_an_instance_that_was_never_initialised_is_frozen_too():
    ours, _ = both(frozen=True)
    with pytest.raises(dataclasses.FrozenInstanceError):
        ours.__new__(ours).name = "b"


def test_an_instance_comes_back_from_bytes():
    assert pickle.loads(pickle.dumps(Deep(1, z=(2,)))) == Deep(1, 3, (2,))


def test_a_class_that_holds_itself_is_shown():
    @record
    class Made:
        inside: list

    made = Made([])
    made.inside.append(made)
    assert repr(made).endswith("Made(inside=[...])")


def test_fields_of_a_base_come_first():
    @record
    class Base:
        one: int

    @record
    class Derived(Base):
        other: int

    assert vars(Derived(1, other=2)) == {"one": 1, "other": 2}
    with pytest.raises(TypeError, match="cannot inherit"):
        record(frozen=True)(type("Frozen", (Base,), {"__annotations__": {"more": "int"}}))
    with pytest.raises(TypeError, match="cannot inherit"):
        record(type("Changing", (Point,), {"__annotations__": {"more": "int"}}))
    with pytest.raises(dataclasses.FrozenInstanceError):
        Deep(1).z = (3,)


def test_a_method_that_the_class_writes_itself_is_kept():
    @record(frozen=True, init=False)
    class Own:
        value: int

        def __init__(self):
            object.__setattr__(self, "value", 4)

        def __hash__(self):
            return 7

    made = Own()
    assert (made.value, hash(made), repr(made)) == (4, 7, repr(made))
    assert repr(made).endswith("Own(value=4)")
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.value = 5


def rows(base):
    """A named tuple with all that one may have."""

    class Row(base):
        """One of two fields."""

        name: "str"
        size: "int" = 4

        def double(self):
            return self.size * 2

        @property
        def known(self):
            return self.name == "a"

        @classmethod
        def empty(cls):
            return cls("")

        def __str__(self):
            return f"row of {self.name}"

    return Row


def test_a_named_tuple_is_the_same_as_that_of_typing():
    ours, other = rows(NamedTuple), rows(typing.NamedTuple)
    asks = (
        lambda cls: cls("a"),
        lambda cls: repr(cls("a", size=5)),
        lambda cls: cls("a", 1, 2),
        lambda cls: cls(),
        lambda cls: cls("b") == ("b", 4),
        lambda cls: (cls("a").double(), cls("a").known, cls.empty()),
        lambda cls: cls("a")._replace(size=1),
        lambda cls: (cls._fields, cls._field_defaults, cls.__match_args__, cls.__doc__),
        lambda cls: (cls.__module__, cls.__qualname__, cls.__mro__, sorted(vars(cls))),
        lambda cls: typing.get_type_hints(cls),
        lambda cls: list(inspect.signature(cls).parameters),
    )
    for ask in asks:
        assert text(lambda ask=ask: ask(ours)) == text(lambda ask=ask: ask(other))
