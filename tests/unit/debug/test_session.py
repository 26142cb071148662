"""A session goes anywhere in a trace on live code, compares every state, and changes nothing."""

import itertools

import msgspec
import pytest
from unit.debug.samples import Client, found, lossy, ordered, session

from presage import System, action, always
from presage.debug.branch import Taken
from presage.debug.walk import draw
from presage.errors import BadCommand, BadTrace, Diverged, Nondeterminism, NotEnabled
from presage.execution.chance import Dice
from presage.execution.replay import replay
from presage.model.world.event import Act, Crash, Drop


class Tireless(Client):
    """Asks a hundred times."""

    @action(when=lambda self: self.asked < 100)
    def ask(self):
        self.asked += 1


@always
def not_tired(world):
    return world["client"].asked < 100


def tireless() -> System:
    return System(nodes={"client": Tireless()}, properties=[not_tired])


def test_worlds_are_saved_every_root_of_n_steps_and_found_again_from_anywhere():
    trace = found(tireless(), "not_tired")
    with session(tireless(), trace) as opened:
        opened.jump(100)
        assert opened.here.saves == tuple(range(0, 101, 10))
        for step in (3, 97, 50, 0, 100, 1):
            opened.jump(step)
            assert opened.here.view(step)["client"].asked == step
            assert opened.here.world(step).fingerprint == opened.here.fingerprint(step)


def test_a_trace_that_the_code_does_not_follow_any_more_is_refused():
    trace = found(ordered(), "in_order")
    with pytest.raises(Diverged, match="the initial state leads"), session(tireless(), trace):
        pass
    steps = list(trace.steps)
    steps[2] = msgspec.structs.replace(steps[2], fingerprint=1)
    with session(ordered(), msgspec.structs.replace(trace, steps=tuple(steps))) as opened:
        opened.jump(2)
        with pytest.raises(Diverged, match="step 3"):
            opened.jump(4)
        assert opened.step == 2
        opened.jump(2)  # and everything before it is as it was
    steps[2] = msgspec.structs.replace(trace.steps[2], detail="Ask(number=7)")
    with session(ordered(), msgspec.structs.replace(trace, steps=tuple(steps))) as opened:
        with pytest.raises(BadTrace, match="step 3 .* is not possible any more"):
            opened.jump(4)


COUNTER = itertools.count(1)


class Fickle(Client):
    """Does what it should as long as nobody looks a second time."""

    wild = False

    @action(when=lambda self: self.asked < 3)
    def ask(self):
        self.asked += next(COUNTER) if Fickle.wild else 1


@always
def asked_twice(world):
    return world["client"].asked < 2


def test_code_that_does_something_else_each_time_is_caught(monkeypatch):
    system = System(nodes={"client": Fickle()}, properties=[asked_twice])
    trace = found(system, "asked_twice")
    with session(system, trace) as opened:
        opened.jump(2)
        monkeypatch.setattr(Fickle, "wild", True)
        opened.jump(1)
        next(COUNTER)
        opened.here.world(0)
        with pytest.raises(Nondeterminism, match="two replays of one step went different ways"):
            opened.jump(2)


def test_what_is_taken_in_the_middle_makes_a_branch_and_leaves_the_trace_as_it_was():
    trace = found(ordered(), "in_order")
    with session(ordered(), trace) as opened:
        opened.jump(2)
        option = opened.options()[0]
        opened.take(option.taken)
        assert (opened.branch, opened.step) == ("b1", 3)
        opened.take(opened.options()[0].taken)
        assert (opened.branch, opened.step) == ("b1", 4)
        opened.jump(3)
        opened.take(opened.options()[1].taken)
        assert (opened.branch, opened.step) == ("b2", 4)
        assert opened.branches["main"].steps == list(trace.steps)
        opened.switch("b1")
        assert opened.as_trace().steps[:2] == trace.steps[:2]
        with pytest.raises(BadCommand, match="no branch `x`"):
            opened.switch("x")


def test_what_cannot_happen_makes_no_branch():
    with session(ordered(), found(ordered(), "in_order")) as opened:
        opened.jump(3)
        opened.take(opened.options()[0].taken)
        opened.take(opened.options()[0].taken)
        branch, step = opened.branch, opened.step
        opened.jump(2)
        with pytest.raises(NotEnabled):
            opened.take(Taken(Act("server", "ask")))
        assert (opened.branch, opened.step, list(opened.branches)) == (branch, 2, ["main", "b1"])
        assert step == 5


def test_a_branch_replays_as_a_trace_unless_it_goes_beyond_the_budget():
    with session(ordered(1), found(ordered(1), "all_answered")) as opened:
        opened.jump(5)
        opened.take(opened.options()[0].taken)
        assert replay(ordered(1), opened.as_trace()).message is None
        told, beyond = opened.fault(Crash("server"))
        assert (told.kind, beyond, opened.beyond) == ("crash", True, [7])
        with pytest.raises(BadTrace, match="step 7 .* is not possible"):
            replay(ordered(1), opened.as_trace())
        opened.jump(0)
        opened.jump(7)  # the debugger itself goes there and back


def test_within_its_budget_a_fault_counts():
    with session(ordered(1), found(ordered(1), "all_answered")) as opened:
        opened.jump(3)
        drop = next(option for option in opened.options() if option.event.kind == "drop")
        _, beyond = opened.fault(drop.event)
        assert not beyond
        assert all(option.event.kind != "drop" for option in opened.options())
        again = next(option for option in opened.options() if option.event.kind == "deliver")
        event = Drop(again.event.node, again.event.source, again.event.message)
        assert opened.fault(event)[1]


def test_chance_is_the_same_for_the_same_seed_and_calm_knows_no_faults():
    trace = found(ordered(1), "all_answered")
    courses = []
    for _ in range(2):
        with session(ordered(1), trace) as opened:
            opened.calm = True
            while opened.random() is not None:
                pass
            courses.append([(s.node, s.kind, s.detail) for s in opened.here.steps])
    assert courses[0] == courses[1]
    assert {kind for _, kind, _ in courses[0]} == {"action", "deliver"}
    assert draw([], Dice(3)) is None


def test_a_loop_that_does_not_close_is_noticed():
    trace = found(lossy(), "served")
    open_ended = msgspec.structs.replace(trace, steps=trace.steps[:1], step=1)
    with session(lossy(), open_ended) as opened:
        opened.jump(1)
        assert opened.forward() == 1  # with a network that duplicates, it is the same state
        assert opened.rounds == 1
