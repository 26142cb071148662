"""Which nodes of a system may change places, checked as far as can be known before a search.

Nodes are interchangeable if exchanging their names everywhere gives the same system again. A name
is wherever a string that equals it is: in a field, a message, a record, an argument of a call.

A field that lists nodes in an order, such as `peers=("b", "c")`, is not the same after an exchange,
only the same up to order. It is *settled*: it may never change, and a node that takes another's
place finds there what that place has. Whether steps and properties agree is seen in the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from presage._core import Codec
from presage.errors import NotSymmetric, UnknownNode
from presage.model.service.automaton import Automaton
from presage.records import NamedTuple


class System(Protocol):
    """What has to be known of a system while it is being made."""

    names: tuple[str, ...]
    indices: dict[str, int]
    automata: tuple[Automaton, ...]
    codec: Codec
    nodes: Any
    faults: Any
    observers: Any

    @property
    def observed(self) -> Any: ...

    def index(self, name: str, /) -> int: ...


class Symmetric(NamedTuple):
    """Groups of interchangeable nodes, by index."""

    groups: tuple[tuple[int, ...], ...] = ()
    settled: tuple[frozenset[int], ...] = ()  # per node: positions in its values


def symmetric(system: System, groups: Any) -> Symmetric:
    """The groups that `System(symmetric=...)` names; refuses what is not interchangeable."""
    named = _named(system, groups)
    settled: list[set[int]] = [set() for _ in system.names]
    for group in named:
        for one, other in zip(group, group[1:], strict=False):
            _check_alike(system, one, other)
            _check_names(system, one, other)
            _check_exchange(system, {one: other, other: one}, settled)
    for group in named:
        together = set().union(*(settled[system.index(name)] for name in group))
        for name in group:
            settled[system.index(name)] = together
    indices = tuple(tuple(map(system.index, group)) for group in named)
    return Symmetric(indices, tuple(map(frozenset, settled)))


def _named(system: System, groups: Any) -> list[tuple[str, ...]]:
    named: list[tuple[str, ...]] = []
    taken: set[str] = set()
    if isinstance(groups, str) or any(isinstance(group, str) for group in groups):
        _refuse(
            f"`symmetric={groups!r}` is not a list of groups",
            "one group without its own brackets",
            '`symmetric=[["a", "b"]]`: a list of groups, each a list of names',
        )
    for group in groups:
        for name in group:
            if name not in system.indices:
                raise UnknownNode(name, system.names, "`System(symmetric=...)`")
            if name in taken:
                _refuse(
                    f"`symmetric` names node `{name}` twice",
                    "one node in two groups",
                    "put all nodes that may change places with each other into one group",
                )
            taken.add(name)
        if len(group) > 1:
            named.append(tuple(group))
    return named


def _check_alike(system: System, one: str, other: str) -> None:
    services = [type(system.nodes[name]).__name__ for name in (one, other)]
    if type(system.nodes[one]) is not type(system.nodes[other]):
        _differ((one, other), f"`{one}` is a `{services[0]}`, `{other}` a `{services[1]}`")
    exposed = system.faults.nodes
    if exposed is not None and (one in exposed) != (other in exposed):
        _differ((one, other), "only one of them may crash, be reset or slow")


def _check_names(system: System, one: str, other: str) -> None:
    for automaton in system.automata:
        disks = {automaton.fields[position - 1] for position in automaton.disks}
        for name in {one, other} & {*automaton.shape.timers, *automaton.shape.actions, *disks}:
            _refuse(
                f"`{name}` is both a node and a timer, action or disk of"
                f" `{automaton.service.__name__}`",
                "a string that equals a node's name counts as that name, and would be exchanged",
                "rename the node",
            )


def _check_exchange(system: System, names: Mapping[str, str], settled: list[set[int]]) -> None:
    """Nothing that is known of the system may change when `names` are exchanged."""
    codec = system.codec
    for automaton in system.automata:
        image = system.automata[system.index(names.get(automaton.name, automaton.name))]
        for position in range(1, len(automaton.fields) + 1):
            if position in automaton.ghosts:
                continue
            renamed = codec.decode(
                codec.rename(codec.encode(automaton.initial()[position]), dict(names))
            )
            there = image.initial()[position]
            if codec.encode(renamed) == codec.encode(there):
                continue
            if _loose(system, renamed) != _loose(system, there):
                _distinguished(automaton, image, position, names)
            settled[automaton.index].add(position)
            settled[image.index].add(position)
        calls = [(each.method, codec.encode(each.args)) for each in automaton.workload]
        renamed_calls = [(method, codec.rename(args, dict(names))) for method, args in calls]
        if renamed_calls != [(each.method, codec.encode(each.args)) for each in image.workload]:
            _differ(names, f"the calls of `{automaton.name}` are not those of `{image.name}`")
    for way in system.faults.partitions:
        for one in system.names:
            for other in system.names:
                moved = (names.get(one, one), names.get(other, other))
                if way.severs(one, other) != way.severs(*moved):
                    _differ(names, "a partition has them on different sides")
    for name, state in zip(system.observers, system.observed(), strict=True):
        encoded = codec.encode(state)
        if codec.rename(encoded, dict(names)) != encoded:
            _differ(names, f"the initial state of observer `{name}` tells them apart")


def _loose(system: System, value: Any) -> bytes:
    """A value without the order of its lists and tuples."""
    encode = system.codec.encode
    if type(value) in (tuple, list):
        return encode(("sequence", *sorted(_loose(system, item) for item in value)))
    if type(value) is dict:
        pairs = ((_loose(system, key), _loose(system, each)) for key, each in value.items())
        return encode(("mapping", *sorted(pairs)))
    return encode(value)


def _distinguished(
    automaton: Automaton, image: Automaton, position: int, names: Mapping[str, str]
) -> NoReturn:
    field = automaton.fields[position - 1]
    here, there = automaton.initial()[position], image.initial()[position]
    said = f"`{automaton.name}.{field}` is {here!r}"
    if image is automaton:
        fact = f"{said}, which is not the same with their names exchanged"
    else:
        fact = f"{said} and `{image.name}.{field}` is {there!r}"
    _differ(names, fact)


def _differ(names: Iterable[str], fact: str) -> NoReturn:
    one, other = names
    _refuse(
        f"`{one}` and `{other}` are declared interchangeable, but {fact}",
        "nodes with different settings, numbers instead of names, or a wiring such as a ring",
        "give them equal settings up to their names, or take one of them out of `symmetric`",
    )


def _refuse(fact: str, cause: str, remedy: str) -> NoReturn:
    raise NotSymmetric(fact, cause, remedy)


def exchanged(names: Sequence[str], places: Sequence[int]) -> dict[str, str]:
    """The names that a permutation of nodes moves, and where to."""
    return {names[at]: names[to] for at, to in enumerate(places) if at != to}
