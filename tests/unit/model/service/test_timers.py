"""Timers by name, by method and with arguments: which arms are one, and what takes them back."""

import pytest

from presage import check
from presage.errors import BadCall
from presage.model.service.declare import timer
from presage.model.service.service import Service
from presage.model.world.system import Call, System
from presage.model.world.world import World


class Sender(Service):
    """Does to its timers what it is called with."""

    seen: tuple = ()

    @timer
    def retry(self, n=0, *more):
        self.seen += (n,)

    @timer
    def beat(self):
        pass

    def do(self, *steps):
        for what, *args in steps:
            result = getattr(self, what)(*args)
            if what == "armed":
                self.seen += (result,)

    def by_method(self):
        self.arm(self.retry, 1)
        self.arm(self.beat)
        self.seen += (self.armed(self.retry, 1), self.armed(self.beat), self.armed(self.retry, 2))
        self.disarm(self.beat)


def after(*steps, method="do"):
    world = World.initial(System({"a": Sender()}, calls={"a": [Call(method, *steps)]}))
    world.apply(world.next_call("a"))
    return world.view()["a"]


def test_disarm_by_name_takes_back_every_arm_of_that_timer():
    many = [("arm", "retry"), ("arm", "retry", 1), ("arm", "retry", 2, 3), ("arm", "beat")]
    assert after(*many, ("disarm", "retry")).timers == {("beat",)}
    assert after(*many, ("disarm", "retry", 1)).timers == {
        ("retry",),
        ("retry", 2, 3),
        ("beat",),
    }


def test_armed_by_name_asks_whether_some_arm_of_that_timer_is_in_force():
    node = after(("armed", "retry"), ("arm", "retry", 1), ("armed", "retry"), ("armed", "retry", 2))
    assert node.seen == (False, True, False)
    assert node.armed("retry") and node.armed("retry", 1) and not node.armed("retry", 2)


def test_a_timer_is_given_by_its_name_or_as_the_method():
    node = after(method="by_method")
    assert node.seen == (True, True, False)
    assert node.timers == {("retry", 1)}
    assert node.armed(Sender.retry)


@pytest.mark.parametrize(
    ("first", "then"), [(1, True), (True, 1), (1, 1.0), ((1, 2), (True, 2)), (0, False)]
)
@pytest.mark.parametrize("what", ["arm", "disarm", "armed"])
def test_equal_arguments_that_are_not_the_same_are_refused(first, then, what):
    with pytest.raises(BadCall, match=r"test_timers.py:\d+.*equal and not the same"):
        after(("arm", "retry", first), (what, "retry", then))


def test_the_same_arguments_twice_are_one_timer():
    assert after(("arm", "retry", (1, True)), ("arm", "retry", (1, True))).timers == {
        ("retry", (1, True))
    }


@pytest.mark.parametrize("what", ["arm", "disarm", "armed"])
def test_a_timer_that_is_not_there_is_named_with_its_likeliest_spelling(what):
    with pytest.raises(BadCall, match="did you mean `retry`"):
        after((what, "rety"))


@pytest.mark.parametrize("what", ["arm", "disarm", "armed"])
def test_arguments_that_the_method_does_not_take_are_refused(what):
    with pytest.raises(BadCall, match="`beat` cannot be armed with 1 arguments; it takes 0"):
        after((what, "beat", 1))
    with pytest.raises(BadCall, match="mutable argument"):
        after((what, "retry", []))


def test_a_search_explores_timers_disarmed_by_name():
    steps = (("arm", "retry", 1), ("arm", "retry", 2)), (("disarm", "retry"),)
    system = System({"a": Sender()}, calls={"a": [Call("do", *each) for each in steps]})
    report = check(system)
    # called or not; before the second call either, both in either order, or neither has fired
    assert report.exhausted and report.unique == 11
