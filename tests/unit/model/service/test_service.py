"""A service class is read when it is defined, and what cannot work is refused there."""

from collections import deque
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import pytest
from msgspec import Struct

from presage.errors import (
    BadCall,
    BadField,
    BadHandler,
    BadPrototype,
    BadSystem,
    DuplicateHandler,
    MutableMessage,
    SharedDefault,
)
from presage.model.service.declare import action, durable, ghost, on, state, timer
from presage.model.service.service import Service


@dataclass(frozen=True)
class Vote:
    term: int


class Other(NamedTuple):
    n: int


class Server(Service):
    LIMIT: ClassVar[dict] = {}
    MAX = 3

    quorum: int
    peers: tuple[str, ...] = ()
    votes: set[str] = state(set)
    term: int = durable(0)
    log_: list[int] = durable(factory=list)
    hops: int = ghost(0)

    @on(Vote)
    def vote(self, vote, source):
        self.votes.add(source)


def kinds(service):
    return {field.name: field.kind for field in service._presage_fields}


def test_fields_are_the_annotated_attributes_in_order():
    assert list(kinds(Server)) == ["quorum", "peers", "votes", "term", "log_", "hops"]
    assert kinds(Server)["term"] == kinds(Server)["log_"] == "durable"
    assert kinds(Server)["hops"] == "ghost"
    assert kinds(Server)["votes"] == "volatile"


def test_a_subclass_adds_fields_and_changes_defaults_in_place():
    class Better(Server):
        quorum = 2
        leader: str | None = None

    assert list(kinds(Better)) == [*kinds(Server), "leader"]
    assert Better().quorum == 2
    assert Better(quorum=3).quorum == 3


def test_each_instance_gets_its_own_value_from_a_factory():
    assert Server(quorum=1).votes == set()
    assert Server(quorum=1).votes is not Server(quorum=1).votes


def test_a_class_as_default_is_a_factory():
    class Lazy(Service):
        table: dict[str, int] = durable(dict)

    assert Lazy().table == {}


def test_a_missing_or_unknown_field_is_refused_by_the_constructor():
    with pytest.raises(
        BadPrototype, match=r"test_service.py:\d+: `Server` was made without.*`quor"
    ):
        Server()
    with pytest.raises(BadPrototype, match="no field `quorom`"):
        Server(quorum=1, quorom=2)


def test_the_instance_dict_holds_the_fields_only():
    assert list(Server(quorum=1).__dict__) == list(kinds(Server))


def test_what_needs_a_run_says_so_outside_one():
    with pytest.raises(BadCall, match="outside a run"):
        Server(quorum=1).send("n1", Vote(1))


@pytest.mark.parametrize("default", [[], {}, set(), deque(), bytearray()])
def test_a_mutable_default_is_refused_with_the_line_of_the_field(default):
    with pytest.raises(SharedDefault, match=r"test_service.py:\d+: `Bad.votes`") as caught:

        class Bad(Service):
            first: int = 0
            votes: object = default

    line = int(caught.value.location.rsplit(":", 1)[1])
    with open(__file__) as file:
        assert "votes: object = default" in file.readlines()[line - 1]
    assert f"state({type(default).__name__})" in str(caught.value)


def test_a_mutable_durable_default_and_a_mutable_constant_are_refused():
    with pytest.raises(SharedDefault, match=r"durable\(factory=list\)"):

        class Bad(Service):
            entries: list[int] = durable([])

    with pytest.raises(SharedDefault, match="ClassVar"):

        class Worse(Service):
            table = {1: 2}


def test_an_unhashable_dataclass_is_a_mutable_default():
    @dataclass
    class Point:
        x: int = 0

    with pytest.raises(SharedDefault, match="Point"):

        class Bad(Service):
            at: Point = Point()


def test_a_field_without_annotation_and_a_ghost_without_default_are_refused():
    with pytest.raises(BadField, match="no type"):

        class Bad(Service):
            votes = state(set)

    with pytest.raises(BadField, match="ghost without a default"):

        class Worse(Service):
            hops: int = ghost()


def test_a_field_cannot_become_a_method_and_init_cannot_be_defined():
    with pytest.raises(BadField, match="both a field and a method"):

        class Bad(Server):
            def peers(self):
                pass

    with pytest.raises(BadField, match="__init__"):

        class Worse(Service):
            def __init__(self):
                pass


