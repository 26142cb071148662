"""Constants of modules keep their identity: `self.x is MISSING` is true where it was set."""

import sys
import types
from dataclasses import dataclass
from typing import Any

import pytest

from presage import Service, System, action, always, check, state
from presage._core import Codec
from presage.errors import NotState


class Missing:
    pass


class Color:
    """Compared by identity, and not empty."""

    def __init__(self, name: str) -> None:
        self.name = name


class Slotted:
    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


@dataclass(frozen=True)
class Peer:
    name: str
    rank: int = 0


@dataclass
class Record:
    n: int = 0


class Holder:
    INSIDE = Missing()


MISSING = Missing()
ALIAS = MISSING
BARE = object()
RED, BLUE = Color("red"), Color("blue")
SLOTTED = Slotted("s")
NOBODY = Peer("")
RECORD = Record()


@pytest.mark.parametrize("constant", [MISSING, BARE, RED, BLUE, SLOTTED, NOBODY, Holder.INSIDE])
def test_a_constant_comes_back_as_itself(constant):
    codec = Codec()
    back = codec.decode(codec.encode([constant, {"a": constant}]))
    assert back[0] is constant
    assert back[1]["a"] is constant


def test_constants_are_told_apart():
    codec = Codec()
    assert len({codec.encode(each) for each in (MISSING, RED, BLUE, Holder.INSIDE)}) == 4
    assert codec.encode(MISSING) == codec.encode(ALIAS)


def test_a_constant_by_name_may_be_shared_and_counts_as_immutable():
    codec = Codec()
    assert codec.immutable(codec.encode(MISSING))
    codec.encode_fields([MISSING, [MISSING], RED, RED])


def test_other_instances_are_values_as_before():
    codec = Codec()
    mine = Color("red")
    back = codec.decode(codec.encode(mine))
    assert back is not mine
    assert back is not RED
    assert back.name == "red"
    with pytest.raises(NotState, match="bare `object\\(\\)`"):
        codec.encode(object())


def test_equal_frozen_values_are_one_state_and_come_back_as_the_constant():
    codec = Codec()
    assert codec.encode(Peer("")) == codec.encode(NOBODY)
    assert codec.decode(codec.encode(Peer(""))) is NOBODY
    assert codec.decode(codec.encode(Peer("x"))) == Peer("x")


def test_a_mutable_constant_with_an_equality_is_a_value():
    codec = Codec()
    back = codec.decode(codec.encode(RECORD))
    assert back == RECORD
    assert back is not RECORD


def test_a_constant_that_a_handler_changes_is_refused():
    codec = Codec()
    codec.encode(BLUE)
    BLUE.name = "green"
    try:
        with pytest.raises(NotState, match="a constant of its module, and a handler changed it"):
            codec.encode([BLUE])
    finally:
        BLUE.name = "blue"


def test_a_constant_is_known_by_its_name_in_the_module_of_its_class(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "home_of_none.py").write_text("class None_:\n    pass\nNONE = None_()\n")
    (tmp_path / "a_user_of_none.py").write_text("from home_of_none import NONE\nA = NONE\n")
    import a_user_of_none  # type: ignore[import-not-found]

    codec = Codec()
    data = codec.encode(a_user_of_none.A)
    try:
        assert codec.decode(data) is sys.modules["home_of_none"].NONE
        del sys.modules["a_user_of_none"]
        assert Codec().encode(sys.modules["home_of_none"].NONE) == data
    finally:
        sys.modules.pop("home_of_none", None)


class Slot(Service):
    value: Any = MISSING
    owner: Any = NOBODY
    color: Any = RED
    seen: Any = state(list)

    @action(when=lambda self: self.value is MISSING and self.owner is NOBODY)
    def fill(self) -> None:
        assert self.color is RED
        self.value = 1
        self.color = BLUE

    @action(when=lambda self: self.value is not MISSING)
    def empty(self) -> None:
        assert self.color is BLUE
        self.value = MISSING
        self.color = RED


@always
def red_when_empty(world):
    return (world["n"].value is MISSING) == (world["n"].color is RED)


def test_handlers_guards_and_properties_see_constants_as_themselves():
    report = check(System({"n": Slot()}, properties=[red_when_empty]), traces=None)
    report.assert_holds()
    assert report.unique == 2


@pytest.fixture
def elsewhere(monkeypatch):
    """A module beside this one, with a class: neither has constants yet."""
    module = types.ModuleType("elsewhere")
    module.Held = type("Held", (), {"__module__": "elsewhere", "first": None})
    module.first = None
    monkeypatch.setitem(sys.modules, "elsewhere", module)
    return module


@pytest.mark.parametrize("inside", [False, True])
def test_constants_that_came_between_two_checks_are_seen_by_the_second(elsewhere, inside):
    owner = elsewhere.Held if inside else elsewhere
    before, after = Color("before"), Color("after")
    for constant in (None, before, after):
        owner.first = constant
        codec = Codec()
        for color in (before, after):
            back = codec.decode(codec.encode([color]))[0]
            assert (back is color) == (constant is color)


def test_constants_of_a_module_that_is_gone_are_values_in_the_next_check(elsewhere):
    elsewhere.first = mine = Color("mine")
    codec = Codec()
    assert codec.decode(codec.encode([mine]))[0] is mine
    del sys.modules["elsewhere"]
    codec = Codec()
    assert codec.decode(codec.encode([mine]))[0] is not mine
