"""What safety properties say of a few local states, each known or not, in microseconds.

A property reads a few fields; its verdict is filed in a decision trie under what it read, so the
predicate runs once for every distinct combination of values, and later answers are look-ups.

A property that speaks of all nodes speaks of those that are known. What asks for another one by
name, or for what is between nodes, has no verdict here.

Invariant: a verdict depends on the values that were read and on nothing else, so that filing it
under them is right for every state in which they are the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NoReturn

from presage.errors import PresageError
from presage.model.choice import Interrupted
from presage.model.service.local_state import Control
from presage.model.world.snapshot import Local
from presage.model.world.system import System
from presage.model.world.view import Outside, WorldView, node_view
from presage.props.property import Property, Verdict
from presage.records import NamedTuple

FILED_MAX = 20_000  # values in all tries together; those that were used least recently go
GROUPS_MAX = 32  # sets of nodes that are known

Known = Sequence[Local | None]  # by index of the node; None: not known here
Place = tuple[int, int]  # a node, and a position of its local record
Runner = Callable[..., Any]  # calls `function(*args)`: user code, watched


class Broken(NamedTuple):
    """A property that does not hold, why, and the nodes it looked at to say so."""

    prop: str
    why: str
    nodes: frozenset[int]


class _Unseen(Interrupted):
    """A property asks for what is not known here."""


class _Ask:
    """A trie's inner place: which value is read next, and where each value leads."""

    __slots__ = ("answers", "place")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.answers: dict[bytes | None, _Ask | Verdict | None] = {}


class _Reading:
    """A reader that knows some nodes alone, and notes in which order they are read."""

    def __init__(self, system: System, known: Known) -> None:
        self._decode = system.codec.decode
        self._known = known
        self.places: dict[Place, bytes | None] = {}

    def value(self, node: int, position: int, /) -> Any:
        local = self._known[node]
        encoded = self.places[node, position] = None if local is None else local[position]
        if encoded is None:
            raise _Unseen
        return self._decode(encoded)

    def control(self, node: int, /) -> Control:
        control: Control = self.value(node, 0)
        return control

    def _between(self, *_: Any) -> NoReturn:
        raise _Unseen

    messages = count = observer = partition = connection = _between


class _Trie:
    """One `always` property, and all that it has said so far."""

    def __init__(
        self, system: System, prop: Property, run: Runner, count: Callable[[int], None]
    ) -> None:
        """`count` hears how many values were filed."""
        self.prop = prop
        self.filed = 0  # values in it
        self._system = system
        self._run = run
        self._count = count
        self._root: _Ask | Verdict | None = None
        self._empty = True

    def verdict(self, known: Known) -> tuple[Verdict | None, frozenset[int]]:
        """What it says, None if it cannot, and which nodes it looked at."""
        at, nodes = self._root, set()
        if self._empty:
            return self._learn(known)
        while isinstance(at, _Ask):
            node, position = at.place
            nodes.add(node)
            local = known[node]
            encoded = None if local is None else local[position]
            if encoded not in at.answers:
                return self._learn(known)
            at = at.answers[encoded]
        return at, frozenset(nodes)

    def _learn(self, known: Known) -> tuple[Verdict | None, frozenset[int]]:
        reading = _Reading(self._system, known)
        verdict: Verdict | None
        try:
            verdict = _judged(self._run, self.prop, WorldView(self._system, reading))
        except (_Unseen, Outside):
            verdict = None
        self._file(reading.places, verdict)
        return verdict, frozenset(node for node, _ in reading.places)

    def _file(self, places: dict[Place, bytes | None], verdict: Verdict | None) -> None:
        rest = list(places.items())
        if not _fits(self._root, rest):
            self._root, self.filed = None, 0
        self.filed += len(rest) + 1
        self._root = _filed(self._root, rest, verdict)
        self._empty = False
        self._count(len(rest) + 1)


def _fits(at: _Ask | Verdict | None, rest: list[tuple[Place, bytes | None]]) -> bool:
    """Whether what is filed already was read in the same order; else the predicate is not pure."""
    for place, encoded in rest:
        if not isinstance(at, _Ask):
            return at is None
        if at.place != place:
            return False
        at = at.answers.get(encoded)
    return not isinstance(at, _Ask)


