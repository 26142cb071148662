"""What a name stands for is found without calling any code of its module."""

import sys
from types import ModuleType

import pytest

from presage.trace.naming import named

SOURCE = """
def __getattr__(name):
    raise AssertionError("a lookup called the module")

class Loud(type):
    def __getattr__(cls, name):
        raise AssertionError("a lookup called the class")

class Outer(metaclass=Loud):
    class Inner:
        @staticmethod
        def call():
            return "called"

value = 1
"""


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType("named_here")
    exec(SOURCE, vars(made))
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


def test_a_path_is_followed_as_it_is_written(module: ModuleType) -> None:
    inner = module.Outer.Inner
    assert named("named_here:Outer.Inner", {}, imports=False) is inner
    assert named("named_here:Outer.Inner.call", {}, imports=False) is inner.call


@pytest.mark.parametrize("path", ["absent", "Outer.absent", "value.real", "Outer.Inner.call.x"])
def test_what_is_not_there_is_told(module: ModuleType, path: str) -> None:
    with pytest.raises(LookupError):
        named(f"named_here:{path}", {}, imports=False)
