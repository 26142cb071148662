"""A world as a predicate sees it: read-only, each read answered by a `Reader`.

The kernel's reader notes down what was read, so that a verdict can be remembered under it. Hence
nothing is read before it is asked for, and a node's view knows no values, only where they are.

A node's view is an instance of a class made for that node, derived from the user's service class:
methods, properties and `super()` work in it, and its fields are properties that ask the reader.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, NoReturn, Protocol, TypeVar

from presage._core import Reader as NotingReader
from presage.errors import (
    GhostRead,
    PropertyError,
    ReadOnly,
    UnknownNode,
    UnknownObserver,
    did_you_mean,
)
from presage.model.functions import static_attribute
from presage.model.service.automaton import Automaton
from presage.model.service.facilities import PROVIDED, Facilities
from presage.model.service.local_state import Control, Values, is_armed, is_up
from presage.model.service.service import Service
from presage.model.source import caller
from presage.model.world.faults import Partition
from presage.model.world.messages import Messages
from presage.model.world.system import System
from presage.records import NamedTuple

S = TypeVar("S")


class Reader(Protocol):
    """Answers what a view asks about one state. Nodes are given by index."""

    def control(self, node: int, /) -> Control:
        """(status, calls, timers, failure)."""

    def value(self, node: int, position: int, /) -> Any:
        """The value at `position` of a node's local record: 0 is control, 1 the first field."""

    def messages(self, types: tuple[type, ...] | None, /) -> list[tuple[int, int, Any]]:
        """(source, to, message) of all in flight of these classes, ordered by their encoding."""

    def count(self, types: tuple[type, ...] | None, /) -> int:
        """How many there are of these classes."""

    def observer(self, index: int, /) -> Any:
        """An observer's state."""

    def partition(self) -> int:
        """The number of the partition in force, from 1; 0: none."""

    def connection(self, node: int, peer: int, /) -> tuple[bool, bool, list[Any]]:
        """Of the node's end of a stream: open, broken without its knowledge, messages queued."""


class Outside(BaseException):
    """A predicate asks for a node of which nothing is known here, so it cannot say anything.

    Not an `Exception`, so that a predicate's own `except` does not take it for an answer.
    """


class Connection(NamedTuple):
    """One end of a stream."""

    open: bool  # a message was delivered, in either direction, since it was made
    broken: bool  # it is gone, and the node has not heard of it yet
    queued: tuple[Any, ...]  # messages from this end, oldest first


class Readable:
    """What presage gives every node, as far as it can be read: in the place of `Facilities`."""

    __slots__ = ()

    _presage_automaton: Automaton
    _run: Reader

    @property
    def name(self) -> str:
        """The node's name."""
        return self._presage_automaton.name

    @property
    def up(self) -> bool:
        """Whether the node runs."""
        return is_up(self._run.control(self._presage_automaton.index))

    @property
    def timers(self) -> frozenset[tuple[Any, ...]]:
        """The armed timers, each as (name, *args)."""
        return self._run.control(self._presage_automaton.index)[2]

    def armed(self, timer: str | Callable[..., Any], *args: Any) -> bool:
        """Whether the timer is armed with these arguments; without any, with whatever ones."""
        return is_armed(self._run.control(self._presage_automaton.index)[2], timer, args)

    def send(self, to: str, message: Any) -> None:
        """Refused, as everything that would change the world."""
        _refuse("send")

    def choose(self, options: Any, *, weights: Any = None) -> Any:
        """Refused: a verdict does not depend on chance."""
        _refuse("choose")

    def now(self) -> Any:
        """Refused: a verdict does not depend on time."""
        _refuse("now")

    @property
    def random(self) -> Any:
        """Refused: a verdict does not depend on chance."""
        _refuse("random")

    @property
    def stream(self) -> Any:
        """Refused: `world.connection(a, b)` shows what is on a stream."""
        _refuse("stream")

    def arm(self, timer: Any, *args: Any, after: float | None = None) -> None:
        """Refused."""
        _refuse("arm")

    def disarm(self, timer: Any, *args: Any) -> None:
        """Refused."""
        _refuse("disarm")

    def record(self, value: Any) -> None:
        """Refused."""
        _refuse("record")

    def log(self, text: str) -> None:
        """Says nothing: a property may call the service's own methods, which may log."""


