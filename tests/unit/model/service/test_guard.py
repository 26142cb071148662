"""Guards only look; one that fails, or acts, is an error of the system."""

from dataclasses import dataclass

import pytest

from presage.errors import BadCall, GuardError
from presage.model.service.declare import action, on
from presage.model.service.service import Service
from presage.model.world.system import System


@dataclass(frozen=True)
class Add:
    n: int


@dataclass(frozen=True)
class Do:
    what: str


def test_a_guard_that_raises_or_does_something_is_an_error():
    class Bad(Service):
        @on(Add, when=lambda self: self.missing)
        def add(self, message):
            pass

        @on(Do, when=lambda self: self.send("a", 1))
        def do(self, message):
            pass

        @action(over=lambda self: 3)
        def act(self, value):
            pass

    node = System({"a": Bad()}).automata[0]
    with pytest.raises(GuardError, match=r"test_guard.py:\d+.*AttributeError"):
        node.step(node.initial(), ("deliver", 0, Add(1)))
    with pytest.raises(BadCall, match="a guard uses `self.send`"):
        node.step(node.initial(), ("deliver", 0, Do("x")))
    with pytest.raises(GuardError, match="not iterable"):
        node.stimuli(node.initial())
