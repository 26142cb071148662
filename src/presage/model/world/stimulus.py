"""Events and stimuli are the same thing told twice: to people by name, to an automaton by index."""

from __future__ import annotations

from presage.model.service.local_state import Stimulus
from presage.model.service.stream import LOST
from presage.model.source import place_of
from presage.model.world.event import (
    KINDS,
    MISHAPS,
    OWN,
    Act,
    Deliver,
    Event,
    Fire,
    Heal,
    Lost,
    Made,
    Mail,
    Mishap,
    Own,
    Receive,
    Save,
    Sever,
    Split,
)
from presage.model.world.system import System


def event_of(system: System, node: int, stimulus: Stimulus) -> Event:
    """What `stimulus` is called at a node; for a call, ask `World.next_call`."""
    automaton = system.automata[node]
    kind = stimulus[0]
    if kind == "deliver":
        return Deliver(automaton.name, system.names[stimulus[1]], stimulus[2])
    if kind == "timer":
        return Fire(automaton.name, stimulus[1], tuple(stimulus[2:]))
    if kind == "action":
        return Act(automaton.name, stimulus[1], tuple(stimulus[2:]))
    if kind == "sever":
        return Sever(automaton.name, stimulus[1])
    if kind == "write":
        return Save(automaton.name, stimulus[1], stimulus[2])
    return OWN[kind](automaton.name)


def stimulus_of(system: System, event: Event) -> Stimulus:
    """What the automaton at `event.node` is told."""
    match event:
        case Deliver() | Receive():
            return ("deliver", system.index(event.source), event.message)
        case Lost():
            return ("deliver", system.index(event.peer), LOST)
        case Fire() | Act():
            return (event.kind, event.name, *event.args)
        case Save():
            return ("write", event.disk, event.key)
        case Sever():
            return ("sever", event.connection)
        case Made() | Own():
            return (event.kind,)
    raise AssertionError(f"`{event.kind}` happens to the network, not to a node")


def place_of_handler(system: System, event: Event) -> str:
    """`file:line` of the function that `event` runs; "" if it runs none."""
    if event.kind in MISHAPS:
        return ""
    automaton = system.automata[system.index(event.node)]
    if isinstance(event, Made):
        return place_of(getattr(automaton.service, event.name))
    function = automaton.function(stimulus_of(system, event), [])
    return "" if function is None else place_of(function)


def rank_of(system: System, event: Event) -> tuple[int, int, bytes]:
    """Where `event` stands among others: by kind, node and canonical form."""
    kind, encode = KINDS.index(event.kind), system.codec.encode
    if isinstance(event, Split | Heal):
        return (kind, 0, str(event).encode())
    if isinstance(event, Mail):
        form = encode((system.index(event.source), system.index(event.node), event.message))
    elif isinstance(event, Mishap):
        form = encode(system.index(event.peer))
    else:
        form = encode(stimulus_of(system, event))
    return (kind, system.index(event.node), form)