class BehindView(Readable):
    """The same, out of reach of a user's fields: `node.presage`."""

    __slots__ = ("_presage_automaton", "_run")

    def __init__(self, automaton: Automaton, reader: Reader) -> None:
        self._presage_automaton = automaton
        self._run = reader


class NodeView(Readable):
    """One node, read-only. Its reader is in the slot where a running service has its `Run`."""

    __slots__ = ()

    @property
    def presage(self) -> BehindView:
        """What presage knows of the node: also where a field is called `name` or `up`."""
        return BehindView(self._presage_automaton, self._run)

    def __getattr__(self, attribute: str) -> Any:
        fields = type(self)._presage_automaton.fields
        raise AttributeError(
            f"node `{name_of(self)}` has no field or method `{attribute}`;"
            f" it is a `{type(self).__name__}`{did_you_mean(attribute, fields)}"
        )

    def __setattr__(self, attribute: str, value: Any) -> None:
        _refuse(attribute)

    def __delattr__(self, attribute: str) -> None:
        _refuse(attribute)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {name_of(self)}>"


def name_of(node: Any) -> str:
    """The name of the node, or process, that a view shows, whatever fields it has."""
    automaton = getattr(type(node), "_presage_automaton", None)
    name: str = node._name if automaton is None else automaton.name
    return name


def _refuse(what: str) -> NoReturn:
    raise ReadOnly(
        f"{caller()}: a property changes the world: `{what}`",
        "a method that was written for handlers is called in a property",
        "let properties only read; compute on copies",
    )


def view_class(automaton: Automaton) -> type[Any]:
    index = automaton.index
    attributes: dict[str, Any] = {"__slots__": (), "_presage_automaton": automaton}
    for facility in PROVIDED:  # a method of the user's class called so, if it has one
        own = static_attribute(automaton.service, facility)
        if own is not vars(Facilities)[facility]:
            attributes[facility] = own
    for field, position in automaton.positions.items():
        ghost = position in automaton.ghosts
        attributes[field] = _ghost(automaton, field) if ghost else _reading(index, position)
    return types.new_class(
        automaton.service.__name__,
        (NodeView, automaton.service),
        {"view": True},
        lambda namespace: namespace.update(attributes),
    )


def _reading(index: int, position: int) -> property:
    def read(view: Any) -> Any:
        return view._run.value(index, position)

    return property(read)


def _ghost(automaton: Automaton, field: str) -> property:
    def refuse(view: Any) -> NoReturn:
        raise GhostRead(
            f"{caller()}: a property reads the ghost `{automaton.service.__name__}.{field}`",
            "a ghost's value differs between worlds that count as one state",
            f"declare `{field}` as a plain field, or leave it out of the property",
        )

    return property(refuse)


_new = object.__new__
# Sets the slot of a view past its own `__setattr__`, which refuses.
_attach: Callable[[Any, Reader], None] = Service._run.__set__


class LocalReader:
    """Answers for one node alone, out of its values; nothing else is asked of a node's view."""

    __slots__ = ("_values",)

    def __init__(self, values: Values) -> None:
        self._values = values

    def control(self, node: int, /) -> Control:
        return self._values[0]  # type: ignore[no-any-return]

    def value(self, node: int, position: int, /) -> Any:
        return self._values[position]


def node_view(automaton: Automaton, seen: Reader | Values) -> Any:
    """The node of `automaton`, as a reader answers for it, or as its values are."""
    return _view(automaton, LocalReader(seen) if isinstance(seen, list) else seen)


def _view(automaton: Automaton, reader: Any) -> Any:
    cls = automaton.view
    if cls is None:
        cls = automaton.view = view_class(automaton)
    view = _new(cls)
    _attach(view, reader)
    return view


def neighbour(view: Any, name: str) -> Any:
    """The node called `name` in the world that `view`, a node's, belongs to."""
    automaton: Automaton = type(view)._presage_automaton
    if isinstance(view._run, LocalReader):
        raise PropertyError(
            f"{caller()}: node `{automaton.name}` is looked at alone, without `{name}`",
            "a property about one step of one node follows a pointer to another node",
            "state it about worlds, with `@always`",
        )
    if name not in automaton.names:
        raise UnknownNode(name, automaton.names, f"{caller()}: a pointer of `{automaton.name}`")
    index = automaton.names.index(name)
    if index in automaton.outside:
        raise Outside(name)
    return node_view(automaton.siblings[index], view._run)


