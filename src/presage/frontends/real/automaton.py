"""A real node as an automaton: its local state is the history of its stimuli.

A step takes the process that stands at the end of the history, or makes one, lets the stimulus
happen to it, and reads off what it sent, what it waits for, its files and its view. Everything else
in presage sees a node like any other: a record, stimuli, and outcomes.

Invariant: the record is `[control, history, files, life, fired, parts, *view]`. `control.timers`
holds what the process may do by itself; a node that is down has the history `ROOT`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from presage._core import DOWN, FAILED, REFUSE, SEVER, SLOW, TERMINATE, UP
from presage.errors import BadView, NotState, PresageError
from presage.frontends.real.driver import Driver, Event
from presage.frontends.real.histories import ROOT, Histories
from presage.frontends.real.looks import Look, Shown
from presage.frontends.real.machine.disk import crashed
from presage.frontends.real.machine.effects import Effects
from presage.frontends.real.machine.packets import Segment
from presage.frontends.real.machine.paths import missed_file
from presage.frontends.real.machine.process import Process
from presage.frontends.real.machine.standing import standing
from presage.frontends.real.machine.tcp import answer_for_nobody, reverse
from presage.frontends.real.merging import Merging
from presage.frontends.real.service import (
    ACTIONS,
    FILES,
    FIRED,
    FIRST,
    HISTORY,
    LIFE,
    PARTS,
    TIMER,
)
from presage.frontends.real.surroundings import around
from presage.frontends.real.tips import Tips
from presage.model.choice import Chooser, Fork
from presage.model.service.automaton import EMPTY, Automaton
from presage.model.service.blame import describe_failure
from presage.model.service.clocks import ticks
from presage.model.service.local_state import (
    UNARMED,
    Control,
    Outcome,
    Stimulus,
    Values,
    unchanged,
)

BEGINS = ("start", "restart", "reset", "silent")
ENDS = ("crash", "reset", "silent")


class RealAutomaton(Automaton):
    """One node of real code."""

    opaque = True

    def __init__(
        self, *node: Any, driver: Driver, histories: Histories, tips: Tips, **more: Any
    ) -> None:
        super().__init__(*node, **more)
        self.driver = driver
        self.real = driver.node
        self.histories = histories
        self.tips = tips
        self._breaks = self.exposed.sever
        self.bounds: dict[str, int] = {}  # what a bound of the node kept from happening
        self._view = self.fields[len(FIRST) :]
        self._plain_ends: set[bytes] = set()  # histories whose crash says nothing to anybody
        self.merging: Merging | None = None
        if self.real.merge == "view":
            self.merging = Merging(self.name, self.codec, self._branches_of, self._describe)

    # -- steps -------------------------------------------------------------------------------

    def step(
        self,
        values: Values,
        stimulus: Stimulus,
        choices: Sequence[int] = (),
        held: Mapping[int, int] = EMPTY,
    ) -> Outcome | Fork | None:
        """As for any node; real code is never stopped at a choice, it is run to the end."""
        codec = self.codec
        again = partial(codec.decode, codec.encode(values))
        stimulus = codec.decode(codec.encode(stimulus))
        chooser = Chooser(choices, extends=True)
        outcome = self._answer(again(), stimulus, chooser, again)
        if len(chooser.taken) > len(choices):
            return Fork(chooser.taken[len(choices)][1])
        return outcome

    def branches(
        self,
        fresh: Callable[[], Values],
        stimulus: Stimulus,
        ghosts: Sequence[bytes] | None = None,
        held: Mapping[int, int] | None = None,
    ) -> list[Outcome] | None:
        """As for any node; a search, which knows no histories that are ghosts, tests twins."""
        merging = self.merging
        if merging is None:
            return super().branches(fresh, stimulus, ghosts, held)
        values = fresh()
        searched = values[HISTORY] == ROOT
        outcomes = super().branches(fresh, stimulus, ghosts, held)
        if searched:
            with self.tips.running():
                merging.test(values, stimulus, outcomes)
        return outcomes

    def _branches_of(
        self, history: bytes, values: Values, stimulus: Stimulus
    ) -> list[Outcome] | None:
        """Every run from a history of these values."""
        values = [*values]
        values[HISTORY] = history
        frozen = self.codec.encode(values)
        return super().branches(partial(self.codec.decode, frozen), stimulus)

    def _describe(self, history: bytes) -> str:
        """The last event of a history, in words."""
        event = self.histories.last(history)
        return "nothing" if event is None else self.driver.describe(self.driver.decode(event)[0])

    def with_ghosts(
        self, fresh: Callable[[], Values], ghosts: Sequence[bytes] | None = None
    ) -> Values:
        """The values as they are: a history that is a ghost is looked up where it is needed."""
        return fresh()

    def _react(
        self, values: Values, stimulus: Stimulus, chooser: Chooser, again: Callable[[], Values]
    ) -> Outcome | Fork | None:
        kind, status = stimulus[0], values[0][0]
        if kind in ("slow", "wake"):
            return super()._react(values, stimulus, chooser, again)
        if kind in BEGINS or kind in ENDS:
            return self._turn(values, kind, chooser)
        if status != UP:
            return None if status == SLOW else self._dead_letter(values, stimulus)
        return self._go_on(values, stimulus, chooser)

    def _go_on(self, values: Values, stimulus: Stimulus, chooser: Chooser) -> Outcome:
        """Let a stimulus happen to the process that stands at the end of the history."""
        _, calls, _, _ = values[0]
        name = self._history(values)
        event = self.driver.event(stimulus, calls)
        with self.tips.running():
            process = self.tips.take(name, self.driver)
            fired = values[FIRED] + (stimulus[0] == "timer" and self.real.timers is not None)
            control = (UP, calls + (stimulus[0] == "call"), UNARMED, None)
            left = [control, name, values[FILES], values[LIFE], fired, None]
            return self._happen(process, event, left, chooser)

    def _turn(self, values: Values, kind: str, chooser: Chooser) -> Outcome:
        """The end of a life, the beginning of one, or both at once."""
        sends: list[tuple[int, Any]] = []
        if kind in ENDS:
            values, sends = self._end(values, chooser, silent=kind == "silent")
        if kind not in BEGINS:
            return unchanged(values)._replace(choices=chooser.made, sends=sends)
        life = values[LIFE] + (kind != "start")
        event = self.driver.start(life, values[FILES])
        with self.tips.running():
            process = self.driver.make(life, *event[3:])
            control = (UP, values[0][1], UNARMED, None)
            left = [control, ROOT, values[FILES], life, values[FIRED], None]
            outcome = self._happen(process, event, left, chooser)
        return outcome._replace(sends=sends + outcome.sends) if sends else outcome

    def _end(
        self, values: Values, chooser: Chooser, *, silent: bool
    ) -> tuple[Values, list[tuple[int, Any]]]:
        """What a crash leaves of the record, and what the kernel sends for the dead process."""
        left = self.initial()
        for position in (FILES, LIFE, FIRED):
            left[position] = values[position]
        left[FILES] = crashed(values[FILES], chooser, torn=self.real.torn)
        left[0] = (DOWN, values[0][1], UNARMED, None)
        name = self._history(values) if values[0][0] in (UP, SLOW) else ROOT
        if silent or name == ROOT or name in self._plain_ends:
            return left, []
        with self.tips.running():
            process = self.tips.take(name, self.driver)
            try:
                sends = self.driver.last_words(process)
            finally:
                self.tips.drop(process)
        return left, [(self._indices[to], packet) for to, packet in sends]

    def _dead_letter(self, values: Values, stimulus: Stimulus) -> Outcome:
        """What the kernel of a host does with a packet when nobody runs there."""
        _, source, packet = stimulus
        outcome = unchanged(values)
        if isinstance(packet, Segment):
            answer = answer_for_nobody(packet.kind)
            if answer is not None:
                return outcome._replace(sends=[(source, Segment(reverse(packet.flow), answer))])
        if isinstance(packet, Look):
            return outcome._replace(sends=[(source, Shown(packet.life, packet.number, None))])
        return outcome

    def _happen(self, process: Process, event: Event, left: Values, chooser: Chooser) -> Outcome:
        """Let an event happen; what becomes of the record, of which `left` is the beginning."""
        due = process.deadline
        try:
            with around(process).inside():  # once for both: the event, and the look at the view
                effects = self.driver.apply(process, event, chooser)
                encoded = self.driver.encode(event, chooser)
                digest = self.driver.digest(process, effects)
                name = self.histories.add(left[HISTORY], encoded, digest)
                if self.histories.effects(name) != digest:
                    raise self.driver.differs(event, effects)
                outcome = self._outcome(process, name, effects, left, chooser)
            if process.deadline != due or event[0] == TIMER:
                outcome = outcome._replace(delays=self._delays(process, outcome.values[0][2]))
        except BaseException:
            self.tips.drop(process)
            raise
        if self.driver.has_plain_end(process):
            self._plain_ends.add(name)
        self.tips.keep(name, process)
        if self.merging is not None:
            self.merging.file(outcome.values)
        return outcome

    def _outcome(
        self, process: Process, name: bytes, effects: Effects, left: Values, chooser: Chooser
    ) -> Outcome:
        status, brief, full = self._failure(process, effects)
        own = UNARMED if status == FAILED else frozenset(map(_named, process.own_events()))
        self.driver.acted = self.driver.acted or bool(own or effects.sends)
        control: Control = (status, left[0][1], own, brief)
        parts = self._parts(process)
        values = [control, name, self.driver.files(process), left[LIFE], left[FIRED], parts]
        values += self._shown(process) if status == UP else [None] * len(self._view)
        sends = [(self._indices[to], packet) for to, packet in effects.sends]
        return Outcome(
            chooser.made,
            values,
            sends,
            effects.records,
            full,
            effects.logs,
            share=chooser.share,
        )

    def _parts(self, process: Process) -> Any:
        """What the record holds beside the view: connections that may break, and what all hold."""
        if process.ended:
            return None
        breakable = tuple(self.driver.connections(process)) if self._breaks else ()
        exact = self.merging is not None and self.real.exact
        held = standing(process) if exact else None
        return (breakable, held) if breakable or held else None

    def _failure(self, process: Process, effects: Effects) -> tuple[int, str | None, str | None]:
        """The status after a step, and the exception that nothing handled: briefly, and in full."""
        if not effects.failures or self.real.exceptions == "log":
            for each in effects.failures:
                effects.logs.append(f"{each.where}: {each.error!r}")
            return UP, None, None
        first = effects.failures[0]
        brief, full = describe_failure(first.error, self.real.main)
        text, at, place = full.rpartition(" at ")
        if first.where != "main":
            text = f"{text} (in {first.where})"
        full = f"{text}{missed_file(process, first.error)}{at}{place}"
        if first.where == "main":
            return FAILED, brief, full
        return UP, None, full

    def _delays(
        self, process: Process, own: frozenset[tuple[Any, ...]]
    ) -> dict[tuple[Any, ...], int | None]:
        """How long the earliest timer takes, if a step armed it: timers may fire by deadline."""
        deadline = process.deadline
        if deadline is None:
            return {}
        delay = ticks(max(deadline - process.now, 0.0))
        return {timer: delay for timer in own if timer[0] == TIMER}

    def _shown(self, process: Process) -> list[Any]:
        """The fields of the view, copied: they must not change with the process."""
        view = self.driver.view(process)
        other = [field for field in view if field not in self._view]
        if other:
            raise BadView(
                f"{self.name}: the view of `{self.real.title}` has a new field `{other[0]}`",
                "the fields of a view are those that its first call returns",
                "return the same names each time, with None where there is nothing yet",
            )
        copied = []
        for field in self._view:
            try:
                copied.append(self.codec.decode(self.codec.encode(view.get(field))))
            except NotState as error:
                raise error.at(f"{self.name}: view[{field!r}]") from None
        return copied

    def _history(self, values: Values) -> bytes:
        name: bytes | None = values[HISTORY]
        if name == ROOT and self.merging is not None:
            name = self.merging.representative(values)
        if name is None or name not in self.histories:
            raise PresageError(
                f"{self.name}: a state of a real node whose history is not known here",
                "a state that another process, or another system, has made",
                "begin with `World.initial(system)`, or with the trace",
            )
        return name

    # -- what can happen ---------------------------------------------------------------------

    def stimuli(self, values: Values) -> list[tuple[Stimulus, int | None]]:
        """As for any node, within the bounds of this one."""
        found = super().stimuli(values)
        if values[0][0] == UP:
            found += self._faults(values)
        lives = self.real.lives
        if lives is None or values[LIFE] + 1 < lives:
            return found
        allowed = [each for each in found if each[0][0] not in BEGINS]
        if len(allowed) < len(found):
            self._bounded(f"lives={lives}")
        return allowed

    def _faults(self, values: Values) -> list[tuple[Stimulus, int | None]]:
        """What may go wrong with a program that is up."""
        exposed = self.exposed
        found: list[tuple[Stimulus, int | None]] = []
        if exposed.sever:
            found += [(("sever", each), SEVER) for each in _breakable(values)]
        if exposed.refuse:
            found.append((("refuse",), REFUSE))
        if exposed.terminate:
            found.append((("terminate",), TERMINATE))
        return found

    def _own(self, values: Values) -> list[tuple[Stimulus, int | None]]:
        """What the process may do by itself, and the next call of the workload."""
        _, calls, own, _ = values[0]
        found: list[tuple[Stimulus, int | None]] = []
        for kind, *rest in self._sorted(own):
            if kind != TIMER:
                found.append((("action", kind, *rest), None))
            elif self.real.timers is None or values[FIRED] < self.real.timers:
                found.append((("timer", TIMER, *rest), None))
            else:
                self._bounded(f"timers={self.real.timers}")
        if calls < len(self.workload) and self.wants(self.workload[calls], values):
            found.append((("call",), None))
        return found

    def _bounded(self, bound: str) -> None:
        self.bounds[bound] = self.bounds.get(bound, 0) + 1

    def deliverable(self, values: Values, source: int, message: Any) -> bool:
        """A real node takes in everything, unless it is slow."""
        return bool(values[0][0] != SLOW)

    def function(self, stimulus: Stimulus, values: Values) -> Callable[..., Any] | None:
        """The program, or the function that a call of the workload runs."""
        if stimulus[0] == "call" and values:
            call = self.workload[values[0][1]]
            return getattr(self.service, call.method)  # type: ignore[no-any-return]
        main = self.real.main
        return main if hasattr(main, "__code__") else None


def _breakable(values: Values) -> tuple[str, ...]:
    """The connections of a node that may break."""
    return values[PARTS][0] if values[PARTS] else ()


def _named(own: tuple[Any, ...]) -> tuple[Any, ...]:
    """An own event of a process as it stands in the record."""
    kind, *rest = own
    if kind == TIMER:
        return (TIMER, *rest)
    return (ACTIONS[kind], *(rest or [kind]))