def test_two_handlers_for_one_message_are_refused_also_across_classes():
    with pytest.raises(DuplicateHandler, match="`again` handles `Vote`|`Bad.again`"):

        class Bad(Server):
            @on(Vote)
            def again(self, vote):
                pass


def test_a_handler_is_replaced_by_its_name_with_or_without_its_mark():
    class Silent(Server):
        def vote(self, vote, source):
            pass

    class Deaf(Server):
        vote = None

    assert Silent._presage_shape.handlers[Vote].function is Silent.vote
    assert Deaf._presage_shape.handlers == {}


def test_dispatch_is_by_the_class_and_then_by_its_bases():
    class Message:
        pass

    class Special(Message):
        pass

    class Receiver(Service):
        @on(Message)
        def any(self, message):
            pass

        @on(Vote)
        def vote(self, vote):
            pass

    shape = Receiver._presage_shape
    assert shape.handler(Special).name == "any"
    assert shape.handler(Vote).name == "vote"
    assert shape.handler(int) is None


def define(**attributes):
    return type("Bad", (Service,), attributes)


async def waiting(self, vote):
    pass


def generating(self, vote):
    yield vote


@pytest.mark.parametrize(
    "handler",
    [
        lambda self: None,
        lambda self, vote, source, more: None,
        lambda self, vote, *, option: None,
        waiting,
        generating,
        staticmethod(lambda vote: None),
    ],
)
def test_a_handler_with_a_wrong_signature_is_refused(handler):
    with pytest.raises(BadHandler, match="`Bad.vote`"):
        define(vote=on(Vote)(handler))


def test_a_property_cannot_be_a_handler():
    with pytest.raises(BadSystem, match="`property` cannot be a handler"):
        on(Vote)(property(lambda self: None))


def test_a_handler_asks_for_the_source_by_a_second_parameter():
    service = define(
        one=on(Vote)(lambda self, vote: None), two=on(Other)(lambda self, other, source: None)
    )
    handlers = service._presage_shape.handlers
    assert (handlers[Vote].with_source, handlers[Other].with_source) == (False, True)


@pytest.mark.parametrize("guard", [lambda: True, lambda self, m, source, more: True, "text"])
def test_a_guard_with_a_wrong_signature_is_refused(guard):
    with pytest.raises(BadHandler, match="guard"):
        define(vote=on(Vote, when=guard)(lambda self, vote: None))


def test_the_defaults_of_a_guard_are_its_own():
    guard = on(Vote, when=lambda self, limit=3: True)(lambda self, vote: None)
    assert define(vote=guard)._presage_shape.handlers[Vote].guard_takes == 1


def test_actions_take_a_value_if_and_only_if_they_have_over():
    with pytest.raises(BadHandler, match="parameters for an action"):
        define(go=action(over=[1])(lambda self: None))
    with pytest.raises(BadHandler, match="parameters for an action"):
        define(go=action(lambda self, value: None))
    with pytest.raises(BadHandler, match="neither a collection nor a function"):
        define(go=action(over=3)(lambda self, value: None))
    with pytest.raises(BadHandler, match="guard"):
        define(go=action(when=lambda self, value: True)(lambda self: None))


def test_start_takes_nothing():
    with pytest.raises(BadHandler, match="`Bad.start`"):
        define(start=lambda self, value: None)
    with pytest.raises(BadHandler, match="reserved"):
        define(start=timer(lambda self: None))


def test_messages_must_be_frozen_classes():
    @dataclass
    class Loose:
        n: int

    class Soft(Struct):
        n: int

    class Hard(Struct, frozen=True):
        n: int

    for message in (Loose, Soft, list, dict):
        with pytest.raises(MutableMessage, match=message.__name__):
            define(handle=on(message)(lambda self, m: None))
    with pytest.raises(BadHandler, match="not a class"):
        define(handle=on("vote")(lambda self, m: None))
    define(handle=on(Hard)(lambda self, m: None), other=on(Other)(lambda self, m: None))


def test_an_error_tells_fact_cause_and_way_out():
    with pytest.raises(BadHandler) as caught:
        define(vote=on(Vote)(lambda self: None))
    fact, cause, remedy = str(caught.value).splitlines()
    assert "test_service.py:" in fact
    assert cause.startswith("  usual cause: ")
    assert remedy.startswith("  way out: ")
    assert caught.value.exit_status == 2
