"""What the reference explorer works on and gives back, in plain values."""

from copy import deepcopy
from types import SimpleNamespace
from typing import Any, NamedTuple

from presage.model.view import WorldView, node_view


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

    def spend(self, fault):
        left = tuple(budget - (at == fault) for at, budget in enumerate(self.budgets))
        return self._replace(budgets=left)


def view(system, state):
    """The world that `state` is, for predicates; what they read is copied when they do."""

    def messages(types):
        found = [each for each in state.flying if isinstance(each[2], types or object)]
        return sorted(deepcopy(found), key=system.codec.encode)

    reader = SimpleNamespace(
        control=lambda node: state.nodes[node][0],
        value=lambda node, position: deepcopy(state.nodes[node][position]),
        observer=lambda index: deepcopy(state.observers[index]),
        messages=messages,
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
