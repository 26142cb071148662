"""The fields that code can read are found in its bytecode; where that is not sure, all of them."""

import functools
import inspect
from typing import Any, ClassVar

import pytest

from presage import Service, System, action, check, on, state
from presage.search.kernel.field_reads import ALL, fields_read, read_by_guards, read_by_step
from presage.search.twin import compare


def helper(service: Any) -> Any:
    return service.other


def calling(function: Any) -> Any:
    return function()


def decorated(function: Any) -> Any:
    @functools.wraps(function)
    def around(self: Any) -> Any:
        return function(self)

    return around


class Base(Service):
    names: set[str] = state(lambda: {"a", "b"})
    other: dict[str, int] = state(lambda: {"x": 1, "y": 2})
    count: int = 0
    log: Any = ()
    LIMIT: ClassVar[int] = 3

    def first(self) -> Any:
        return next(iter(self.names))

    def reading_through_super(self) -> Any:
        return self.names


class Plain(Base):
    """What is sure, and what is read; an underscore stands between fields."""

    def nothing(self) -> None:
        self.send(self.name, 1)

    def a_field_called_like_a_facility__log(self) -> Any:
        return self.log

    def a_write(self) -> None:
        self.names = {"c"}

    def one__count(self) -> None:
        self.count = self.count + self.LIMIT

    def in_place__count(self) -> None:
        self.count += 1

    def by_element__other(self) -> None:
        self.other["x"] += 1

    def by_method__names(self) -> None:
        self.count = self.first()

    def by_methods_that_call_each_other__names_other(self, depth: int = 0) -> None:
        if depth < 2:
            self.again__names_other(depth)

    def again__names_other(self, depth: int) -> None:
        self.first()
        self.other.clear()
        self.by_methods_that_call_each_other__names_other(depth + 1)

    def by_property__names(self) -> None:
        self.count = len(self.size)

    @property
    def size(self) -> Any:
        return self.names

    def of_a_static_method(self) -> None:
        self.one(1)

    @staticmethod
    def one(value: int) -> int:
        return value

    def in_a_comprehension__names_other(self) -> None:
        self.count = [name for name in self.names if name in self.other]

    def of_a_generator__names(self) -> None:
        self.count = any(name in self.names for name in "abc")

    def of_a_lambda_without_self__names(self) -> None:
        self.count = max(self.names, key=lambda name: name)

    def by_condition__names_count(self, other: Any = None) -> None:
        self.log = self.names if self.count else other

    def through_presage(self) -> None:
        self.presage.log("text")


class Unsure(Base):
    """What could read anything."""

    def given_away(self) -> Any:
        return helper(self)

    def under_another_name(self) -> Any:
        me = self
        return me.other

    def under_another_name_in_an_expression(self) -> Any:
        return (me := self) and me.other

    def in_a_list(self) -> Any:
        return [self][0].other

    def by_condition(self) -> Any:
        return (self if self.count == 0 else None).other

    def by_name(self) -> Any:
        return getattr(self, "other")  # noqa: B009

    def by_dict(self) -> Any:
        return self.__dict__["other"]

    def by_vars(self) -> Any:
        return vars(self)["other"]

    def by_locals(self) -> Any:
        return locals()["self"].other

    def by_eval(self) -> Any:
        return eval("self.other")

    def by_super(self) -> Any:
        return super().reading_through_super()

    def as_text(self) -> Any:
        return f"{self}"

    def by_bound_method(self) -> Any:
        return calling(self.first)

    def by_the_owner_of_a_method(self) -> Any:
        method = self.first
        return method.__self__.other

    def by_the_owner_of_a_facility(self) -> Any:
        method = self.send
        return method.__self__.other

    def by_class(self) -> Any:
        return self.__class__.first(self)

    def by_repr(self) -> Any:
        return self.__repr__()

    def by_closure(self) -> Any:
        return calling(lambda: self.other)

    def by_inner_function(self) -> Any:
        def inner() -> Any:
            return self.other

        return inner()

    def by_arguments(*args: Any) -> Any:
        return args[0].other

    def by_pattern(self) -> Any:
        match self:
            case Base(other=found):
                return found

    def by_another_first_parameter(self) -> Any:
        self = helper
        return self(self)

    def deletes(self) -> None:
        del self.count
        self.count = 1

    @decorated
    def decorated(self) -> Any:
        return self.other

    @functools.cached_property
    def cached(self) -> Any:
        return self.other

    def by_cached(self) -> Any:
        return self.cached

    def by_partial(self) -> Any:
        return self.partly()

    partly = functools.partialmethod(lambda self: self.other)


