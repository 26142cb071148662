"""What the kernel is told when it asks Python."""

import pytest

from presage import Service, System, action, always, on, step
from presage.errors import HandlerStuck, Impure, Nondeterminism, NotState, ObserverError
from presage.execution.sandbox import Sandbox
from presage.model.weights import UNIT
from presage.model.world.snapshot import SnapshotReader
from presage.model.world.world import World
from presage.search.kernel.bridge import Bridge

RUNS: list[int] = []


class Node(Service):
    n: int = 0

    def start(self):
        self.n = self.choose([1, 2])

    @action(when=lambda self: self.n > 0)
    def go(self):
        self.n += 1
        self.send("b", "hello")
        self.record(self.n)

    @action(when=lambda self: self.n < 0)
    def drift(self):
        RUNS.append(1)
        self.n = len(RUNS)

    @on(str, when=lambda self, text: self.n == 1)
    def hear(self, text):
        raise ValueError(text)


class Sum:
    def initial(self):
        return 0

    def observe(self, state, node, record):
        if record == "bad":
            raise KeyError(record)
        return state + record


@always
def small(world):
    return world["a"].n < 3


@always
def wrong(world):
    return 1 / world["a"].n > 0


@step
def grows(before, after):
    return after.n > before.n and after.n < 3


@pytest.fixture
def bridge():
    system = System(
        {"a": Node(), "b": Node()},
        properties=[small, wrong, grows],
        observers={"sum": Sum()},
    )
    with Sandbox(seconds=0.3) as sandbox:
        yield Bridge(system, sandbox)


def values(n):
    return lambda: [(1, 0, frozenset(), None), n]


def test_a_node_lists_what_it_can_start_by_itself(bridge):
    assert bridge.stimuli(0, values(1)()) == [(("action", "go"), None)]
    assert bridge.stimuli(0, values(0)()) == []


def test_a_step_gives_every_branch_with_its_choices(bridge):
    branches = bridge.step(0, values(0), ("start",))
    assert [(choices, after[1], broken) for choices, after, _, _, broken, *_ in branches] == [
        ([0], 1, 0),
        ([1], 2, 0),
    ]


def test_a_step_tells_what_was_sent_recorded_and_broken(bridge):
    [(choices, after, sends, records, broken, *_)] = bridge.step(0, values(1), ("action", "go"))
    assert (choices, after[1], sends, records, broken) == ([], 2, [(1, "hello")], [2], 0)
    [(_, _, _, _, broken, *_)] = bridge.step(0, values(2), ("action", "go"))
    assert broken == 1 << 3  # `grows` is the third property; bit 0 is `no_exception`


def test_a_step_tells_what_it_weighs_in_walks(bridge):
    [(*_, plain, calm)] = bridge.step(0, values(1), ("action", "go"))
    assert plain == calm == 40 * UNIT
    first, second = bridge.step(0, values(0), ("start",))
    assert first[-2:] == second[-2:] == (UNIT // 2, UNIT // 2)


def test_a_message_whose_guard_does_not_hold_has_no_branches(bridge):
    assert bridge.step(0, values(0), ("deliver", 1, "hello")) is None


def test_a_failure_breaks_no_exception(bridge):
    [(_, after, sends, records, broken, *_)] = bridge.step(0, values(1), ("deliver", 1, "hello"))
    assert (after[0][0], sends, records, broken) == (2, [], [], 1)


def reader(bridge, choices=(0, 0)):
    return SnapshotReader(bridge.system, World.initial(bridge.system, choices).save())


def test_a_property_is_judged_by_number(bridge):
    assert bridge.judge(1, reader(bridge)) is True
    assert bridge.errors == {}


def test_a_property_that_raises_cannot_be_judged_and_says_where(bridge):
    @always(name="lost")
    def lost(world):
        return {}["key"]

    bridge.properties[1] = lost
    assert bridge.judge(2, reader(bridge)) is None
    assert bridge.judge(2, reader(bridge)) is None
    assert list(bridge.errors) == [2]
    assert "property `lost` raised KeyError: 'key'" in bridge.errors[2]
    assert "test_bridge.py:" in bridge.errors[2]


def test_an_endless_property_ends_the_search(bridge):
    @always
    def endless(world):
        while True:
            pass

    bridge.properties[0] = endless
    with pytest.raises(HandlerStuck):
        bridge.judge(1, reader(bridge))


def test_an_impure_property_ends_the_search(bridge):
    @always
    def late(world):
        import time

        return time.time() > 0

    bridge.properties[0] = late
    with pytest.raises(Impure, match="`time.time`"):
        bridge.judge(1, reader(bridge))


def test_records_are_fed_to_an_observer_in_order(bridge):
    assert bridge.observe(0, 10, [(0, 1), (1, 5)]) == 16
    with pytest.raises(ObserverError, match=r"test_bridge.py:\d+: observer `sum` raised KeyError"):
        bridge.observe(0, 10, [(0, "bad")])


def test_the_field_that_differed_between_two_runs_is_named(bridge):
    with pytest.raises(Nondeterminism, match=r"a: Node, action drift, .* differed in `n`: \d+ and"):
        bridge.impure(0, values(-1), ("action", "drift"))


def test_a_difference_that_does_not_show_again_is_still_an_error(bridge):
    with pytest.raises(Nondeterminism, match="a: Node, action go, .* gave two results"):
        bridge.impure(0, values(1), ("action", "go"))


def test_what_cannot_be_state_is_told_with_class_and_field(bridge):
    with pytest.raises(NotState, match=r"`a: Node\.n\[0\]` holds a `lock`"):
        error = NotState("[0]", "lock", "it is a lock")
        error.position = 1
        bridge.not_state(0, error)
    with pytest.raises(ValueError, match="another error"):
        bridge.not_state(0, ValueError("another error"))


def test_a_fickle_property_is_named_with_its_place(bridge):
    with pytest.raises(
        Nondeterminism, match=r"test_bridge.py:\d+: property `small` read different"
    ):
        bridge.fickle(1)
