"""A trace says which messages went down with their stream: what is left is in flight."""

import random
from collections import Counter

import pytest
from wire.talking import talk

from presage import Faults, Partition, Trace, World
from presage.trace.flow import Flow
from presage.trace.show import show
from presage.trace.trace import TraceStep

FAULTS = Faults(
    crash=1,
    restart=1,
    drop=1,
    duplicate=1,
    reset=2,
    silent_reset=2,
    cut=2,
    idle_close=1,
    partition=1,
    heal=1,
    partitions=[Partition({"l": ["a"], "r": ["b"]})],
)
CALLS = {
    "a": [("say", "b", "x", "y"), ("shout", "b", "z"), ("close", "b", "v"), ("say", "b", "w")],
    "b": [("say", "a", "p", "p"), ("say", "a", "q"), ("close", "a")],
}


def told(system, opening, steps):
    trace = Trace.of(system, steps, initial=0, prop="p", kind="safety", message="")
    return Flow(trace, map(TraceStep.sent, opening))


def under_way(flow):
    waiting = flow._waiting.items()
    return Counter({key: len(flights) for key, flights in waiting if flights})


def in_flight(world):
    decoded = [world.system.codec.decode(each.encoded) for each in world._transport.flying()]
    names = world.system.names
    return Counter((names[source], names[to], show(message)) for source, to, message in decoded)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_not_lost_dropped_or_delivered_is_in_flight(seed):
    system, dice = talk(CALLS, queue_size=2, faults=FAULTS), random.Random(seed)
    world, steps = World.initial(system), []
    while len(steps) < 40 and (events := world.enabled()):
        event = dice.choice(events)
        steps.append(world.apply(event, dice.choice(world.runs(event))))
    assert under_way(told(system, world.opening.sends, steps)) == in_flight(world)


def test_a_cut_names_the_messages_that_it_loses():
    system = talk({"a": [("say", "b", "x"), ("say", "b", "y")]}, faults=Faults(cut=1))
    world = World.initial(system)
    steps = []
    for wanted in ("call", "receive", "call", "cut"):
        event = next(each for each in world.enabled() if each.kind == wanted)
        steps.append(world.apply(event))
    assert [(sent.source, sent.to, sent.message.text) for sent in steps[-1].lost] == [
        ("a", "b", "y")
    ]
    flight = told(system, (), steps).sent[3][0]
    assert (flight.fate, flight.step) == ("lost", 4)
