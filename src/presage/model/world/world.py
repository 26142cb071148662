"""The live `World`: one state of a system, and every way to go on from it, without any memory.

This is the oracle. What the kernel finds on tables is replayed here, on the user's code, before
anyone is told. So it is written for clarity and shares nothing with the kernel but the codec, the
automata and the definition of a fingerprint.

Invariant: everything is held in canonical form (bytes); a handler gets fresh objects each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from presage._core import DROP, DUPLICATE, UP
from presage.errors import BadChoice, NotState, PresageError
from presage.model.choice import Fork
from presage.model.service.automaton import Automaton
from presage.model.service.blame import forgiven
from presage.model.service.down import Down
from presage.model.service.local_state import Outcome, Stimulus, Values, is_up
from presage.model.world.event import (
    FAULT_KINDS,
    FAULT_OF,
    Deliver,
    Drop,
    Duplicate,
    Envelope,
    Event,
    Lost,
    Made,
    Mail,
    Mishap,
    Opening,
    Receive,
    Step,
    not_enabled,
)
from presage.model.world.fingerprint import fingerprint
from presage.model.world.network import Flying
from presage.model.world.observers import is_due, observed, told
from presage.model.world.seals import let_through, lets, seal_over
from presage.model.world.snapshot import Local, Snapshot, SnapshotReader, changes, without_ghosts
from presage.model.world.stimulus import event_of, rank_of, stimulus_of
from presage.model.world.system import System
from presage.model.world.transport import Transport
from presage.model.world.view import WorldView


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
        self.budgets: list[float] = list(system.faults.budgets)  # what is left of each fault
        self._transport = Transport(system)

    @classmethod
    def initial(cls, system: System, choices: Sequence[int] = ()) -> World:
        """The world after every `start()`, in node order; `choices` are theirs, joined."""
        if system.origin is not None:
            return system.origin.world(system, choices)  # type: ignore[no-any-return]
        world = cls(system)
        left = list(choices)
        outcomes: list[Outcome] = []
        sent: list[Envelope] = []
        for automaton in system.automata:
            outcome = world._step(automaton, ("start",), left, {})
            assert outcome is not None, "a start has no guard"
            del left[: len(outcome.choices)]
            sent += world._take(automaton, outcome)
            outcomes.append(outcome)
        if left:
            raise BadChoice(left[0], None)
        named = list(zip(system.names, outcomes, strict=True))
        world.opening = Opening(
            choices=tuple(choice for outcome in outcomes for choice in outcome.choices),
            sends=tuple(sent),
            records=tuple((name, each) for name, outcome in named for each in told(outcome)),
            logs=tuple((name, text) for name, outcome in named for text in outcome.logs),
            failures={name: outcome.failure for name, outcome in named if outcome.failure},
        )
        return world

    # -- what can happen ---------------------------------------------------------------------

    def enabled(self) -> list[Event]:
        """What can happen next, by kind, node and canonical form, in that order."""
        seal = self.seal()
        return self._listed() if seal is None else let_through(seal, self._listed(), self._moves)

    def seal(self) -> Any:
        """The seal in force in this state; None where any order of events is possible."""
        return seal_over(self.system.seals, self.view()) if self.system.seals else None

    def _listed(self) -> list[Event]:
        """What could happen next if nothing were sealed."""
        found: list[Event] = [*self._mail(Deliver, self._transport.datagrams())]
        found += self._transport.events(self._is_up, self.budgets)
        for automaton in self.system.automata:
            for stimulus, fault in automaton.stimuli(self._values(automaton)):
                due = is_due(self.system, self._observers, automaton.index, stimulus)
                if due and (fault is None or self.budgets[fault] > 0):
                    found.append(self._event(automaton, stimulus))
        for fault, kind in ((DROP, Drop), (DUPLICATE, Duplicate)):
            if self.budgets[fault] > 0:
                mail = self._mail(kind, self._transport.losable())
                found += (event for event in mail if not isinstance(event.message, Down))
        return sorted(filter(self._arrives, found), key=self._rank)

    def _arrives(self, event: Event) -> bool:
        """Whether the node lets `event` in, if it is one that arrives there."""
        try:
            return not isinstance(event, Deliver | Receive | Lost) or bool(self.runs(event))
        except PresageError as error:
            return forgiven(event, error)

    def runs(self, event: Event) -> list[tuple[int, ...]]:
        """The lists of choices with which `event`, an enabled one, can be applied.

        For what arrives at a node: none if its guard does not hold, if the node is slow, or if it
        does nothing and such deliveries are skipped.
        """
        return [choices for choices, _ in self.odds(event)]

    def odds(self, event: Event) -> list[tuple[tuple[int, ...], float]]:
        """The same, each with how likely it is among them, by the weights of the choices."""
        if isinstance(event, Mishap):
            return [((), 1.0)]
        automaton = self.system.automata[self.system.index(event.node)]
        fresh = partial(self._values, automaton)
        stimulus = stimulus_of(self.system, event)
        outcomes = automaton.branches(fresh, stimulus, held=self._held(event, automaton)) or []
        return [
            (tuple(k for k, _ in outcome.choices), outcome.share)
            for outcome in outcomes
            if not self._skipped(event, automaton, outcome)
        ]

    def at_rest(self) -> bool:
        """Whether nothing but a fault leads to another state."""
        ordinary = (event for event in self.enabled() if event.kind not in FAULT_KINDS)
        return not any(map(self._moves, ordinary))

    def _moves(self, event: Event) -> bool:
        """Whether `event`, one that could happen, may lead to another state."""
        here, saved = self._key(), self.save()
        for choices in self.runs(event):
            self._apply(event, choices)
            moved = self._key() != here
            self.restore(saved)
            if moved:
                return True
        return False

    def next_call(self, node: str) -> Made:
        """The workload's next call of `node`."""
        automaton = self.system.automata[self.system.index(node)]
        calls = self.system.codec.decode(self._locals[automaton.index][0])[1]
        if calls >= len(automaton.workload):
            raise not_enabled(Made(node, "call"), "the workload has no more calls of this node")
        call = automaton.workload[calls]
        return Made(node, call.method, call.args)

    def _mail(self, kind: type[Any], envelopes: Iterable[Flying]) -> Iterable[Any]:
        for envelope in envelopes:
            source, to, message = self.system.codec.decode(envelope.encoded)
            yield kind(self.system.names[to], self.system.names[source], message)

    def _rank(self, event: Event) -> tuple[int, int, bytes]:
        return rank_of(self.system, event)

    def _is_up(self, node: int) -> bool:
        return is_up(self.system.codec.decode(self._locals[node][0]))

    # -- what happens ------------------------------------------------------------------------

    def apply(self, event: Event, choices: Sequence[int] = ()) -> Step:
        """Let `event` happen, its handler choosing `choices`; refuse if it cannot."""
        seal = self.seal()
        if seal is not None and not lets(seal, event):
            raise not_enabled(event, f"the state is sealed ({seal})")
        if seal is not None and seal.first and self._rank(event) != self._rank(self.enabled()[0]):
            raise not_enabled(event, f"another event is the first ({seal})")
        return self._apply(event, choices)

    def _apply(self, event: Event, choices: Sequence[int]) -> Step:
        before = list(self._locals)
        self._transport.streams.lost.clear()
        outcome: Outcome | None = None
        sent: Sequence[Envelope] = ()
        if not isinstance(event, Mishap):
            outcome, sent = self._happen(event, choices)
        elif choices:
            raise BadChoice(choices[0], None)
        else:
            self._mishandle(event)
        self.steps += 1
        return Step(
            index=self.steps,
            event=event,
            choices=outcome.choices if outcome else (),
            sends=tuple(sent),
            records=tuple(told(outcome)) if outcome else (),
            logs=tuple(outcome.logs) if outcome else (),
            changes=changes(self.system, before, self._locals),
            fingerprint=self.fingerprint,
            failure=outcome.failure if outcome else None,
            lost=self._transport.take_lost(),
        )

    def _mishandle(self, event: Mishap) -> None:
        fault = FAULT_OF[event.kind]
        envelope = self._flying(event) if isinstance(event, Drop | Duplicate) else None
        if self.budgets[fault] <= 0:
            raise not_enabled(event, "the budget for it is spent")
        if envelope is None and event not in self._transport.events(self._is_up, self.budgets):
            raise not_enabled(event, "the network is not in a state for it")
        if envelope is not None and envelope not in self._transport.losable():
            raise not_enabled(event, "no such message is next on the network, or it has a lane")
        if isinstance(event, Drop | Duplicate) and isinstance(event.message, Down):
            raise not_enabled(event, "a notice is neither lost nor repeated")
        self.budgets[fault] -= 1
        self._transport.suffer(event, envelope)

    def _happen(self, event: Event, choices: Sequence[int]) -> tuple[Outcome, Sequence[Envelope]]:
        automaton = self.system.automata[self.system.index(event.node)]
        self._check_possible(automaton, event)
        held = self._held(event, automaton)
        outcome = self._step(automaton, stimulus_of(self.system, event), choices, held)
        if outcome is None:
            raise not_enabled(event, "its guard does not hold, or the node is slow")
        if len(choices) > len(outcome.choices):
            raise BadChoice(choices[len(outcome.choices)], None)
        if self._skipped(event, automaton, outcome):
            raise not_enabled(event, "it would do nothing, and such deliveries are skipped")
        if isinstance(event, Deliver):
            self._transport.network.deliver(self._flying(event))
        elif event.kind in FAULT_OF:
            self.budgets[FAULT_OF[event.kind]] -= 1
        self._begin(event)
        return outcome, self._take(automaton, outcome)

    def _begin(self, event: Event) -> None:
        self._transport.begin(event, self._flying(event) if isinstance(event, Receive) else None)

    def _held(self, event: Event, automaton: Automaton) -> dict[int, int]:
        """How many messages the node's streams hold when the handler of `event` begins."""
        if self.system.streams is None:
            return {}
        streams = self._transport.streams
        frozen = streams.frozen()
        self._begin(event)
        held = streams.held(automaton.index)
        streams.restore(frozen)
        return held

    def _check_possible(self, automaton: Automaton, event: Event) -> None:
        if isinstance(event, Deliver):
            if self._flying(event) not in self._transport.datagrams():
                raise not_enabled(event, "no such message is next on the network")
        elif isinstance(event, Receive | Lost):
            offered = self._transport.events(self._is_up, self.budgets)
            if self._rank(event) not in map(self._rank, offered):
                raise not_enabled(event, "no stream is in a state for it")
        else:
            self._check_internal(automaton, event)

    def _check_internal(self, automaton: Automaton, event: Event) -> None:
        encode, wanted = self.system.codec.encode, stimulus_of(self.system, event)
        for stimulus, fault in automaton.stimuli(self._values(automaton)):
            if encode(stimulus) != encode(wanted):
                continue
            if not is_due(self.system, self._observers, automaton.index, stimulus):
                raise not_enabled(event, "the clocks are not there yet")
            if isinstance(event, Made) and self._event(automaton, stimulus) != event:
                raise not_enabled(event, "another call is next")
            if fault is not None and self.budgets[fault] <= 0:
                raise not_enabled(event, "the budget for it is spent")
            return
        raise not_enabled(event, "the node is not in a state for it")

    def _step(
        self,
        automaton: Automaton,
        stimulus: Stimulus,
        choices: Sequence[int],
        held: Mapping[int, int],
    ) -> Outcome | None:
        outcome = automaton.step(self._values(automaton), stimulus, choices, held)
        if isinstance(outcome, Fork):
            raise BadChoice(None, outcome.n)
        return outcome

    def _take(self, automaton: Automaton, outcome: Outcome) -> list[Envelope]:
        """Let the effects of a step at one node become part of the world; what is in flight now."""
        sent = list(outcome.sends)
        self._locals[automaton.index] = self._encoded(automaton, outcome.values)
        for to, message in outcome.sends:
            self._transport.network.send(self._envelope(automaton.index, to, message))
        for peer, closes, message in outcome.flows:
            if closes:
                self._transport.streams.close(automaton.index, peer)
            elif self._transport.streams.send(self._envelope(automaton.index, peer, message)):
                sent.append((peer, message))
        if outcome.records:
            name, before = automaton.name, self._observers
            self._observers = observed(self.system, before, name, outcome.records)
        names = self.system.names
        return [Envelope(automaton.name, names[to], message) for to, message in sent]

    def _skipped(self, event: Event, automaton: Automaton, outcome: Outcome) -> bool:
        """Whether this is a delivery that does nothing, in a system that leaves such out."""
        skips = isinstance(event, Deliver) and self.system.skips(event.message)
        if not skips or outcome.sends or outcome.flows or outcome.records or outcome.failure:
            return False
        before = self._locals[automaton.index]
        if outcome.values[0][0] != UP and self.system.network != "duplicating":
            return False  # it arrives at a node that is not up, and is lost
        after = self._encoded(automaton, outcome.values)
        return without_ghosts(automaton.ghosts, before) == without_ghosts(automaton.ghosts, after)

    # -- the state ---------------------------------------------------------------------------

    @property
    def fingerprint(self) -> int:
        """64 bits that stand for this state; the kernel computes the same."""
        parts = self._transport.parts()
        return fingerprint(self.system, self._locals, self._observers, self.budgets, parts)

    def view(self) -> WorldView:
        """This state for a predicate; it stays as it is when the world goes on."""
        return WorldView(self.system, SnapshotReader(self.system, self.save()))

    def node_view(self, node: str) -> Any:
        """One node of this state, as `view()` shows it."""
        return self.view()[node]

    @property
    def start_failure(self) -> str | None:
        """The exception that left a `start` when this world began; None if none did."""
        return next(iter(self.opening.failures.values()), None)

    def save(self) -> Snapshot:
        """This state, to come back to."""
        return Snapshot(
            self.steps,
            tuple(self._locals),
            tuple(self._observers),
            tuple(self.budgets),
            self._transport.frozen(),
        )

    def restore(self, saved: Snapshot) -> None:
        """Become the state that was saved."""
        self.steps = saved.steps
        self._locals = list(saved.locals)
        self._observers = list(saved.observers)
        self.budgets = list(saved.budgets)
        self._transport.restore(saved.transport)

    def _key(self) -> Any:
        """What makes this state this one: all but ghosts."""
        named = zip(self.system.automata, self._locals, strict=True)
        seen = [without_ghosts(automaton.ghosts, local) for automaton, local in named]
        return (seen, self._observers[:], self.budgets[:], self._transport.frozen())

    def _values(self, automaton: Automaton) -> Values:
        return [self.system.codec.decode(value) for value in self._locals[automaton.index]]

    def _event(self, automaton: Automaton, stimulus: Stimulus) -> Event:
        if stimulus[0] == "call":
            return self.next_call(automaton.name)
        return event_of(self.system, automaton.index, stimulus)

    def _encoded(self, automaton: Automaton, values: Values) -> Local:
        try:
            return tuple(self.system.codec.encode_fields(values))
        except NotState as error:
            raise error.at(automaton.place(error.position)) from None

    def _envelope(self, source: int, to: int, message: Any) -> Flying:
        try:
            return Flying(source, to, self.system.codec.encode((source, to, message)))
        except NotState as error:
            path = error.path.removeprefix("[2]")
            where = f"{self.system.names[source]}: message {type(message).__name__}"
            raise NotState(path, error.type_name, error.reason, where) from None

    def _flying(self, event: Mail) -> Flying:
        index = self.system.index
        return self._envelope(index(event.source), index(event.node), event.message)
