"""What differs between two states in which the same fault was taken for alike.

Nodes are compared in pairs: the one that the fault happens to, and the others by equal roles. Where
both have the same role under their own name, they are a pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Protocol

from presage.model.service.local_state import Values
from presage.model.world.system import System
from presage.records import NamedTuple
from presage.trace.show import show

IN_FLIGHT = "messages in flight"

Message = tuple[int, int, Any]  # source, receiver, message
Seen = tuple[list[Values], list[Any], list[Message]]  # nodes, observers, what is in flight
Difference = tuple[str, str, str]  # where, in the state that was left out, in the one followed


class Side(NamedTuple):
    """The node that the fault happens to, its state, and the role of each node."""

    node: int
    state: Seen
    roles: list[bytes]


class Masking(Protocol):
    """Knows what of a value counts."""

    def fields(self, node: int, values: Values) -> list[bytes]: ...
    def masked(self, node: int, value: Any) -> bytes: ...


def differences(system: System, masking: Masking, one: Side, two: Side) -> tuple[Difference, ...]:
    """What differs: fields, else messages, else what names and observers say."""
    pairs = list(_pairs(one, two))
    found = [each for pair in pairs for each in _fields(system, masking, pair, one, two)]
    found += _types(system, one, two)
    if not found:
        found = list(_contents(system, pairs, one, two))
    return tuple(found)


def _pairs(one: Side, two: Side) -> Iterator[tuple[int, int]]:
    yield one.node, two.node
    left = [node for node in range(len(one.roles)) if node != one.node]
    right = [node for node in range(len(two.roles)) if node != two.node]
    for node in list(left):
        if node in right and one.roles[node] == two.roles[node]:
            left.remove(node)
            right.remove(node)
            yield node, node
    ordered = (sorted(left, key=one.roles.__getitem__), sorted(right, key=two.roles.__getitem__))
    yield from zip(*ordered, strict=True)


def _fields(
    system: System, masking: Masking, pair: tuple[int, int], one: Side, two: Side
) -> Iterator[Difference]:
    """The fields of two nodes that are not the same, names of nodes aside."""
    node, other = pair
    automaton = system.automata[node]
    if automaton.service is not system.automata[other].service:
        return
    values, others = one.state[0][node], two.state[0][other]
    parts = zip(masking.fields(node, values), masking.fields(other, others), strict=True)
    for position, (here, there) in enumerate(parts):
        if here != there:
            yield _shown(automaton.name, system, node, position, values, others)


def _shown(
    name: str, system: System, node: int, position: int, values: Values, others: Values
) -> Difference:
    if position == 0:
        return f"{name}: status, calls and timers", show(values[0][:3]), show(others[0][:3])
    field = system.automata[node].fields[position - 1]
    return f"{name}.{field}", show(values[position]), show(others[position])


def _types(system: System, one: Side, two: Side) -> Iterator[Difference]:
    """The types of the messages to and from the node that the fault happens to."""
    here, there = _counted(one), _counted(two)
    if here != there:
        yield IN_FLIGHT, _listed(here), _listed(there)


def _counted(side: Side) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for source, to, message in side.state[2]:
        if side.node in (source, to):
            found[type(message).__name__, "to it" if to == side.node else "from it"] += 1
    return found


def _listed(found: Counter[tuple[str, str]]) -> str:
    texts = [f"{count} {name} {way}" for (name, way), count in sorted(found.items())]
    return ", ".join(texts) or "none"


def _contents(
    system: System, pairs: list[tuple[int, int]], one: Side, two: Side
) -> Iterator[Difference]:
    """What differs by names of nodes, by what messages say, or for observers."""
    encode = system.codec.encode
    for node, other in pairs:
        values, others = one.state[0][node], two.state[0][other]
        for position in range(min(len(values), len(others))):
            if position and encode(values[position]) != encode(others[position]):
                name = system.automata[node].name
                yield _shown(name, system, node, position, values, others)
    here, there = (sorted(map(encode, side.state[2])) for side in (one, two))
    if here != there:
        texts = [", ".join(sorted(show(each[2]) for each in side.state[2])) for side in (one, two)]
        yield IN_FLIGHT, texts[0], texts[1]
    for name, mine, others in zip(system.observers, one.state[1], two.state[1], strict=True):
        if encode(mine) != encode(others):
            yield f"observer {name}", show(mine), show(others)
