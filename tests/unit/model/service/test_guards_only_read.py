"""A guard, or `over`, that changes the node it is asked about is an error."""

import pytest

from presage import Call, Service, System, action, check, on, state
from presage.errors import GuardError


def sets(self, *_) -> bool:
    self.n = 1
    return True


def adds(self, *_) -> bool:
    self.held.append(1)
    return True


def grows(self, *_) -> bool:
    self.extra = 1
    return True


def loses(self, *_) -> bool:
    del self.n
    return True


WRITING = {sets: "sets `self.n`", adds: "changes what", grows: "sets `self.extra`"}
WRITING[loses] = "sets `self.n`"
EVENTS = ("a delivery", "an action", "an action with a value", "a call", "over")


def system(guard, event: str) -> System:
    def over(self):
        return (1,) if guard(self) else ()

    class Node(Service):
        n: int = 0
        held: list[int] = state(list)

        def begin(self) -> None:
            self.send("a", 1)

        @on(int, when=guard if event == "a delivery" else None)
        def take(self, message: int) -> None:
            pass

        @action(when=guard if event == "an action" else lambda self: False)
        def act(self) -> None:
            pass

        @action(
            over=over if event == "over" else (1,),
            when=guard if event == "an action with a value" else lambda self, value: False,
        )
        def act_on(self, value: int) -> None:
            pass

    when = guard if event == "a call" else None
    return System({"a": Node()}, calls={"a": [Call("begin", when=when)]})


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("guard", WRITING, ids=lambda guard: guard.__name__)
def test_a_guard_that_writes_is_refused_with_its_line(guard, event):
    with pytest.raises(GuardError) as refused:
        check(system(guard, event), traces=None)
    assert WRITING[guard] in str(refused.value)
    assert "test_guards_only_read.py:" in str(refused.value)


@pytest.mark.parametrize("event", EVENTS)
def test_a_guard_that_reads_is_not(event):
    check(system(lambda self, *_: self.n == 0 and not self.held, event), traces=None).assert_holds()
