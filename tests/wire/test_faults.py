"""Faults of nodes, and what a report says of those that happened and of those that did not."""

import random

import pytest
from wire.talking import Story, everywhere, talk

from presage import Faults, Partition, Trace, World, always, check, replay, step
from presage._core import FAULTS
from presage.errors import BadSystem, NotEnabled
from presage.model.world.event import KINDS, Cut, Heal, Idle, Reset, SilentReset, Split
from presage.model.world.faults import PROGRAM_FAULTS
from presage.trace.codec import read, write
from presage.ui.summary import render
from presage.ui.theme import Theme

ALL = Faults(
    crash=1,
    restart=1,
    drop=1,
    duplicate=1,
    reset=1,
    silent_reset=1,
    cut=1,
    idle_close=1,
    partition=1,
    heal=1,
    partitions=[Partition({"l": ["a"], "r": ["b"]})],
    slow=1,
)


def test_a_reset_is_a_crash_and_a_restart_in_one():
    """Mutation: keep volatile fields, lose durable ones, leave `start` out, leave the node down."""
    system = talk({"a": [("say", "a", "x")]}, faults=Faults(reset=1))
    story = Story(system).happen("a call", "a receive", "a reset")
    assert (story["a"].up, story["a"].lives, story["a"].heard) == (True, 2, [])
    assert not story.can("a reset") and not story.can("b reset")
    everywhere(system)


def test_only_the_nodes_named_are_reset():
    """Mutation: let any node be reset."""
    system = talk({}, faults=Faults(reset=1, silent_reset=1, crash=1, nodes=["b"]))
    possible = ["b crash crash", "b reset reset", "b silent reset, nobody told"]
    assert Story(system).possible == possible
    everywhere(system)


def test_a_new_life_is_no_step_that_a_step_property_is_asked_about():
    """Mutation: compare the fields of two lives."""

    @step
    def remembers(before, after) -> bool:
        return len(after.heard) >= len(before.heard)

    calls = {"a": [("say", "b", "x")]}
    faults = Faults(reset=1, silent_reset=1)
    system = talk(calls, faults=faults, properties=[remembers])
    check(system, traces=None).assert_holds()
    everywhere(system)


def test_every_fault_that_happened_is_counted():
    """Mutation: count candidates of another kind, or not at all."""
    calls = {"a": [("say", "b", "x"), ("shout", "b", "y")]}
    report = check(talk(calls, faults=ALL), states=20_000, traces=None)
    assert set(report.faults) == set(FAULTS) - set(PROGRAM_FAULTS)
    assert min(report.faults.values()) > 0


def test_a_fault_that_never_happened_is_said_loudly():
    """Mutation: leave a configured fault out of the report."""
    faults = Faults(cut=1, idle_close=1, silent_reset=1, reset=1)
    report = check(talk({}, nodes="a", faults=faults), traces=None)
    assert report.faults == {"reset": 2, "silent_reset": 2, "cut": 0, "idle_close": 0}
    told = render(report, Theme(width=100, colour=False))
    assert "warning: no cut ever happened" in told
    assert "warning: no idle_close ever happened" in told


@pytest.mark.parametrize("fault", ["cut", "idle_close", "silent_reset"])
def test_what_happens_to_connections_needs_streams(fault):
    from wire.talking import Talker

    from presage import System

    with pytest.raises(BadSystem, match="without streams"):
        System(nodes={"a": Talker()}, faults=Faults(**{fault: 1}))


def test_what_cannot_happen_is_refused():
    world = World.initial(talk({}, faults=ALL))
    for event in (Cut("a", "b"), Idle("a", "b"), Heal(), Split("elsewhere")):
        with pytest.raises(NotEnabled):
            world.apply(event)
    world = World.initial(talk({}))
    for event in (Reset("a"), SilentReset("a")):
        with pytest.raises(NotEnabled):
            world.apply(event)


@always
def fine(world) -> bool:
    return True


def wandering(system, seed):
    """The steps of a random walk over live worlds."""
    dice, world, steps = random.Random(seed), World.initial(system), []
    initial = world.fingerprint
    while len(steps) < 30 and (events := world.enabled()):
        event = dice.choice(events)
        steps.append(world.apply(event, dice.choice(world.runs(event))))
    return initial, steps


def test_traces_with_every_kind_of_event_replay_from_their_files(tmp_path):
    """Mutation: write down an event so that it cannot be told from another."""
    calls = {"a": [("say", "b", "x"), ("shout", "b", "x")], "b": [("say", "a", "y")]}
    system = talk(calls, faults=ALL, properties=[fine], skip_noops=False)
    seen = set()
    for seed in range(100):
        initial, steps = wandering(system, seed)
        trace = Trace.of(system, steps, initial=initial, prop="fine", kind="safety", message="")
        again = read(write(trace, tmp_path / "some.trace"))
        assert replay(system, again).steps == tuple(steps)
        seen |= {step.kind for step in again.steps}
    assert seen == set(KINDS) - {"timer", "action", "write", *PROGRAM_FAULTS}
