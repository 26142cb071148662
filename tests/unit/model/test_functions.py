"""What is said of functions without `inspect` is what `inspect` says."""

import functools
import inspect
import random
from types import FunctionType

import pytest

from presage.model import functions
from presage.model.service.declare import MARKS

CALLS = [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)]


def random_function(chance: random.Random) -> FunctionType:
    names = list("abcdef")[: chance.randint(0, 5)]
    parts, has_default = [], False
    cut = chance.randint(0, len(names))
    for at, name in enumerate(names):
        if at == cut:
            parts.append(chance.choice(["*", "*more"]))
        has_default = has_default or chance.random() < 0.3
        by_default = has_default if at < cut else chance.random() < 0.5
        parts.append(f"{name}=0" if by_default else name)
        if at + 1 == cut and chance.random() < 0.2:
            parts.append("/")
    if chance.random() < 0.3:
        parts.append("**rest")
    text = f"def made({', '.join(parts)}): {chance.choice(['return 0', 'yield 0'])}"
    if chance.random() < 0.3:
        text = f"async {text.replace('yield 0', 'pass')}"
    space: dict[str, FunctionType] = {}
    exec(text, space)
    if chance.random() < 0.3:
        setattr(space["made"], MARKS, ())
    return space["made"]


def oddities() -> list[object]:
    wrapped = functools.wraps(lambda a, b: 0)(lambda *args: 0)
    signed = FunctionType((lambda *args: 0).__code__, {})
    signed.__signature__ = inspect.signature(lambda a, *, b=1: 0)  # type: ignore[attr-defined]

    class Callable:
        def __call__(self, a: int, b: int = 2) -> None: ...

    partial = functools.partial(lambda a, b, *, c=3: 0, 1)
    return [wrapped, signed, Callable(), Callable, Callable().__call__, partial, len, "text", int]


THINGS = [random_function(random.Random(seed)) for seed in range(300)] + oddities()


def outcome(function, *args):
    try:
        return function(*args)
    except (TypeError, ValueError) as error:
        return type(error), str(error)


def test_calls_are_refused_as_inspect_refuses_them() -> None:
    for thing in THINGS:
        for args in CALLS:
            wanted = outcome(lambda t, a: inspect.signature(t).bind(*a) and None, thing, args)
            assert outcome(functions.check_call, thing, *args) == wanted, (thing, args)


def test_arguments_are_those_of_a_bound_call() -> None:
    def bound(thing, args):
        made = inspect.signature(thing).bind(*args)
        made.apply_defaults()
        return made.arguments

    for thing in THINGS:
        for args in CALLS:
            wanted = outcome(bound, thing, args)
            assert outcome(functions.arguments_of, thing, *args) == wanted, (thing, args)


def test_parameters_are_those_of_the_signature() -> None:
    def keywords(thing):
        found = inspect.signature(thing).parameters.values()
        named = [each for each in found if each.kind in (each.POSITIONAL_OR_KEYWORD, 3)]
        absent = functions.ABSENT
        return (
            {e.name: absent if e.default is e.empty else e.default for e in named},
            any(each.kind is each.VAR_KEYWORD for each in found),
        )

    for thing in THINGS:
        assert outcome(functions.keywords_of, thing) == outcome(keywords, thing)
        wanted = outcome(lambda t: tuple(inspect.signature(t).parameters), thing)
        assert outcome(functions.names_of, thing) == wanted


def test_what_makes_a_coroutine_or_generator_is_told() -> None:
    for thing in THINGS:
        coroutine = inspect.iscoroutinefunction(thing)
        assert functions.is_coroutine(thing) == coroutine
        assert functions.is_plain(thing) == (
            not coroutine and not inspect.isgeneratorfunction(thing)
        )


def test_attributes_are_read_without_running_code() -> None:
    class Meta(type):
        of_meta = 1

    class Base(metaclass=Meta):
        @property
        def held(self) -> int:
            raise AssertionError

        plain = 2

    class Derived(Base):
        plain = None

    for name in ("held", "plain", "of_meta", "mro", "__init__", "missing"):
        wanted = inspect.getattr_static(Derived, name, functions.ABSENT)
        assert functions.static_attribute(Derived, name, functions.ABSENT) is wanted


def test_what_a_function_takes_from_around_it() -> None:
    one, two = 1, [2]

    def inner() -> object:
        return one, two

    assert functions.closed_over(inner) == inspect.getclosurevars(inner).nonlocals
    assert functions.closed_over(oddities) == {}
    with pytest.raises(TypeError):
        functions.closed_over(len)
