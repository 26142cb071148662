"""Say why nodes that were declared interchangeable are not: the step, observer or property.

The kernel calls these methods when it has found two arrangements that differ. Each raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from presage.errors import NotSymmetric
from presage.model.service.local_state import Outcome, Stimulus, Values
from presage.model.world.symmetry import exchanged
from presage.model.world.system import System
from presage.props.property import Property
from presage.search.kernel.difference import describe, first_difference

CAUSE = (
    "code that compares or sorts names, takes a node by its place in a list, or keeps a name"
    " inside a longer text"
)
REMEDY = "treat the nodes alike, or take them out of `System(symmetric=...)`"

Fresh = Callable[[], Values]


class Asymmetry:
    """The part of a bridge that explains. Whoever inherits has these."""

    system: System
    properties: list[Property]
    _run: Callable[..., Any]

    def unsettled(self, node: int, field: int) -> NoReturn:
        """A field that lists nodes in an order was changed."""
        place = self.system.automata[node].place(field)
        raise NotSymmetric(
            f"`{place}` lists interchangeable nodes in an order, and was changed",
            "a list of names that is part of the state",
            "keep the names in a set, or take the nodes out of `System(symmetric=...)`",
        )

    def asymmetric_property(self, at: int, places: Sequence[int]) -> NoReturn:
        """A property's verdict depends on which node is which."""
        prop = self.properties[at - 1]
        pair = self._pair(places)
        raise NotSymmetric(
            f"{prop.source}: property `{prop.name}` gives another verdict when {pair} are"
            " exchanged, although they are declared interchangeable",
            "a predicate that asks for a node by its name or its place, or compares names",
            "let it speak of all those nodes alike, or check without symmetry",
        )

    def asymmetric_start(self, node: int, image: int, places: Sequence[int]) -> NoReturn:
        """Two nodes do not start alike."""
        names = self.system.names
        if node == image:
            self._raise(places, f"`{names[node]}` tells them apart when it starts")
        self._raise(places, f"`{names[node]}` and `{names[image]}` do not start alike")

    def asymmetric_begin(self, places: Sequence[int]) -> NoReturn:
        """The initial states are not the same ones after an exchange."""
        self._raise(places, "the states in which the system begins are not the same ones")

    def asymmetric_observer(self, places: Sequence[int], slot: int, state: Any) -> NoReturn:
        """An observer treats two nodes differently."""
        name = list(self.system.observers)[slot]
        self._raise(places, f"observer `{name}` takes their records differently in {state!r}")

    def asymmetric_delivery(
        self,
        places: Sequence[int],
        fresh: Fresh,
        other: Fresh,
        message: tuple[int, int, Any],
        renamed: tuple[int, int, Any],
    ) -> NoReturn:
        """A message does something else with the names exchanged."""
        node, image = message[1], renamed[1]
        here: Stimulus = ("deliver", message[0], message[2])
        there: Stimulus = ("deliver", renamed[0], renamed[2])
        self._explain_step(places, (node, fresh, here), (image, other, there))
        self._raise(places, f"`{self._told(node, here)}` does not do what it does for the other")

    def asymmetric_lane(self, places: Sequence[int], message: tuple[int, int, Any]) -> NoReturn:
        """The lane of a message is another with the names exchanged."""
        shown = type(message[2]).__name__
        self._raise(places, f"the lane of a `{shown}` is not the same with their names exchanged")

    def asymmetric_stimuli(
        self, places: Sequence[int], node: int, fresh: Fresh, other: Fresh
    ) -> NoReturn:
        """What a node does by itself is something else with the names exchanged."""
        image = places[node]
        here = self._run(self.system.automata[node].stimuli, fresh())
        there = self._run(self.system.automata[image].stimuli, other())
        renamed = {self._rename(each, places): each[0] for each in here}
        known = {self.system.codec.encode(each): each[0] for each in there}
        for encoded, stimulus in renamed.items():
            if encoded not in known:
                told = self._told(node, stimulus)
                self._raise(places, f"`{told}` is possible, and not with their names exchanged")
        for encoded, stimulus in renamed.items():
            self._explain_step(places, (node, fresh, stimulus), (image, other, known[encoded]))
        self._raise(places, f"`{self.system.names[node]}` can do what the other cannot")

    def _explain_step(
        self,
        places: Sequence[int],
        here: tuple[int, Fresh, Stimulus],
        there: tuple[int, Fresh, Stimulus],
    ) -> None:
        """Raise, if the two steps differ, and say in what."""
        automata = self.system.automata
        outcomes = [
            self._run(automata[node].branches, fresh, stimulus)
            for node, fresh, stimulus in (here, there)
        ]
        first, second = outcomes
        if first is not None and second is not None:
            settled = self.system.symmetric.settled[there[0]]
            first = [self._renamed(o, places, settled, second) for o in first]
            first, second = (sorted(each, key=self._order) for each in (first, second))
        difference = first_difference(automata[there[0]], first, second)
        if difference is not None:
            one, other = (self._told(node, stimulus) for node, _, stimulus in (here, there))
            self._raise(places, f"`{one}` does not do what `{other}` does: it {difference}")

    def _told(self, node: int, stimulus: Stimulus) -> str:
        return describe(self.system.automata[node], stimulus, self.system.names)

    def _rename(self, value: Any, places: Sequence[int]) -> bytes:
        codec = self.system.codec
        return codec.rename(codec.encode(value), exchanged(self.system.names, places))

    def _renamed(
        self,
        outcome: Outcome,
        places: Sequence[int],
        settled: frozenset[int],
        others: Sequence[Outcome],
    ) -> Outcome:
        decode = self.system.codec.decode
        values = [decode(self._rename(value, places)) for value in outcome.values]
        for position in settled:
            values[position] = others[0].values[position] if others else values[position]
        sends = [(places[to], decode(self._rename(m, places))) for to, m in outcome.sends]
        records = [decode(self._rename(record, places)) for record in outcome.records]
        return outcome._replace(values=values, sends=sends, records=records)

    def _order(self, outcome: Outcome) -> bytes:
        encode = self.system.codec.encode
        outcome.sends.sort(key=encode)
        return encode((outcome.values, outcome.sends, outcome.records))

    def _pair(self, places: Sequence[int]) -> str:
        return " and ".join(f"`{name}`" for name in exchanged(self.system.names, places))

    def _raise(self, places: Sequence[int], fact: str) -> NoReturn:
        said = f"{self._pair(places)} are declared interchangeable, but {fact}"
        raise NotSymmetric(said, CAUSE, REMEDY)
