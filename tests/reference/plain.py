"""What the reference explorer works on and gives back, in plain values."""

from copy import deepcopy
from types import SimpleNamespace
from typing import Any, NamedTuple

from presage.model.world.view import WorldView, node_view


class TooLarge(Exception):
    """The system has more states than the caller wants to wait for."""


class Result(NamedTuple):
    states: int
    generated: int
    depth: int
    decided: dict[str, int]  # property -> steps to its first violation, or until it is reached


class State(NamedTuple):
    nodes: tuple[list[Any], ...]
    observers: tuple[Any, ...]
    budgets: tuple[float, ...]
    flying: tuple[tuple[int, int, Any], ...]  # (source, to, message), in the order of sending
    streams: tuple[Any, Any] = ((), frozenset())  # see `wire.Lines`
    split: int = 0  # the partition in force

    def spend(self, fault):
        left = tuple(budget - (at == fault) for at, budget in enumerate(self.budgets))
        return self._replace(budgets=left)


def local(automaton, values):
    """What of a node's values makes its state."""
    return [value for at, value in enumerate(values) if at not in automaton.ghosts]


def is_laned(system, message):
    """Whether a message is part of a lane: it keeps its place there, and is not lost."""
    return system.network == "lanes" and getattr(message, "lane", None) is not None


def channel(system, envelope):
    """What a message in flight keeps its order in; by itself, it has none."""
    source, to, message = envelope
    if is_laned(system, message):
        return system.codec.encode((source, to, message.lane, "lane"))
    return system.codec.encode((source, to) if system.network == "ordered" else envelope)


def key_of(system, state):
    """The canonical form of a whole state."""
    nodes = [*map(local, system.automata, state.nodes)]
    flying = sorted(state.flying, key=lambda f: channel(system, f))  # stable: each keeps its order
    network = [*map(system.codec.encode, flying)]
    streams = (state.streams[0], sorted(state.streams[1]))
    whole = (nodes, state.observers, state.budgets, network, streams, state.split)
    return system.codec.encode(whole)


def view(system, state):
    """The world that `state` is, for predicates; what they read is copied when they do."""

    def messages(types):
        lines = [(*pair, item[1:]) for pair, items in state.streams[0] for item in items]
        every = [*state.flying, *((x, y, *item) for x, y, item in lines if item)]
        found = [each for each in every if isinstance(each[2], types or object)]
        return sorted(deepcopy(found), key=system.codec.encode)

    def connection(node, peer):
        queues, opened = state.streams
        sent, back = [dict(queues).get(at, ()) for at in ((node, peer), (peer, node))]
        messages = [item[1] for item in sent if item[1:]]
        return (node, peer) in opened, bool(back) and not back[0][1:], deepcopy(messages)

    reader = SimpleNamespace(
        control=lambda node: state.nodes[node][0],
        value=lambda node, position: deepcopy(state.nodes[node][position]),
        observer=lambda index: deepcopy(state.observers[index]),
        messages=messages,
        count=lambda types: len(messages(types)),
        connection=connection,
        partition=lambda: state.split,
    )
    return WorldView(system, reader)


def lone_view(automaton, values):
    """One node whose values are `values`, copied when they are read."""
    return node_view(
        automaton,
        SimpleNamespace(
            control=lambda node: values[0],
            value=lambda node, position: deepcopy(values[position]),
        ),
    )
