"""Shrinking: fewer steps, the same violation, never more steps."""

from dataclasses import dataclass

import pytest

from presage import Service, System, action, always, check, on, replay, step
from presage.execution.budget import Budget
from presage.execution.confirm import Confirmed
from presage.execution.sandbox import Sandbox
from presage.execution.services import ServiceExecution
from presage.model.world.world import World
from presage.shrink.services import shrink


@dataclass(frozen=True)
class Token:
    pass


class Busy(Service):
    """Two steps matter: `take` twice, after `make`; everything else is padding."""

    noise: int = 0
    turns: int = 0
    made: int = 0
    taken: int = 0

    @action
    def pad(self):
        self.noise = (self.noise + 1) % 50

    @action
    def turn(self):
        self.turns = (self.turns + self.choose([1, 2, 3])) % 50

    @action(when=lambda self: self.made < 2)
    def make(self):
        self.made += 1
        self.send("a", Token())

    @on(Token)
    def take(self, token):
        self.taken += 1


@always
def one_token(world):
    return world["a"].taken < 2


def walked(system, seed=0):
    return check(system, search="walk", seed=seed, traces=None)


def execution(system, prop, labels):
    """A live execution that takes, for each label, the first enabled event so called."""
    with Sandbox() as sandbox:
        world = World.initial(system)
        run = ServiceExecution(system, sandbox, world, prop)
        for label in labels:
            event = next(event for event in world.enabled() if str(event).startswith(label))
            run.apply(event, world.runs(event)[-1])
        why = run.verdict()
    assert why is not None
    initial = World.initial(system).fingerprint
    return Confirmed(prop, why, (), initial, tuple(run.steps))


PADDED = (
    ["pad", "turn"] * 20
    + ["make"]
    + ["turn"] * 15
    + ["make", "pad", "Token"]
    + ["pad"] * 20
    + ["Token"]
)


def test_padding_goes_and_the_violation_stays():
    system = System({"a": Busy()}, properties=[one_token])
    padded = execution(system, one_token, PADDED)
    assert len(padded.steps) > 75
    with Sandbox() as sandbox:
        shorter, done = shrink(system, sandbox, padded)
    assert [str(taken.event) for taken in shorter.steps] == [
        "make",
        "make",
        "Token a -> a",
        "Token a -> a",
    ]
    assert done and (shorter.prop, shorter.why) == (padded.prop, padded.why)
    assert [taken.index for taken in shorter.steps] == [1, 2, 3, 4]


@pytest.mark.parametrize("seed", range(5))
def test_a_violation_found_by_a_walk_is_short_and_replays(seed):
    system = System({"a": Busy()}, properties=[one_token])
    report = walked(system, seed)
    [violation] = report.violations
    assert violation.steps == 4
    assert replay(system, violation.trace).message is not None


def test_a_deep_search_is_shrunk_too():
    system = System({"a": Busy()}, properties=[one_token])
    [violation] = check(system, search="dfs", traces=None).violations
    assert violation.steps == 4


def test_what_is_shortest_already_is_left_alone():
    system = System({"a": Busy()}, properties=[one_token])
    shortest = execution(system, one_token, ["make", "make", "Token", "Token"])
    with Sandbox() as sandbox:
        assert shrink(system, sandbox, shortest) == (shortest, True)


def test_a_step_property_is_shrunk_to_its_step():
    @step
    def noise_grows(before, after):
        return after.noise >= before.noise

    class Small(Busy):
        noise: int = 48

    system = System({"a": Small()}, properties=[noise_grows])
    padded = execution(system, noise_grows, ["turn"] * 30 + ["pad"] + ["turn"] * 30 + ["pad"])
    with Sandbox() as sandbox:
        shorter, done = shrink(system, sandbox, padded)
    assert done and [str(taken.event) for taken in shorter.steps] == ["pad", "pad"]


def test_without_time_the_execution_is_left_as_it_is():
    system = System({"a": Busy()}, properties=[one_token])
    padded = execution(system, one_token, PADDED)
    with Sandbox() as sandbox:
        assert shrink(system, sandbox, padded, Budget(0)) == (padded, False)


def test_a_violation_of_the_initial_state_has_nothing_to_shrink():
    @always
    def never(world):
        return False

    system = System({"a": Busy()}, properties=[never])
    [violation] = walked(system).violations
    assert violation.steps == 0


def test_choices_stay_with_their_steps():
    class Picky(Busy):
        @action
        def turn(self):
            self.turns = self.choose([0, 7, 9])

    @always
    def not_nine(world):
        return world["a"].turns != 9

    system = System({"a": Picky()}, properties=[not_nine])
    for seed in range(3):
        [violation] = walked(system, seed).violations
        [taken] = violation.trace.steps
        assert (taken.label, taken.choices) == ("turn", ((2, 3),))
        assert replay(system, violation.trace).message is not None