def _filed(
    at: _Ask | Verdict | None, rest: list[tuple[Place, bytes | None]], verdict: Verdict | None
) -> _Ask | Verdict | None:
    """The trie below `at` with one more verdict, under what was read from here on."""
    if not rest:
        return verdict
    (place, encoded), *later = rest
    root = at if isinstance(at, _Ask) else _Ask(place)
    root.answers[encoded] = _filed(root.answers.get(encoded), later, verdict)
    return root


def _judged(run: Runner, prop: Property, *views: Any) -> Verdict:
    """What a property says; one that raises does not hold."""
    try:
        verdict: Verdict = run(prop.judge, *views)
    except (_Unseen, Outside, PresageError, KeyboardInterrupt, Interrupted):
        raise
    except BaseException as error:  # `sys.exit()` is the predicate's, too
        return Verdict.fails(f"raised {type(error).__name__}: {error}")
    return verdict


def _plainly(function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)


class Verdicts:
    """The safety properties of a system, asked about nodes as far as they are known."""

    def __init__(self, system: System, run: Runner = _plainly, kind: str = "always") -> None:
        """Of the properties of this kind, and of those of single steps."""
        self._system = system
        self._run = run
        claims: Sequence[Property] = system.properties
        self._asked = [prop for prop in claims if prop.kind == kind]
        self._steps = [prop for prop in claims if prop.kind == "step"]
        self._groups: OrderedDict[tuple[int, ...], list[_Trie]] = OrderedDict()
        self._partly = copy(system)  # a part of it is known: as much as was asked about last
        self._partly.observed_known = False
        self._partly.automata = self._partly.automata_of()
        self._outside: tuple[int, ...] | None = None  # the nodes of which nothing is known there
        self._counted = 0  # values filed, some of which may be gone

    @property
    def filed(self) -> int:
        """How many values are kept, in all tries together."""
        return sum(trie.filed for tries in self._groups.values() for trie in tries)

    def _count(self, values: int) -> None:
        """Values were filed: let the groups go that were used least recently, if need be."""
        self._counted += values
        if self._counted > FILED_MAX:
            while self._groups and self.filed > FILED_MAX // 2:
                self._groups.popitem(last=False)
            self._counted = self.filed

    @property
    def names(self) -> list[str]:
        """Of the properties that are asked."""
        return [prop.name for prop in self._asked]

    def holding(self, known: Known) -> list[str]:
        """The properties that hold, as far as one can tell from `known`."""
        verdicts = ((trie.prop.name, trie.verdict(known)[0]) for trie in self._tries(known))
        return [name for name, verdict in verdicts if verdict is not None and verdict.holds]

    def broken(self, known: Known) -> list[Broken]:
        """The properties that do not hold, as far as one can tell from `known`."""
        found = []
        for trie in self._tries(known):
            verdict, nodes = trie.verdict(known)
            if verdict is not None and not verdict.holds:
                found.append(Broken(trie.prop.name, verdict.why, nodes))
        return found

    def broken_step(self, node: int, before: Local, after: Local) -> list[Broken]:
        """The properties of single steps that this one breaks; the node is up before and after."""
        automaton = self._system.automata[node]
        found = []
        for prop in self._steps:
            if prop.of is not None and not issubclass(automaton.service, prop.of):
                continue
            views = [
                node_view(automaton, [self._system.codec.decode(value) for value in local])
                for local in (before, after)
            ]
            verdict = _judged(self._run, prop, *views)
            if not verdict.holds:
                found.append(Broken(prop.name, verdict.why, frozenset({node})))
        return found

    def _tries(self, known: Known) -> list[_Trie]:
        """Tries for worlds of which the same nodes are known: properties speak of those only.

        All groups share one system, which learns here what is outside: whole copies of it, with
        classes for the views of their nodes, would be most of the memory of a node.
        """
        outside = tuple([at for at, local in enumerate(known) if local is None])
        tries = self._groups.get(outside)
        if tries is None:
            if len(self._groups) == GROUPS_MAX:
                self._groups.popitem(last=False)
            tries = [_Trie(self._partly, prop, self._run, self._count) for prop in self._asked]
            self._groups[outside] = tries
        self._groups.move_to_end(outside)
        if outside != self._outside:
            self._outside, hidden = outside, frozenset(outside)
            self._partly.outside = tuple(self._system.names[at] for at in outside)
            for automaton in self._partly.automata:
                automaton.outside = hidden
        return tries