def methods(cls: type) -> list[str]:
    return [name for name, value in vars(cls).items() if inspect.isfunction(value)]


@pytest.mark.parametrize("name", methods(Plain))
def test_what_plain_code_can_read_is_known(name):
    fields = name.partition("__")[2]
    expected = frozenset(fields.split("_")) if fields else frozenset()
    assert fields_read(Plain, [vars(Plain)[name]]) == expected


@pytest.mark.parametrize("name", methods(Unsure))
def test_code_that_may_pass_the_service_on_can_read_everything(name):
    assert fields_read(Unsure, [vars(Unsure)[name]]) is None


def test_what_is_no_function_can_read_everything():
    class Callable:
        def __call__(self, service: Any) -> Any:
            return service.other

    assert fields_read(Base, [Callable()]) is None
    assert fields_read(Base, [functools.partial(helper)]) is None
    assert fields_read(Base, [repr]) is None


def test_a_class_with_its_own_access_to_attributes_can_read_everything():
    class Mixin:
        def __getattribute__(self, name: str) -> Any:
            return object.__getattribute__(self, name)

    class Mixed(Mixin, Base):
        pass

    assert fields_read(Mixed, [Plain.nothing]) is None


def test_a_method_of_a_subclass_is_read_where_it_is_called():
    class Sub(Plain):
        def first(self) -> Any:
            return self.other

    reads = fields_read(Sub, [Plain.by_method__names])
    assert reads == {"other"}


class Message:
    pass


class Guarded(Base):
    @on(Message, when=lambda self: len(self.names) > 1)
    def got(self, message: Message) -> None:
        self.count += 1

    @action(over=lambda self: sorted(self.other))
    def act(self, name: str) -> None:
        self.count += 1


def test_guards_count_with_their_handlers():
    node = System({"n": Guarded()}).automata[0]
    position = node.positions
    control = 1
    assert read_by_step(node, ("deliver", 0, Message())) == (
        control | 1 << position["names"] | 1 << position["count"]
    )
    assert read_by_step(node, ("action", "act", "x")) == control | 1 << position["count"]
    assert read_by_guards(node) == control | 1 << position["other"]
    assert read_by_step(node, ("restart",)) == ALL


RUNS = [0]


class Counting(Service):
    n: int = 0
    names: Any = frozenset()
    seen: int = 0

    @action(when=lambda self: self.n < 600)
    def count(self) -> None:
        RUNS[0] += 1
        self.n += 1


class Looking(Counting):
    def look(self) -> int:
        return len(self.names)

    @action(when=lambda self: self.n < 600)
    def count(self) -> None:
        RUNS[0] += 1
        self.n += 1
        self.seen = self.look()


def runs(node: Service) -> int:
    RUNS[0] = 0
    report = check(System({"n": node}), traces=None)
    assert [found.code for found in report.orders] == ["RUNS"]  # which no order changes
    return RUNS[0]


def test_a_step_that_cannot_see_a_set_is_not_run_in_the_second_order(monkeypatch):
    monkeypatch.setattr(compare, "suspicious", lambda system: False)  # which runs all once more
    two = frozenset({"a", "b"})
    once = runs(Counting())
    assert once < 1000
    assert runs(Counting(names=two)) == once
    assert runs(Looking(names=two)) >= 1200


class Setting(Service):
    a: int = 0
    b: int = 0
    c: int = 0

    def sets(self):
        self.a = 1

    def adds(self):
        self.b += 1

    def sets_by_a_method(self):
        self.sets()
        self.a, self.c = 1, 2


def test_what_code_can_set_is_told_where_asked_for():
    def both(function):
        return [fields_read(Setting, [function], stores=stores) for stores in (False, True)]

    assert both(Setting.sets) == [frozenset(), {"a"}]
    assert both(Setting.adds) == [{"b"}, {"b"}]
    assert both(Setting.sets_by_a_method) == [frozenset(), {"a", "c"}]
