"""What to do about a violation that is ahead: predict, choose a filter, try it, ask the guard.

From a snapshot, a path to a violation is looked for. The first events of the path that can be
refused are candidates. A filter against one is tried by predicting once more with it in force; one
that leaves a violation in reach is *unhelpful*. One that would keep the system from ever getting on
*kills progress*. A violation that nobody can prevent often is near, and would hide all others: what
is behind it is looked for, without its property. What is left is put in force at the node where the
event would happen; if that is another node the path is handed over to it, and it decides on a
snapshot of its own.

Invariant: what is put in force is only ever what a network or a clock could do by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from presage.execution.confirm import Confirmed
from presage.execution.sandbox import Sandbox
from presage.model.world.event import Event
from presage.model.world.filters import Filter, filter_of
from presage.model.world.snapshot import Snapshot
from presage.model.world.stimulus import stimulus_of
from presage.model.world.system import System
from presage.records import record
from presage.runtime.board import EventSeen
from presage.runtime.guard import Guard
from presage.runtime.vocabulary import teach
from presage.search.kept_kernels import KERNELS_MAX
from presage.search.predict import Predictor, traced
from presage.search.prediction import Prediction
from presage.trace.trace import Trace

CANDIDATES_MAX = 3  # events of a path against which a filter is tried
HIDDEN_MAX = 2  # properties whose violation nobody can prevent, behind which more is looked for

Decision: TypeAlias = Literal[
    "clean",  # nothing was found
    "watched",  # something was, and nothing is to be done about it
    "filter",  # to be put in force here
    "handed over",  # to the node where the event would happen
    "unhelpful",  # every filter leaves a violation in reach
    "kills progress",  # every filter that helps would
    "unpreventable",  # no event of the path can be refused
]


@record(frozen=True)
class Question:
    """A state of some nodes, and what is known already."""

    snapshot: Snapshot
    outside: tuple[str, ...] = ()
    known: tuple[Trace, ...] = ()  # paths that broke something before
    filters: tuple[Filter, ...] = ()  # in force now
    seconds: float = 1.0
    acts: bool = True  # whether something is to be done
    own: frozenset[tuple[str, ...]] = frozenset()  # known paths on which only `node` is to act
    refused: tuple[Filter, ...] = ()  # kinds of events that the check refuses again and again


@record(frozen=True)
class Foreseen:
    """What is ahead, and what to do."""

    decision: Decision
    prop: str = ""
    why: str = ""
    trace: Trace | None = None  # the path; it begins in the snapshot
    filter: Filter | None = None
    found_by: str = ""
    states: int = 0
    depth: int = 0
    seconds: float = 0.0
    remembered: bool = False
    broken: tuple[str, ...] = ()  # properties that do not hold in the snapshot
    starved: str = ""  # the property that a refused filter would have kept from holding
    own: bytes = b""  # what happens at the node that asked, encoded; see `PredictedViolation`
    hungry: tuple[tuple[Filter, str], ...] = ()  # refusals, and the property that each starves


class Foresight:
    """Answers questions about one system. A context manager, as checked code is watched."""

    def __init__(
        self,
        system: System,
        target: str | None = None,
        *,
        kernels: int = KERNELS_MAX,
        states: int | None = None,
    ) -> None:
        """`kernels`: that are kept. `states`: that each lane of a prediction may meet.

        Where `states` is given, one thread looks, and answers do not depend on the machine.
        """
        teach(system, system.codec)  # what others wrote is to be read
        self.system = system
        self._target = target
        self._sandbox = Sandbox()
        self._predictor = Predictor(system, self._sandbox, kernels)
        self._states = states
        self._guard = Guard.of(system, self._sandbox, kernels, states)

    def __enter__(self) -> Foresight:
        self._sandbox.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._sandbox.__exit__(None, None, None)

    def stop(self) -> None:
        """End the prediction that runs; for another thread to call."""
        self._predictor.stop()

    def answer(self, question: Question, node: str) -> Foreseen:
        """What is ahead of the nodes in the question's snapshot, as `node` sees it."""
        found = self._ahead(question, node)
        return replace(found, hungry=self._hungry(question)) if question.refused else found

    def _hungry(self, question: Question) -> tuple[tuple[Filter, str], ...]:
        """The refusals that would keep the system from ever getting on, if they went on so."""
        judged = (
            (each, self._guard.starves(question.snapshot, (each,), outside=question.outside))
            for each in question.refused
        )
        return tuple((each, found.prop) for each, found in judged if found is not None)

    def _ahead(self, question: Question, node: str) -> Foreseen:
        found = self._predict(question, question.filters, question.known)
        if found.path is None:
            return self._answer(found, "clean")
        if not question.acts:
            return self._answer(found, "watched")
        hidden: list[str] = []  # properties against whose violation nothing can be done
        answer = first = self._decided(question, found, node, hidden)
        while answer.decision == "unpreventable" and len(hidden) < HIDDEN_MAX:
            hidden.append(answer.prop)
            behind = self._predict(question, question.filters, question.known, hidden)
            if behind.path is None:
                break
            answer = self._decided(question, behind, node, hidden)
        return first if answer.decision == "unpreventable" else answer

    def _own(self, path: Confirmed, node: str) -> bytes:
        """What happens at a node on a path, as its service hears of it."""
        automaton = self.system.automata[self.system.index(node)]
        if automaton.shape.prediction is None:
            return b""
        events = [step.event for step in path.steps if step.event.node == node]
        stimuli = [stimulus_of(self.system, event) for event in events]
        values = automaton.initial()
        own = tuple(automaton.own_event(each, values) for each in stimuli)
        return self.system.codec.encode(own)

    def _predict(
        self,
        question: Question,
        filters: Sequence[Filter],
        known: Sequence[Trace],
        hidden: Sequence[str] = (),
    ) -> Prediction:
        return self._predictor.predict(
            question.snapshot,
            outside=question.outside,
            observed=False,
            filters=filters,
            known=known,
            seconds=question.seconds,
            threads=None if self._states is None else 1,
            leaving=hidden,
            states=self._states,
        )

    def _decided(
        self, question: Question, found: Prediction, node: str, hidden: Sequence[str]
    ) -> Foreseen:
        assert found.path is not None
        own = self._own(found.path, node)
        unhandled = replace(self._answer(found, "unpreventable"), own=own)
        assert unhandled.trace is not None
        tried, starved = 0, ""
        mine = path_key(unhandled.trace) in question.own
        for candidate in candidates([step.event for step in found.path.steps]):
            if mine and candidate.node != node:
                continue  # a path that was handed over is not handed on
            tried += 1
            filters = (*question.filters, candidate)
            known = (unhandled.trace, *question.known)
            again = self._predict(question, filters, known, hidden)
            if again.path is not None:
                starved = starved or _rests(found.path, again.path)
                continue
            hunger = self._guard.starves(question.snapshot, filters, outside=question.outside)
            if hunger is not None:
                starved = starved or hunger.prop
                continue
            decision: Decision = "filter" if candidate.node == node else "handed over"
            return replace(unhandled, decision=decision, filter=candidate)
        decision = "kills progress" if starved else "unhelpful" if tried else "unpreventable"
        return replace(unhandled, decision=decision, starved=starved)

    def _answer(self, found: Prediction, decision: Decision) -> Foreseen:
        violation = traced(found, self._target)
        return Foreseen(
            decision,
            violation.prop if violation else "",
            violation.message if violation else "",
            violation.trace if violation else None,
            None,
            found.found_by,
            found.states,
            found.depth,
            found.seconds,
            found.remembered,
            found.broken,
        )


