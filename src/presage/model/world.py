"""The live `World`: one state of a system, and every way to go on from it, without any memory.

This is the oracle. What the kernel finds on tables is replayed here, on the user's code, before
anyone is told. So it is written for clarity and shares nothing with the kernel but the codec, the
automata and the definition of a fingerprint.

Invariant: everything is held in canonical form (bytes); a handler gets fresh objects each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from presage._core import combine, mix
from presage.errors import BadChoice, NotEnabled, NotState, explain
from presage.model.automaton import Automaton
from presage.model.blame import observer_error
from presage.model.choice import NOT_THEIRS, Fork
from presage.model.event import (
    FAULT_KINDS,
    KINDS,
    Crash,
    Deliver,
    Drop,
    Duplicate,
    Envelope,
    Event,
    Made,
    Opening,
    Restart,
    Step,
)
from presage.model.local import (
    CRASH,
    DROP,
    DUPLICATE,
    RESTART,
    UP,
    Outcome,
    Stimulus,
    Values,
)
from presage.model.network import NETWORKS, Flying
from presage.model.saved import Local, Saved, SavedReader, without_ghosts
from presage.model.stimulus import event_of, stimulus_of
from presage.model.system import UNLIMITED, System
from presage.model.view import WorldView

LOCAL, OBSERVER, BUDGET = 0, 1, 2  # kinds of parts of a fingerprint
WORD = 2**64


class World:
    """One state of `system`, which `apply` changes."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.steps = 0  # how many were applied
        self.opening = Opening()
        codec = system.codec
        self._locals: list[Local] = [
            tuple(map(codec.encode, automaton.initial())) for automaton in system.automata
        ]
        self._observers: list[bytes] = [codec.encode(state) for state in system.observed()]
        self._budgets: list[float] = list(system.faults.budgets)
        self._network = NETWORKS[system.network]()

    @classmethod
    def initial(cls, system: System, choices: Sequence[int] = ()) -> World:
        """The world after every `start()`, in node order; `choices` are theirs, joined."""
        world = cls(system)
        left = list(choices)
        outcomes: list[Outcome] = []
        for automaton in system.automata:
            outcome = world._step(automaton, ("start",), left)
            assert outcome is not None, "a start has no guard"
            del left[: len(outcome.choices)]
            world._take(automaton, outcome)
            outcomes.append(outcome)
        if left:
            raise BadChoice(left[0], None)
        named = list(zip(system.names, outcomes, strict=True))
        world.opening = Opening(
            choices=tuple(choice for outcome in outcomes for choice in outcome.choices),
            sends=tuple(each for name, outcome in named for each in world._sent(name, outcome)),
            records=tuple((name, each) for name, outcome in named for each in outcome.records),
            logs=tuple((name, text) for name, outcome in named for text in outcome.logs),
            failures={name: outcome.failure for name, outcome in named if outcome.failure},
        )
        return world

    # -- what can happen ---------------------------------------------------------------------

    def enabled(self) -> list[Event]:
        """What can happen next, by kind, node and canonical form, in that order."""
        found: list[Event] = [*self._mail(Deliver)]
        for automaton in self.system.automata:
            for stimulus, fault in automaton.stimuli(self._values(automaton)):
                if fault is None or self._budgets[fault] > 0:
                    found.append(self._event(automaton, stimulus))
        if self._budgets[DROP] > 0:
            found += self._mail(Drop)
        if self._budgets[DUPLICATE] > 0:
            found += self._mail(Duplicate)
        deliverable = (each for each in found if not isinstance(each, Deliver) or self.runs(each))
        return sorted(deliverable, key=self._rank)

    def runs(self, event: Event) -> list[tuple[int, ...]]:
        """The lists of choices with which `event`, an enabled one, can be applied.

        For a delivery: none if its guard does not hold, or if it does nothing and such are skipped.
        """
        if isinstance(event, Drop | Duplicate):
            return [()]
        automaton = self.system.automata[self.system.index(event.node)]
        fresh = partial(self._values, automaton)
        outcomes = automaton.branches(fresh, stimulus_of(self.system, event)) or []
        return [
            tuple(k for k, _ in outcome.choices)
            for outcome in outcomes
            if not self._skipped(event, automaton, outcome)
        ]

    def at_rest(self) -> bool:
        """Whether nothing but a fault leads to another state."""
        here, saved = self._key(), self.save()
        ordinary = (event for event in self.enabled() if event.kind not in FAULT_KINDS)
        for event in ordinary:
            for choices in self.runs(event):
                self.apply(event, choices)
                moved = self._key() != here
                self.restore(saved)
                if moved:
                    return False
        return True

    def next_call(self, node: str) -> Made:
        """The workload's next call of `node`."""
        automaton = self.system.automata[self.system.index(node)]
        calls = self.system.codec.decode(self._locals[automaton.index][0])[1]
        if calls >= len(automaton.workload):
            raise _not_enabled(Made(node, "call"), "the workload has no more calls of this node")
        return Made(node, *automaton.workload[calls])

    def _mail(self, kind: type[Any]) -> Iterable[Any]:
        for envelope in self._network.deliverable():
            source, to, message = self.system.codec.decode(envelope.encoded)
            yield kind(self.system.names[to], self.system.names[source], message)

    def _rank(self, event: Event) -> tuple[int, int, bytes]:
        if isinstance(event, Deliver | Drop | Duplicate):
            form = self._flying(event).encoded
        else:
            form = self.system.codec.encode(stimulus_of(self.system, event))
        return (KINDS.index(event.kind), self.system.index(event.node), form)

    # -- what happens ------------------------------------------------------------------------

    def apply(self, event: Event, choices: Sequence[int] = ()) -> Step:
        """Let `event` happen, its handler choosing `choices`; refuse if it cannot."""
        before = list(self._locals)
        if isinstance(event, Drop | Duplicate):
            if choices:
                raise BadChoice(choices[0], None)
            self._mishandle(event)
            outcome = None
        else:
            outcome = self._happen(event, choices)
        self.steps += 1
        return Step(
            index=self.steps,
            event=event,
            choices=outcome.choices if outcome else (),
            sends=tuple(self._sent(event.node, outcome)) if outcome else (),
            records=tuple(outcome.records) if outcome else (),
            logs=tuple(outcome.logs) if outcome else (),
            changes=self._changes(before),
            fingerprint=self.fingerprint,
            failure=outcome.failure if outcome else None,
        )

    def _mishandle(self, event: Drop | Duplicate) -> None:
        fault = DROP if isinstance(event, Drop) else DUPLICATE
        envelope = self._flying(event)
        if self._budgets[fault] <= 0:
            raise _not_enabled(event, "the budget for it is spent")
        if envelope not in self._network.deliverable():
            raise _not_enabled(event, "no such message is next on the network")
        self._budgets[fault] -= 1
        if isinstance(event, Drop):
            self._network.drop(envelope)
        else:
            self._network.duplicate(envelope)

    def _happen(self, event: Event, choices: Sequence[int]) -> Outcome:
        automaton = self.system.automata[self.system.index(event.node)]
        envelope = self._flying(event) if isinstance(event, Deliver) else None
        if envelope is not None and envelope not in self._network.deliverable():
            raise _not_enabled(event, "no such message is next on the network")
        if envelope is None:
            self._check_internal(automaton, event)
        outcome = self._step(automaton, stimulus_of(self.system, event), choices)
        if outcome is None:
            raise _not_enabled(event, "its guard does not hold")
        if len(choices) > len(outcome.choices):
            raise BadChoice(choices[len(outcome.choices)], None)
        if self._skipped(event, automaton, outcome):
            raise _not_enabled(event, "it would do nothing, and such deliveries are skipped")
        if envelope is not None:
            self._network.deliver(envelope)
        elif isinstance(event, Crash | Restart):
            self._budgets[CRASH if isinstance(event, Crash) else RESTART] -= 1
        self._take(automaton, outcome)
        return outcome

    def _check_internal(self, automaton: Automaton, event: Event) -> None:
        encode, wanted = self.system.codec.encode, stimulus_of(self.system, event)
        for stimulus, fault in automaton.stimuli(self._values(automaton)):
            if encode(stimulus) != encode(wanted):
                continue
            if isinstance(event, Made) and self._event(automaton, stimulus) != event:
                raise _not_enabled(event, "another call is next")
            if fault is not None and self._budgets[fault] <= 0:
                raise _not_enabled(event, "the budget for it is spent")
            return
        raise _not_enabled(event, "the node is not in a state for it")

    def _step(
        self, automaton: Automaton, stimulus: Stimulus, choices: Sequence[int]
    ) -> Outcome | None:
        outcome = automaton.step(self._values(automaton), stimulus, choices)
        if isinstance(outcome, Fork):
            raise BadChoice(None, outcome.n)
        return outcome

    def _take(self, automaton: Automaton, outcome: Outcome) -> None:
        """Let the effects of a step at one node become part of the world."""
        self._locals[automaton.index] = self._encoded(automaton, outcome.values)
        for to, message in outcome.sends:
            self._network.send(self._envelope(automaton.index, to, message))
        if outcome.records:
            self._observe(automaton, outcome.records)

    def _observe(self, automaton: Automaton, records: list[Any]) -> None:
        codec = self.system.codec
        encoded = codec.encode(records)
        for at, (name, observer) in enumerate(self.system.observers.items()):
            state = codec.decode(self._observers[at])
            try:
                for record in codec.decode(encoded):
                    state = observer.observe(state, automaton.name, record)
            except NOT_THEIRS:
                raise
            except BaseException as error:
                raise observer_error(name, observer, error) from error
            try:
                self._observers[at] = codec.encode(state)
            except NotState as error:
                raise error.at(f"observer {name}: state") from None

    def _skipped(self, event: Event, automaton: Automaton, outcome: Outcome) -> bool:
        """Whether this is a delivery that does nothing, in a system that leaves such out."""
        if not isinstance(event, Deliver) or not self.system.skip_noops:
            return False
        if outcome.sends or outcome.records or outcome.failure:
            return False
        before = self._locals[automaton.index]
        after = self._encoded(automaton, outcome.values)
        return without_ghosts(automaton.ghosts, before) == without_ghosts(automaton.ghosts, after)

    # -- the state ---------------------------------------------------------------------------

    @property
    def fingerprint(self) -> int:
        """64 bits that stand for this state; the kernel computes the same."""
        digest = self.system.codec.digest
        parts = list(self._network.parts(self.system.codec))
        for automaton, local in zip(self.system.automata, self._locals, strict=True):
            digests = [digest(value) for value in without_ghosts(automaton.ghosts, local)]
            parts.append(mix(LOCAL, automaton.index, combine(digests)))
        for at, state in enumerate(self._observers):
            parts.append(mix(OBSERVER, at, digest(state)))
        for fault, granted in enumerate(self.system.faults.budgets):
            if 0 < granted < UNLIMITED:
                parts.append(mix(BUDGET, fault, int(self._budgets[fault])))
        return sum(parts) % WORD or 1

    def view(self) -> WorldView:
        """This state for a predicate; it stays as it is when the world goes on."""
        return WorldView(self.system, SavedReader(self.system, self.save()))

    def node_view(self, node: str) -> Any:
        """One node of this state, as `view()` shows it."""
        return self.view()[node]

    @property
    def start_failure(self) -> str | None:
        """The exception that left a `start` when this world began; None if none did."""
        return next(iter(self.opening.failures.values()), None)

    def save(self) -> Saved:
        """This state, to come back to."""
        return Saved(
            self.steps,
            tuple(self._locals),
            tuple(self._observers),
            tuple(self._budgets),
            self._network.frozen(),
        )

    def restore(self, saved: Saved) -> None:
        """Become the state that was saved."""
        self.steps = saved.steps
        self._locals = list(saved.locals)
        self._observers = list(saved.observers)
        self._budgets = list(saved.budgets)
        self._network.restore(saved.network)

    def _key(self) -> Any:
        """What makes this state this one: all but ghosts."""
        named = zip(self.system.automata, self._locals, strict=True)
        seen = [without_ghosts(automaton.ghosts, local) for automaton, local in named]
        return (seen, self._observers[:], self._budgets[:], self._network.frozen())

    def _values(self, automaton: Automaton) -> Values:
        return [self.system.codec.decode(value) for value in self._locals[automaton.index]]

    def _event(self, automaton: Automaton, stimulus: Stimulus) -> Event:
        if stimulus[0] == "call":
            return self.next_call(automaton.name)
        return event_of(self.system, automaton.index, stimulus)

    def _encoded(self, automaton: Automaton, values: Values) -> Local:
        encoded = []
        for position, value in enumerate(values):
            try:
                encoded.append(self.system.codec.encode(value))
            except NotState as error:
                raise error.at(automaton.place(position)) from None
        return tuple(encoded)

    def _envelope(self, source: int, to: int, message: Any) -> Flying:
        try:
            return Flying(source, to, self.system.codec.encode((source, to, message)))
        except NotState as error:
            path = error.path.removeprefix("[2]")
            where = f"{self.system.names[source]}: message {type(message).__name__}"
            raise NotState(path, error.type_name, error.reason, where) from None

    def _flying(self, event: Deliver | Drop | Duplicate) -> Flying:
        index = self.system.index
        return self._envelope(index(event.source), index(event.node), event.message)

    def _sent(self, node: str, outcome: Outcome) -> Iterable[Envelope]:
        return (Envelope(node, self.system.names[to], each) for to, each in outcome.sends)

    def _changes(self, before: list[Local]) -> dict[str, dict[str, tuple[Any, Any]]]:
        decode = self.system.codec.decode
        changes: dict[str, dict[str, tuple[Any, Any]]] = {}
        for automaton in self.system.automata:
            old, new = before[automaton.index], self._locals[automaton.index]
            if old == new:
                continue
            was, now = decode(old[0]), decode(new[0])
            told = {"up": (was[0] == UP, now[0] == UP), "timers": (was[2], now[2])}
            changed = {name: pair for name, pair in told.items() if pair[0] != pair[1]}
            for field, position in automaton.positions.items():
                if old[position] != new[position]:
                    changed[field] = (decode(old[position]), decode(new[position]))
            if changed:
                changes[automaton.name] = changed
        return changes


def _not_enabled(event: Event, why: str) -> NotEnabled:
    return NotEnabled(
        explain(
            f"`{event.kind} {event}` at {event.node} cannot happen here: {why}",
            "an event taken from another world, or from a trace of an older system",
            "take events from `world.enabled()`",
        )
    )
