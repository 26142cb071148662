"""A system is checked when it is made; what a user gets wrong is named, with a way out."""

import threading

import pytest

from presage.errors import (
    BadObserver,
    BadProperty,
    BadPrototype,
    BadSystem,
    NotState,
    PresageError,
    UndeclaredField,
    UnknownNode,
)
from presage.model.service.declare import ghost, state
from presage.model.service.service import Service
from presage.model.world.system import UNLIMITED, Call, Faults, System
from presage.props.property import always


class Store(Service):
    value: str | None = None
    seen: list[str] = state(list)
    hops: int = ghost(0)

    def put(self, value, again=False):
        self.value = value

    async def wait(self):
        pass


@always
def fine(world):
    return True


class Tally:
    def initial(self):
        return 0

    def observe(self, state, node, record):
        return state + 1


def test_a_system_knows_its_nodes_by_index_and_name():
    system = System({"a": Store(), "b": Store()})
    assert (system.names, system.index("b"), system.name) == (("a", "b"), 1, "Store")
    assert [automaton.name for automaton in system.automata] == ["a", "b"]


@pytest.mark.parametrize(
    ("network", "given", "used"),
    [
        ("unordered", None, True),
        ("duplicating", None, True),
        ("ordered", None, False),
        ("ordered", True, True),
        ("unordered", False, False),
    ],
)
def test_deliveries_without_effect_are_skipped_except_on_ordered_networks(network, given, used):
    assert System({"a": Store()}, network=network, skip_noops=given).skip_noops is used


def test_prototypes_are_copied_when_the_system_is_made():
    prototype = Store(seen=["x"])
    system = System({"a": prototype})
    prototype.seen.append("y")
    assert system.automata[0].initial()[2] == ["x"]
    system.automata[0].initial()[2].append("z")
    assert system.automata[0].initial()[2] == ["x"]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"nodes": {}}, BadSystem, "no nodes"),
        ({"nodes": [Store()]}, BadSystem, "not a mapping from names to services"),
        ({"nodes": {0: Store()}}, BadSystem, "0 is not the name of a node"),
        ({"nodes": {"a": Store}}, BadPrototype, "is the class `Store`, not an instance"),
        ({"nodes": {"a": object()}}, BadPrototype, "is a `object`, not a `Service`"),
        ({"nodes": {"a": Service()}}, BadPrototype, "is a bare `Service`, which does nothing"),
        ({"network": "tcp"}, BadSystem, "no network 'tcp'"),
        ({"faults": {"crash": 1}}, BadSystem, "`faults` is a `dict`"),
        ({"faults": Faults(crash=1, nodes=["z"])}, UnknownNode, "no node 'z'"),
        (
            {"network": "duplicating", "faults": Faults(duplicate=1)},
            BadSystem,
            "duplicating network",
        ),
        ({"calls": {"z": [Call("put", "A")]}}, UnknownNode, "no node 'z'"),
        ({"calls": {"a": ["put"]}}, BadSystem, "not a `Call`"),
        ({"calls": {"a": [Call("get")]}}, BadSystem, "no method `get`"),
        ({"calls": {"a": [Call("value")]}}, BadSystem, "no method `value`"),
        ({"calls": {"a": [Call("send", "a", 1)]}}, BadSystem, "no method `send`"),
        ({"calls": {"a": [Call("wait")]}}, BadSystem, "coroutine"),
        ({"calls": {"a": [Call("put")]}}, BadSystem, "missing a required argument: 'value'"),
        ({"calls": {"a": [Call("put", 1, 2, 3)]}}, BadSystem, "too many positional"),
        ({"calls": {"a": [Call("put", threading.Lock())]}}, NotState, r"calls\['a'\]: put"),
        ({"observers": {"t": Tally}}, BadObserver, "observer `t`"),
        ({"observers": {"t": object()}}, BadObserver, "observer `t`"),
        ({"properties": [lambda world: True]}, BadProperty, "not a property"),
        ({"properties": [fine, fine]}, BadProperty, "two properties are called `fine`"),
        (
            {"properties": [always(lambda w: True, name="no_exception")]},
            BadProperty,
            "two properties are called `no_exception`",
        ),
    ],
)
def test_what_cannot_be_checked_is_refused(arguments, error, text):
    with pytest.raises(error, match=text) as caught:
        System(**{"nodes": {"a": Store()}, **arguments})
    assert caught.value.exit_status == 2
    assert "way out: " in str(caught.value)


@pytest.mark.parametrize("amount", [-1, 1.5, True, "2", None])
def test_a_budget_is_a_count_or_unlimited(amount):
    with pytest.raises(BadSystem, match="drop="):
        Faults(drop=amount)
    assert Faults(drop=UNLIMITED, crash=2).budgets[:4] == (2, 0, UNLIMITED, 0)


def test_the_nodes_of_faults_are_a_collection():
    with pytest.raises(BadSystem, match="not a collection"):
        Faults(crash=1, nodes="a")


def test_state_that_cannot_be_copied_is_named_by_node_class_field_and_type():
    with pytest.raises(NotState, match=r"`b: Store.seen.*` holds a `.*lock`"):
        System({"a": Store(), "b": Store(seen=[threading.Lock()])})


def test_a_prototype_with_other_fields_is_refused():
    prototype = Store()
    prototype.extra = 1
    with pytest.raises(UndeclaredField, match="`extra`, which `Store` does not declare"):
        System({"a": prototype})


def test_an_observer_begins_with_a_fresh_state():
    class Lister(Tally):
        def initial(self):
            return []

    system = System({"a": Store()}, observers={"l": Lister()})
    system.observed()[0].append(1)
    assert system.observed() == [[]]


def test_an_observer_whose_state_cannot_be_copied_is_named():
    class Locked(Tally):
        def initial(self):
            return threading.Lock()

    with pytest.raises(NotState, match="observer t"):
        System({"a": Store()}, observers={"t": Locked()})


def test_every_error_says_cause_and_remedy_in_its_docstring():
    pending = [PresageError]
    while pending:
        error = pending.pop()
        pending += error.__subclasses__()
        if error.__module__ == "presage.errors":
            assert error.__doc__.startswith("Cause: "), error
            assert "Remedy: " in error.__doc__, error
            assert error.exit_status in (2, 3)
