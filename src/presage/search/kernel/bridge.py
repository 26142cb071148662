"""What the kernel asks Python: run this step, judge this world, feed this observer.

The kernel calls these methods by name, each only for what it has not met before. They return plain
tuples and numbers; the kernel encodes and interns.

Invariant: property 0 is `no_exception`; property i + 1 is the i-th one of the system; behind them
come the conditions of its seals.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any, NoReturn

from presage import lifeline
from presage._core import Reader
from presage._results import Finding
from presage.errors import (
    HandlerStuck,
    Impure,
    Nondeterminism,
    NotState,
    PresageError,
    Sharing,
    explain,
)
from presage.execution.causes import Pardon
from presage.execution.fairness import unit
from presage.execution.protocol import NO_EXCEPTION
from presage.execution.sandbox import Sandbox
from presage.model.choice import NOT_THEIRS
from presage.model.service.automaton import Automaton
from presage.model.service.local_state import Outcome, Stimulus, Values, is_up
from presage.model.service.stream import Lost
from presage.model.source import raised
from presage.model.weights import USUAL, Weights, units
from presage.model.world.lane import encoded_lane
from presage.model.world.observers import observer_error
from presage.model.world.seals import condition_failed
from presage.model.world.system import System
from presage.model.world.view import Outside, WorldView, node_view
from presage.props.property import Property
from presage.search.coverage.lines import Lines
from presage.search.coverage.vacuity import Vacuity
from presage.search.early import Early
from presage.search.kernel.difference import describe, first_difference
from presage.search.kernel.field_reads import (
    ALL,
    read_by_guards,
    read_by_step,
    touched_by_message,
    touched_together,
)
from presage.search.kernel.ghosts import GhostCheck
from presage.search.kernel.histories import SpecAnswers
from presage.search.kernel.order import Fresh, Orders
from presage.search.kernel.rules import RuleCheck
from presage.search.kernel.symmetry import Asymmetry
from presage.search.twin.verdicts import Kept

# How a world, or a node's new life, begins is no step that a step property is asked about.
BEGINNINGS = ("start", "reset", "silent")
Odds = tuple[int, int]
UNWEIGHED: Odds = (0, 0)
UNKNOWN = 2  # a verdict that is neither False nor True: a node is asked for that is outside
BREAKING = ("always", "step")  # kinds that one false verdict breaks
NOT_CONFIRMED = "broke in the search, which ended before there was a trace"
EXCEPTION = 1  # the bit of `no_exception` among the broken properties

Branch = tuple[Any, ...]  # choices, values, sends, records, broken, odds, odds[, flows, limits]


class Bridge(Asymmetry, SpecAnswers):
    """Callbacks of one kernel. Called with the interpreter lock held, from any thread."""

    def __init__(
        self, system: System, sandbox: Sandbox, *, weighs: bool = True, lines: Lines | None = None
    ) -> None:
        self.system = system
        self.automata: tuple[Automaton, ...] = system.automata
        self.properties: list[Property] = list(system.judged)
        self.early = Early(None)
        self.judged = 0  # how often a predicate was run over a world
        self.kept: Kept | None = None  # worlds to be judged again in another process
        self.errors: dict[int, str] = {}  # kernel index of a property -> why it cannot be judged
        self.vacuity = Vacuity(self.properties)
        self._observers = list(system.observers.items())
        self._names = tuple(system.nodes)
        self.lines = lines
        self._run = sandbox.run if lines is None else partial(lines.run, sandbox.run)
        self.orders = Orders(system, sandbox)
        self.rules = RuleCheck(system, sandbox)
        self.arrived = self.rules.arrived
        self._weights = (system.weights or USUAL) if weighs else None
        self._haunted = [
            GhostCheck(node, self._names) if node.ghosts and not node.opaque else None
            for node in self.automata
        ]
        self._step_properties = [
            [(at, prop) for at, prop in enumerate(self.properties, 1) if self._concerns(prop, node)]
            for node in self.automata
        ]

    @staticmethod
    def _concerns(prop: Property, node: Automaton) -> bool:
        return prop.kind == "step" and (prop.of is None or issubclass(node.service, prop.of))

    def stimuli(self, node: int, values: Values) -> list[tuple[Stimulus, int | None]]:
        haunted = self._haunted[node]
        copy = self.system.codec.encode(values) if haunted else b""
        found: list[tuple[Stimulus, int | None]] = self._run(self.automata[node].stimuli, values)
        if haunted:
            fresh = partial(self.system.codec.decode, copy)
            self._run(haunted.test_stimuli, fresh, found)
        return found

    def workloads(self) -> list[list[tuple[Any, ...]]]:
        return [[call.args for call in automaton.workload] for automaton in self.automata]

    def step(
        self, node: int, fresh: Callable[[], Values], stimulus: Stimulus
    ) -> list[Branch] | None:
        """Every branch of a step; None while the message cannot be delivered.

        Its odds are what a branch weighs in walks: in one with faults, and in a calm one. Where
        nobody walks (`weighs` is false) they mean nothing.
        """
        outcomes = self._run(self.automata[node].branches, fresh, stimulus)
        haunted = self._haunted[node]
        if haunted:
            self._run(haunted.test_step, fresh, stimulus, outcomes)
        if outcomes is None:
            return None
        before = None if stimulus[0] in BEGINNINGS else fresh
        if self._weights is None:
            return [self._branch(node, before, outcome, UNWEIGHED) for outcome in outcomes]
        weight = self._weight(self._weights, node, stimulus)
        return [self._branch(node, before, each, odds(weight, each)) for each in outcomes]

    def _weight(self, weights: Weights, node: int, stimulus: Stimulus) -> float:
        """How likely an event is in a weighted walk; its branches share that."""
        kind, shape = stimulus[0], self.automata[node].shape
        own = None
        if kind == "timer":
            own = shape.timers[stimulus[1]].weight
        elif kind == "action":
            own = shape.actions[stimulus[1]].weight
        elif kind == "deliver" and isinstance(stimulus[2], Lost):
            own = 1.0  # the kernel knows how it was lost, and what that weighs
        return weights.of(kind) if own is None else own

    def _branch(
        self, node: int, fresh: Callable[[], Values] | None, outcome: Outcome, weighs: Odds
    ) -> Branch:
        broken = 0
        if outcome.failure is not None and not self._forgives(outcome.failure):
            broken = EXCEPTION
            self._broke(NO_EXCEPTION)
        if fresh and self._step_properties[node] and is_up(outcome.values[0]):
            broken |= self._broken(node, fresh, outcome)
        choices = [k for k, _ in outcome.choices]
        branch = (choices, outcome.values, outcome.sends, outcome.records, broken, *weighs)
        if self.system.streams is None:
            return branch
        return (*branch, outcome.flows, outcome.limits)

    def _forgives(self, failure: str) -> bool:
        pardon: Pardon | None = self.system.pardon
        return pardon is not None and pardon.forgives(NO_EXCEPTION, failure)

    def _broken(self, node: int, fresh: Callable[[], Values], outcome: Outcome) -> int:
        """The step properties that a step breaks, a bit for each.

        The order of its values cannot matter to a program, which does not see them: it need not be
        run in a second order to learn whether it matters to properties.
        """
        codec = self.system.codec
        after = partial(codec.decode, codec.encode(outcome.values))
        broken = self._false(node, fresh, after)
        if self.automata[node].opaque:
            differs = broken ^ codec.reorder(self._false, node, fresh, after)
            for at, prop in self._step_properties[node]:
                if differs >> at & 1:
                    self.orders.add_property(prop)
        return broken

    def _false(self, node: int, before: Callable[[], Values], after: Callable[[], Values]) -> int:
        automaton = self.automata[node]
        broken = 0
        for at, prop in self._step_properties[node]:
            if at in self.errors:
                continue
            # Views of copies: a predicate must not change what the kernel goes on with.
            values = before()
            if not is_up(values[0]):
                return 0
            earlier, later = node_view(automaton, values), node_view(automaton, after())
            if self._verdict(at, prop, earlier, later) is False:
                broken |= 1 << at
        return broken

    @staticmethod
    def _broke(name: str) -> None:
        if name not in lifeline.findings:  # later on there may be more to say of it
            lifeline.found(name, NOT_CONFIRMED)

    def found(self, finding: Finding) -> None:
        """Hear of the first violation of a property, while the search goes on."""
        if finding.at <= len(self.system.properties):  # else a seal is never lifted: an error
            self.early.found(finding)

    def judge(self, at: int, reader: Reader) -> int | None:
        """Whether property `at` holds in the world behind `reader`; None if it cannot be said."""
        self.judged += 1
        if self.kept is not None:
            self.kept.add(at, reader)
        world = WorldView(self.system, reader)
        verdict = self._verdict(at, self.properties[at - 1], world)
        if world.asked_messages:
            self.vacuity.of_messages.add(at)
        return verdict

    def judge_again(self, at: int, reader: Reader) -> int | None:
        """The same, to be compared with what `judge` said of the same world."""
        return self._verdict(at, self.properties[at - 1], WorldView(self.system, reader))

    def _verdict(self, at: int, prop: Property, *seen: Any) -> int | None:
        try:
            holds = bool(self._run(self.vacuity.judge, at, prop, *seen).holds)
            if not holds and prop.kind in BREAKING:
                self._broke(prop.name)
            return holds
        except (HandlerStuck, Impure):
            raise
        except Outside:
            return UNKNOWN
        except PresageError as error:
            if prop.kind == "seal":
                raise
            self.errors.setdefault(at, str(error))
        except NOT_THEIRS:
            raise
        except BaseException as error:
            if prop.kind == "seal":
                raise condition_failed(prop, error) from error
            self.errors.setdefault(at, told(prop, error))
        return None

    def observe(self, slot: int, state: Any, records: list[tuple[int, Any]]) -> Any:
        name, observer = self._observers[slot]
        try:
            for node, record in records:
                state = self._run(observer.observe, state, self._names[node], record)
        except NOT_THEIRS:
            raise
        except BaseException as error:
            raise observer_error(name, observer, error) from error
        return state

    def due(self, faces: Any, node: int, stimulus: Stimulus) -> bool:
        """Whether the clocks of a timed system let `stimulus` happen."""
        clocks = self.system.clocks
        return clocks is None or clocks.due(faces, node, stimulus)

    def lane(self, message: Any) -> Any:
        """The lane of a message that is met for the first time; None for a datagram."""
        codec = self.system.codec
        lane = self._run(encoded_lane, codec, message)
        copy = codec.reorder(codec.decode, codec.encode(message))
        if self._run(encoded_lane, codec, copy) != lane:
            raise Nondeterminism(
                f"the lane of a `{type(message).__name__}` is another in an equal message, whose"
                " sets and dicts may have another order"
            )
        return codec.decode(lane) if lane else None

    def unit(self, node: int, stimulus: Stimulus) -> str | None:
        """What fairness calls `stimulus` at `node`; None where it is silent."""
        return unit(self.system, node, stimulus)

    def impure(self, node: int, fresh: Callable[[], Values], stimulus: Stimulus) -> NoReturn:
        """Say what differed between two runs of one step."""
        automaton = self.automata[node]
        what = describe(automaton, stimulus, self._names)
        for _ in range(50):
            first = self._run(automaton.branches, fresh, stimulus)
            second = self._run(automaton.branches, fresh, stimulus)
            difference = first_difference(automaton, first, second)
            if difference is not None:
                raise Nondeterminism(f"{what}, run twice from the same state, {difference}")
        raise Nondeterminism(f"{what}, run twice from the same state, gave two results")

    def read_by_step(self, node: int, stimulus: Stimulus) -> int:
        """Which values of a node a step, and what is asked about it, can read; a bit for each."""
        if self.automata[node].opaque:
            return 0  # the code of a program never sees the record; for properties, see `_broken`
        if self._step_properties[node] or self._haunted[node]:
            return ALL
        return read_by_step(self.automata[node], stimulus)

    def read_by_guards(self, node: int) -> int:
        """Which values decide what a node can start by itself."""
        if self.automata[node].opaque and not any(c.when for c in self.automata[node].workload):
            return 0
        return ALL if self._haunted[node] else read_by_guards(self.automata[node])

    def touched_by_message(self, node: int, message: Any) -> int:
        """Which values of a node a delivery, and what is asked about it, can read or set."""
        node_ = self.automata[node]
        if self._step_properties[node] or self._haunted[node] or node_.opaque:
            return ALL
        return touched_by_message(self.automata[node], message)

    def touched_together(self, node: int) -> list[int]:
        """For each thing that may be possible or not at a node: which values decide on it."""
        return [ALL] if self.automata[node].opaque else touched_together(self.automata[node])

    def order_matters(self, node: int, fresh: Fresh, stimulus: Stimulus) -> None:
        """A step does something else where sets and dicts have another order: collect it."""
        if self.orders.add_step(self.automata[node], fresh, stimulus):
            return
        usual = self.step(node, fresh, stimulus) or []
        other = self.system.codec.reorder(self.step, node, fresh, stimulus) or []
        broken = [one[4] ^ two[4] for one, two in zip(usual, other, strict=False)]
        for at, prop in self._step_properties[node]:
            if any(bits >> at & 1 for bits in broken):
                self.orders.add_property(prop)

    def order_matters_to_guards(self, node: int, fresh: Fresh) -> None:
        """A node can start other events by itself where sets and dicts have another order."""
        self.orders.add_guards(self.automata[node], fresh)

    def order_matters_to_property(self, at: int, fields: list[tuple[int, int]]) -> None:
        """The verdict of a property depends on the order of sets and dicts."""
        nodes = [(self.automata[node], field) for node, field in fields]
        parts = [f"{node.name}.{node.fields[field - 1]}" for node, field in nodes if field]
        self.orders.add_property(self.properties[at - 1], parts)

    def order_matters_to_observer(self, slot: int) -> None:
        """What an observer makes of records depends on the order of sets and dicts."""
        self.orders.add_observer(*self._observers[slot])

    def not_state(self, node: int, error: Exception) -> NoReturn:
        """Tell which field holds what cannot be state."""
        if isinstance(error, NotState):
            raise error.at(self.automata[node].place(error.position))
        raise error

    def explained(
        self, node: int, fresh: Callable[[], Values], stimulus: Stimulus, error: Exception
    ) -> NoReturn:
        """Tell which step led to an error."""
        if isinstance(error, Sharing):
            raise self.automata[node].shared_by(stimulus, fresh(), error)
        raise error

    def fickle(self, at: int) -> NoReturn:
        """A property looked at other things although all it had read was the same."""
        prop = self.properties[at - 1]
        raise Nondeterminism(
            f"{prop.source}: property `{prop.name}` read different things, or gave another"
            " verdict, for worlds in which all it had read was equal"
        )


def odds(weight: float, outcome: Outcome) -> Odds:
    """What one branch of an event weighs: by even choices, and by likely ones."""
    even = weight / prod(n for _, n in outcome.choices)
    return units(even), units(weight * outcome.share)


def told(prop: Property, error: BaseException) -> str:
    """Why a predicate could not be judged, with the line that raised."""
    where = raised(error.__traceback__)
    place = where[0] if where else prop.source
    return explain(
        f"{place}: property `{prop.name}` raised {type(error).__name__}: {error}",
        "a misspelt name, or a world in which what the predicate expects is not there yet",
        "correct the name, or let the predicate answer in every reachable world",
    )
