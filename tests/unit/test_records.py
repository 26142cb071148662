"""Classes that are completed when they are first used: the same as those completed at once."""

import copy
import dataclasses
import inspect
import operator
import pickle
import re
import threading
import typing

import pytest

from presage.records import NamedTuple, record

MADE = "__dataclass_fields__"  # what only a complete class has as it is


@record(frozen=True)
class Point:
    """One that other processes know by name."""

    x: int
    y: int = 3


@record(frozen=True)
class Deep(Point):
    z: tuple[int, ...] = ()


def put_off(**options):
    """A class that nobody has used yet, and the same one completed at once."""

    def made(decorate):
        @decorate(**options)
        class Made:
            """A class with a default and a factory."""

            name: str
            size: int = 1
            parts: list[int] = dataclasses.field(default_factory=list, compare=False)

        return Made

    return made(record), made(dataclasses.dataclass)


def is_pending(cls):
    return not isinstance(vars(cls)[MADE], dict)


def text(call):
    """What a call gives or raises, as a text without the places of things in memory."""
    try:
        return re.sub("0x[0-9a-f]+", "0x", str(call()))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


DOCUMENTED = operator.attrgetter("__doc__")
ASKS = (
    lambda cls: cls("a"),
    lambda cls: cls("a", size=2) == cls("a", 2, [1]),
    lambda cls: cls(),
    lambda cls: cls("a", 1, [], 4),
    lambda cls: hash(cls("a")) == hash(cls("a", 1, [4])),
    lambda cls: setattr(cls("a"), "name", "b"),
    lambda cls: delattr(cls("a"), "name"),
    lambda cls: [each.name for each in dataclasses.fields(cls)],
    lambda cls: dataclasses.is_dataclass(cls),
    lambda cls: dataclasses.replace(cls("a"), size=4),
    lambda cls: dataclasses.asdict(cls("a")),
    lambda cls: cls.__match_args__,
    lambda cls: cls.__dataclass_params__,
    lambda cls: inspect.signature(cls),
    DOCUMENTED,
    lambda cls: copy.copy(cls("a", 4)),
)


@pytest.mark.parametrize("at", range(len(ASKS)))
def test_whatever_is_asked_first_is_answered_as_by_a_complete_class(at):
    later, at_once = put_off(frozen=True)
    assert is_pending(later)
    assert text(lambda: ASKS[at](later)) == text(lambda: ASKS[at](at_once))
    assert is_pending(later) == (ASKS[at] is DOCUMENTED)


@pytest.mark.parametrize("options", [{}, {"frozen": True}, {"eq": False}, {"repr": False}], ids=str)
def test_a_class_used_once_is_what_it_had_been_at_once(options):
    later, at_once = put_off(**options)
    later("a")
    assert vars(later).keys() == vars(at_once).keys()
    answered = [text(lambda ask=ask: ask(later)) for ask in ASKS]
    assert answered == [text(lambda ask=ask: ask(at_once)) for ask in ASKS]


def test_an_instance_that_was_never_initialised_is_of_a_complete_class_when_it_is_used():
    later, _ = put_off(frozen=True)
    made = later.__new__(later)
    assert is_pending(later)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.name = "b"
    changing, _ = put_off()
    with pytest.raises(TypeError):
        hash(changing.__new__(changing))


def test_an_instance_comes_back_from_bytes():
    assert pickle.loads(pickle.dumps(Deep(1, z=(2,)))) == Deep(1, 3, (2,))


def test_a_base_is_completed_with_what_is_made_of_it():
    @record
    class Base:
        one: int

    @record
    class Derived(Base):
        other: int

    assert Derived(1, other=2).one == 1
    assert not is_pending(Base)


def test_a_method_that_the_class_writes_itself_is_kept():
    @record(frozen=True, init=False)
    class Own:
        value: int

        def __init__(self):
            object.__setattr__(self, "value", 4)

        def __hash__(self):
            return 7

    made = Own()
    assert is_pending(Own)
    assert (made.value, hash(made), repr(made)) == (4, 7, repr(made))
    assert repr(made).endswith("Own(value=4)")
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.value = 5


def test_many_threads_complete_a_class_once():
    later, _ = put_off(frozen=True)
    start, made = threading.Barrier(4), []

    def make(name):
        start.wait()
        made.append(later(name))

    threads = [threading.Thread(target=make, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.name for each in made) == list("abcd")


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