class WorldView:
    """A world, read-only. Holds no values, so it stays true to whatever its reader answers."""

    __slots__ = ("_nodes", "_reader", "_system", "asked_messages")

    def __init__(self, system: System, reader: Reader) -> None:
        self._system = system
        self._reader = reader
        self.asked_messages = False  # whether somebody has looked at what is in flight
        self._nodes: tuple[Any, ...] | None = None

    @property
    def nodes(self) -> tuple[Any, ...]:
        """Every node of which something is known, in the order of `System(nodes=...)`."""
        if self._nodes is None:
            reader, outside = self._reader, self._system.outside
            known = self._system.automata
            if outside:
                known = tuple([each for each in known if each.name not in outside])
            self._nodes = tuple([_view(each, reader) for each in known])
        return self._nodes

    def up(self) -> tuple[Any, ...]:
        """The nodes that are up."""
        return tuple([node for node in self.nodes if node.presage.up])

    def __getitem__(self, name: str) -> Any:
        index = self._system.indices.get(name)
        if index is None:
            by_number = f" (by number: `world.nodes[{name}]`)" if isinstance(name, int) else ""
            where = f"{caller()}: `world[{name!r}]`{by_number}"
            raise UnknownNode(name, self._system.names, where)
        if self._system.outside:
            self._need(name)
            return node_view(self._system.automata[index], self._reader)
        return self.nodes[index]

    def _need(self, *names: str) -> None:
        """Raise if nothing is known of a node."""
        for name in names:
            if name in self._system.outside:
                raise Outside(name)

    def __iter__(self) -> NoReturn:
        raise TypeError("a world cannot be iterated: its nodes are `world.nodes`")

    def of(self, service: type[S]) -> tuple[S, ...]:
        """The nodes whose service is `service`, or derived from it."""
        return tuple([node for node in self.nodes if isinstance(node, service)])

    def messages(self, *types: type) -> Messages:
        """What is in flight of these classes (of any, if none is named), in canonical order."""
        self.asked_messages = True
        return Messages(self._reader, self._system.names, types or None)

    @property
    def partition(self) -> Partition | None:
        """The partition in force; None while the network is whole."""
        ways = self._system.faults.partitions
        number = self._reader.partition() if ways else 0
        return ways[number - 1] if number else None

    def connection(self, node: str, peer: str) -> Connection:
        """The stream between two nodes, as it is at the end of `node`."""
        indices = self._system.indices
        for name in (node, peer):
            if name not in indices:
                raise UnknownNode(name, self._system.names, f"{caller()}: `world.connection`")
        self._need(node, peer)
        if self._system.streams is None:
            return Connection(False, False, ())
        opened, broken, queued = self._reader.connection(indices[node], indices[peer])
        return Connection(opened, broken, tuple(queued))

    def observer(self, name: str) -> Any:
        """The state of an observer."""
        for index, known in enumerate(self._system.observers):
            if known == name:
                if not self._system.observed_known:
                    raise Outside(name)
                return self._reader.observer(index)
        known_names = ", ".join(f"`{known}`" for known in self._system.observers) or "none"
        raise UnknownObserver(
            f"{caller()}: there is no observer {name!r}; there are: {known_names}",
            "a misspelt name, or an observer left out of the system",
            f'`System(observers={{"{name}": ...}})`',
        )

    def __getattr__(self, attribute: str) -> Any:
        names = () if attribute.startswith("_") else self._system.names
        if attribute in names:
            hint = f"; the node is `world[{attribute!r}]`"
        else:
            public = [each for each in dir(type(self)) if not each.startswith("_")]
            hint = did_you_mean(attribute, [*names, *public])
        raise AttributeError(f"a world has no attribute `{attribute}`{hint}")

    def __repr__(self) -> str:
        return f"<World of {self._system.name}>"


def apart(seen: Any) -> Any:
    """The same, for reads that are not to be noted as reads of the predicate that was given it."""
    if isinstance(seen, WorldView) and isinstance(seen._reader, NotingReader):
        return WorldView(seen._system, seen._reader.apart())
    return seen
