"""Steps that depend on the order of a set or dict: collected, with what to change.

The order of a set is nowhere promised, and that of a dict is no part of a state: a search runs
handlers in one order of many. So the kernel runs each step of a node that holds such a container
once more, in a second order. What differs is told here: the handler, the fields whose order
matters, and what came out differently.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Protocol

import msgspec

from presage._core import Codec
from presage.errors import explain
from presage.execution.sandbox import Sandbox
from presage.model.service.automaton import Automaton
from presage.model.service.local_state import Stimulus, Values
from presage.model.source import place_of
from presage.model.world.system import System
from presage.props.property import Property
from presage.records import record
from presage.search.kernel.difference import UNDELIVERABLE, describe, first_effect
from presage.trace.show import declared_fields

FOUND_MAX = 16  # distinct handlers that are told; one is enough to doubt the whole result


class Fresh(Protocol):
    """Gives the values of a local state, as new objects each time."""

    def __call__(self) -> Values: ...

    def usual(self) -> Values:
        """In the canonical order, whichever is in force."""

    def reordered(self, position: int, /) -> Values | None:
        """With one value alone in the second order; None if it has no other."""


class Stored:
    """A local state in canonical form, as `Fresh`."""

    def __init__(self, codec: Codec, values: Sequence[bytes]) -> None:
        self._codec = codec
        self._values = values

    def __call__(self) -> Values:
        return [self._codec.decode(value) for value in self._values]

    def usual(self) -> Values:
        values: Values = self._codec.in_order(self)
        return values

    def reordered(self, position: int, /) -> Values | None:
        value = self._values[position]
        if not self._codec.unordered(value):
            return None
        values = self.usual()
        values[position] = self._codec.reorder(self._codec.decode, value)
        return values


ORDERS, PROCESSES, RUNS, SETS = "orders", "processes", "runs", "sets"
OUTSIDE = "outside"  # something kept outside of fields, which runs before may have changed
ADDRESSES = "`id`, the hash or text of a plain object, a clock"


@record(frozen=True)
class OrderDependent:
    """Code whose outcome depends on the order of a set or dict, or on the process it runs in."""

    code: str  # `Cache.evict`
    place: str  # file:line
    parts: tuple[str, ...]  # `self.d`, `message.votes`: whose order matters
    step: str  # where it was met
    difference: str  # what came out differently, as the end of a sentence
    between: str = ORDERS  # what differed: orders, processes, runs in one, or the order of all sets

    @property
    def is_outside(self) -> bool:
        """Whether it is something kept outside of fields."""
        return self.between == OUTSIDE

    def __str__(self) -> str:
        if self.between == RUNS:
            return explain(
                f"{self.place}: `{self.code}` gives two results: {self.step}, run twice from the"
                f" same state, {self.difference}",
                f"{ADDRESSES}, or something kept outside of fields",
                "use fields only; `self.now()` for a clock, `self.choose` for chance",
            )
        if self.is_outside:
            return explain(
                f"{self.place}: `{self.code}`, which is no field, changed {self.step}: it"
                f" {self.difference}",
                "a global, class attribute, default or closure that keeps something; no state has"
                " it, so each step met what others had left there by chance",
                "make it a field, or a `ghost` field if only people look at it; `functools.cache`"
                " where it only saves time",
            )
        if self.between == PROCESSES:
            return explain(
                f"{self.place}: `{self.code}` depends on the process it runs in: {self.step}, under"
                f" another hash seed, {self.difference}",
                f"the order of a set that the code makes itself, or what a process has of its own:"
                f" {ADDRESSES}",
                "`sorted(...)` or `min(...)` where such a set is iterated; a field, `self.now()` or"
                " `self.choose` for the rest",
            )
        if self.between == SETS:
            return explain(
                f"{self.place}: `{self.code}` depends on the order of a set that it makes:"
                f" {self.step}, with sets iterated backwards, {self.difference}",
                "the order of a set depends on the hash seed of the process, and on addresses",
                "`sorted(...)` or `min(...)` where such a set is iterated",
            )
        parts = " and ".join(f"`{part}`" for part in self.parts) or "a set or dict"
        return explain(
            f"{self.place}: `{self.code}` depends on the order of {parts}: {self.step}, in another"
            f" order, {self.difference}",
            "the order of a set or dict is no part of a state, so only one order was explored",
            "`sorted(...)` or `min(...)` where no order is meant; an `OrderedDict` or a list, which"
            " keep theirs, where one is",
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"parts": list(self.parts)}


class Orders:
    """What was found of one system, the first step of each piece of code."""

    def __init__(self, system: System, sandbox: Sandbox) -> None:
        self._system = system
        self._run = sandbox.run
        self._known: set[str] = set()
        self.found: list[OrderDependent] = []

    def add_step(self, node: Automaton, fresh: Fresh, stimulus: Stimulus) -> bool:
        """Tell of a step that does something else in the second order; False if it does not."""
        if node.opaque:  # it does not see the values, so neither their order
            return False
        function = node.function(stimulus, fresh())
        code = f"{node.service.__name__}.{getattr(function, '__name__', stimulus[0])}"
        if code in self._known:
            return True
        usual = self._run(node.branches, fresh, stimulus)

        def difference(values: Callable[[], Values]) -> str | None:
            outcomes = self._run(node.branches, values, stimulus)
            return first_effect(node, self._system.network, usual, outcomes)

        def reordered(values: Callable[[], Values]) -> str | None:
            codec = self._system.codec
            cause = codec.decode(codec.encode(stimulus))
            outcomes = self._run(node.branches, values, cause)
            return first_effect(node, self._system.network, usual, outcomes)

        reorder = self._system.codec.reorder
        found: str | None = reorder(reordered, fresh)
        if found is None:
            return False
        parts = self._parts(node, fresh, difference)
        if reorder(reordered, fresh.usual) is not None:
            parts += self._given(stimulus)
        parts = parts or self._unordered(node, fresh)
        if found == UNDELIVERABLE and (guard := guard_of(node, stimulus)) is not None:
            function, code = guard, f"{code}, `when`"
        place = node.name if function is None else place_of(function)
        step = describe(node, stimulus, self._system.names)
        self.add(OrderDependent(code, place, tuple(parts), step, found))
        return True

    def add_guards(self, node: Automaton, fresh: Fresh) -> None:
        """Tell of guards that let a node do other things by itself in the second order."""
        encode = self._system.codec.encode

        def listed(values: Values) -> dict[bytes, Stimulus]:
            found = self._run(node.stimuli, values)
            return {encode(stimulus): stimulus for stimulus, _ in found}

        def difference(values: Callable[[], Values]) -> dict[bytes, Stimulus]:
            other = listed(values())
            both = usual | other
            return {key: both[key] for key in usual.keys() ^ other.keys()}

        usual = listed(fresh())
        found = self._system.codec.reorder(difference, fresh)
        for stimulus in found.values():
            function = node.function(stimulus, fresh())
            name = getattr(function, "__name__", stimulus[0])
            code = f"{node.service.__name__}.{name}, `when` and `over`"
            asked = next(filter(callable, guards_of(node, stimulus, fresh())), function)
            place = node.name if asked is None else place_of(asked)
            parts = self._parts(node, fresh, difference) or self._unordered(node, fresh)
            step = describe(node, stimulus, self._system.names)
            text = "could happen once and once not"
            self.add(OrderDependent(code, place, tuple(parts), step, text))

    def add_property(self, prop: Property, parts: Sequence[str] = ()) -> None:
        """Tell of a property whose verdict is another one in the second order."""
        text = "gave another verdict"
        self.add(OrderDependent(prop.name, prop.source, tuple(parts), "the property", text))

    def add_observer(self, name: str, observer: Any) -> None:
        """Tell of an observer that is left in another state in the second order."""
        place = place_of(type(observer).observe)
        text = "was left in another state"
        self.add(OrderDependent(f"{type(observer).__name__}.observe", place, (), name, text))

    def saved(self) -> list[dict[str, Any]]:
        """What a checkpoint keeps: a step that a search has met is not run again."""
        return [found.to_json() for found in self.found]

    def recall(self, saved: list[dict[str, Any]]) -> None:
        for found in msgspec.convert(saved, list[OrderDependent]):
            self.add(found)

    def add(self, found: OrderDependent) -> None:
        """Tell of it, unless something is known of the same code."""
        if found.code not in self._known and len(self.found) < FOUND_MAX:
            self._known.add(found.code)
            self.found.append(found)

    def _parts(
        self, node: Automaton, fresh: Fresh, differs: Callable[[Callable[[], Values]], Any]
    ) -> list[str]:
        """The fields whose order alone makes a difference."""
        return [
            name
            for position, name in enumerate(["self.timers", *(f"self.{f}" for f in node.fields)])
            if fresh.reordered(position) is not None
            and differs(partial(_reordered, fresh, position))
        ]

    def _unordered(self, node: Automaton, fresh: Fresh) -> list[str]:
        """The fields whose order may make a difference, together."""
        return self._parts(node, fresh, lambda values: True)

    def _given(self, stimulus: Stimulus) -> list[str]:
        """The parts of what a handler is given that have a second order."""
        if stimulus[0] != "deliver":
            return ["the arguments" if stimulus[0] in ("call", "timer", "action") else "the start"]
        message, codec = stimulus[2], self._system.codec
        names = [name for name in declared_fields(type(message)) or () if hasattr(message, name)]
        parts = [name for name in names if codec.unordered(codec.encode(getattr(message, name)))]
        return [f"message.{name}" for name in parts] or ["message"]


def _reordered(fresh: Fresh, position: int) -> Values:
    values = fresh.reordered(position)
    assert values is not None, "it was asked whether there is one"
    return values


def guard_of(node: Automaton, stimulus: Stimulus) -> Callable[..., Any] | None:
    handler = node.shape.handler(type(stimulus[2])) if stimulus[0] == "deliver" else None
    return handler.guard if handler else None


def guards_of(node: Automaton, stimulus: Stimulus, values: Values) -> list[Any]:
    """What decides whether a node can do something by itself."""
    if stimulus[0] == "action":
        action = node.shape.actions[stimulus[1]]
        return [action.over, action.guard]
    if stimulus[0] == "call":
        return [node.workload[values[0][1]].when]
    return []