def _rests(path: Confirmed, again: Confirmed) -> str:
    """The property that a filter leaves for ever without, as all comes to rest; "" if none."""
    kinds = ("eventually", "deadlock")
    both = [each.prop for each in (path, again)]
    was, now = (each is not None and each.kind in kinds for each in both)
    return both[1].name if now and not was and both[1] is not None else ""


def candidates(events: Collection[Event]) -> Iterator[Filter]:
    """Filters against the first events that can be refused, each once."""
    found: dict[Filter, None] = {}
    for event in events:
        each = filter_of(event)
        if each is not None:
            found.setdefault(each)
        if len(found) == CANDIDATES_MAX:
            break
    yield from found


def path_key(path: Trace) -> tuple[str, ...]:
    """What makes two paths the same."""
    return (path.prop, *(f"{step.node} {step.label}" for step in path.steps))


def events_seen(trace: Trace) -> tuple[EventSeen, ...]:
    """The steps of a path for the board, each message with the step that sent it."""
    sent: dict[tuple[str, str, str], list[int]] = {}
    seen = []
    for at, step in enumerate(trace.steps):
        key = (step.source or "", step.node, step.detail)
        waiting = sent.get(key)
        cause = waiting.pop(0) if waiting and step.kind in ("deliver", "receive") else None
        seen.append(EventSeen(node=step.node, text=step.label, source=step.source, cause=cause))
        for each in step.sends:
            sent.setdefault((step.node, each.to, each.message), []).append(at)
    return tuple(seen)
