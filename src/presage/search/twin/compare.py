"""The first process: hand the steps of a search to a second one, and tell what differs there.

All distinct steps are compared if that takes a small part of what the search took, else a sample
of them. Nothing is told on the word of the second process alone: each difference is confirmed by
running the step here once more, which also tells code that is not even the same twice in one
process. A second process that fails is told in a line, and fails nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from presage._core import Kernel, Steps, resident_mib
from presage.errors import PresageError
from presage.execution.budget import Budget
from presage.execution.causes import known_causes
from presage.execution.sandbox import CPU, Sandbox
from presage.model.source import place_of
from presage.records import record
from presage.search.kernel.bridge import Bridge
from presage.search.kernel.difference import describe, first_apart
from presage.search.kernel.order import PROCESSES, RUNS, SETS, OrderDependent, guards_of
from presage.search.twin.suspects import suspicious
from presage.search.twin.verdicts import Kept, noted
from presage.search.twin.wire import (
    LISTING,
    OBSERVING,
    OWN,
    Answer,
    Apart,
    Judged,
    Request,
    Step,
)
from presage.trace.show import show

ALWAYS_SECONDS = (
    8.0  # of processor time: where a search takes longer, a process costs next to nothing
)
STEPS_MAX = 100_000
BYTES_MAX = 1 << 26
# Processor time of the second process: at least, and as a share of the search's.
SUSPICIOUS = (2.0, 0.1)
USUAL = (0.2, 0.02)
START_SECONDS = 60.0  # to load the system; beyond that and what it computes, it is given up
MEMORY_MIB = 128  # what a second process may need


SECOND = "a second process under another hash seed"
BACKWARDS = "runs that iterate sets backwards"


class Failed(Exception):
    """The second process gave no answer; the text says why."""


class Process(Protocol):
    """A second process that has been started, or what stands for one in this process."""

    def answer(self, seconds: float, goes_on: Callable[[], bool]) -> bytes:
        """What it says within so many seconds, while `goes_on()`; raises `Failed`."""

    def end(self) -> None:
        """Let it go, whatever it does."""


Start = Callable[[bytes], Process]


@record(frozen=True)
class Compared:
    """How much of a search was run again in a second process."""

    steps: int = 0
    of_steps: int = 0  # distinct ones that the search met
    verdicts: int = 0
    of_verdicts: int = 0  # as often as a predicate was run
    why: str = ""  # why there is no answer
    in_process: bool = False  # instead of a second process, sets were iterated backwards

    @property
    def is_sample(self) -> bool:
        """Whether some step or verdict was not compared."""
        return self.steps < self.of_steps or self.verdicts < self.of_verdicts

    def note(self) -> str:
        """In one sentence."""
        way = BACKWARDS if self.in_process else SECOND
        if self.why:
            return f"not compared with {way}: {self.why}"
        if not self.is_sample:
            counts = f"all {self.steps:,} distinct steps and {self.verdicts:,} verdicts"
        else:
            counts = (
                f"a sample, {self.steps:,} of {self.of_steps:,} distinct steps and"
                f" {self.verdicts:,} of {self.of_verdicts:,} verdicts"
            )
        return f"compared with {way}: {counts}"

    def to_json(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "of_steps": self.of_steps,
            "verdicts": self.verdicts,
            "of_verdicts": self.of_verdicts,
            "sample": self.is_sample,
            "why": self.why or None,
        }


class Twin:
    """The second process of one search; made before the search, which it is to be measured by."""

    def __init__(
        self,
        start: Start,
        bridge: Bridge,
        sandbox: Sandbox,
        budget: Budget,
        *,
        in_process: bool = False,
    ) -> None:
        self._start = start
        self._bridge = bridge
        self._system = bridge.system
        self._sandbox = sandbox
        self._budget = budget
        self._in_process = in_process
        self._between = SETS if in_process else PROCESSES
        self._began = CPU()
        self._process: Process | None = None
        self._request: Request | None = None
        self._totals = (0, 0)
        self._seconds = 0.0
        self._why = ""
        bridge.kept = Kept()

    def begin(self, kernel: Kernel, memory_mib: int | None) -> None:
        """Start it, if it may find something; call `result` for what it says."""
        kept, self._bridge.kept = self._bridge.kept, None  # these worlds keep the kernel alive
        assert kept is not None, "made with this"
        spent = CPU() - self._began
        opaque = any(node.opaque for node in self._system.automata)
        if opaque and self._in_process:
            return  # sets of libraries that nobody here wrote; another process has another seed
        suspected = opaque or suspicious(self._system)
        if not suspected and spent < ALWAYS_SECONDS:
            return
        least, share = SUSPICIOUS if suspected else USUAL
        self._seconds = max(least, share * spent)
        self._why = self._obstacle(memory_mib)
        if self._why:
            return
        from presage.search.twin.rerun import Rerun

        self._rerun = Rerun(self._system, self._bridge, kernel, self._sandbox)
        try:
            self._request = self._asked(kernel, kept)
            self._process = self._start(msgspec.msgpack.encode(self._request))
        except (Failed, PresageError) as failed:
            self._why = str(failed).partition("\n")[0]

    def _obstacle(self, memory_mib: int | None) -> str:
        left = self._budget.remaining()
        if left is not None and left < self._seconds / 2:
            return "no time was left"
        if self._in_process or memory_mib is None:
            return ""
        if memory_mib - (resident_mib() or 0) < MEMORY_MIB:
            return f"it needs {MEMORY_MIB} MiB more than `memory` leaves"
        return ""

    def _asked(self, kernel: Kernel, kept: Kept) -> Request:
        codec, automata = self._system.codec, self._system.automata
        memo = Steps(kernel)
        total, steps = memo.met(STEPS_MAX, BYTES_MAX)
        first = [codec.encode_fields(automaton.initial()) for automaton in automata]
        starts = [(OWN, at, values, codec.encode(("start",)), 0) for at, values in enumerate(first)]
        steps = [(*step[:4], self._rerun.digest(step) or 0) for step in starts] + steps
        known = [(self._system, self._sandbox, prop - 1, reader) for prop, reader in kept.worlds]
        verdicts = [noted(*each) for each in known]
        self._totals = (total + len(starts), kept.asked)
        classes, references = memo.names()
        return Request(
            seconds=self._seconds,
            handler_seconds=self._sandbox.seconds,
            classes=classes,
            references=references,
            first=first,
            steps=steps,
            verdicts=verdicts,
            known=known_causes(self._system),
            histories=self._system.saved_histories(),
        )

    def result(self) -> Compared | None:
        """What was compared, after what differs was added to the findings; None: nothing was."""
        if self._process is None or self._request is None:
            return Compared(why=self._why, in_process=self._in_process) if self._why else None
        try:
            answer = self._answer(self._process)
            self._tell(self._request, answer)
        except (Failed, PresageError) as failed:
            why = str(failed).partition("\n")[0]
            return self._compared(0, 0, why)
        finally:
            self._process.end()
        steps, verdicts = answer.steps - answer.skipped[0], answer.verdicts - answer.skipped[1]
        return self._compared(steps, verdicts)

    def _compared(self, steps: int, verdicts: int, why: str = "") -> Compared:
        return Compared(steps, self._totals[0], verdicts, self._totals[1], why, self._in_process)

    def _answer(self, process: Process) -> Answer:
        left = self._budget.remaining()
        most = START_SECONDS + 4 * self._seconds
        raw = process.answer(most if left is None else left, lambda: not self._budget.interrupted)
        try:
            return msgspec.msgpack.decode(raw, type=Answer)
        except msgspec.DecodeError as error:
            raise Failed("its answer cannot be read") from error

    def _tell(self, request: Request, answer: Answer) -> None:
        for apart in answer.first:
            self._tell_first(apart)
        for apart in answer.apart:
            self._tell_step(request.steps[apart.at], apart)
        for apart in answer.judged:
            self._tell_verdict(request.verdicts[apart.at], apart)

    def _tell_first(self, apart: Apart) -> None:
        automaton = self._system.automata[apart.at]
        ((part, _, text),) = apart.branches[0]
        here = automaton.initial()
        at = automaton.positions.get(part.strip("`"), 0)
        difference = f"differed in {part}: {show(here[at])} and {text}"
        code, step = f"{self._system.name}", f"the first values of {automaton.name}"
        place = automaton.service.__name__
        self._add(OrderDependent(code, place, (), step, difference, self._between))

    def _tell_step(self, step: Step, apart: Apart) -> None:
        here, known = self._rerun.branches(step), self._rerun.digest(step) == step[4]
        between = self._between if known and apart.stable else RUNS
        difference = first_apart(here, apart.branches) or "did different things"
        if step[0] == OBSERVING:
            name, observer = list(self._system.observers.items())[step[1]]
            code = f"{type(observer).__name__}.observe"
            place = place_of(type(observer).observe)
            self._add(OrderDependent(code, place, (), name, difference, between))
        elif step[0] == LISTING:
            self._tell_listing(step, apart, between)
        else:
            self._tell_handler(step, difference, between)

    def _tell_handler(self, step: Step, difference: str, between: str) -> None:
        automaton = self._system.automata[step[1]]
        stimulus = self._rerun.stimulus(step)
        values = [self._system.codec.decode(value) for value in step[2]]
        function = automaton.function(stimulus, values)
        code = f"{automaton.service.__name__}.{getattr(function, '__name__', stimulus[0])}"
        place = automaton.name if function is None else place_of(function)
        text = describe(automaton, stimulus, self._system.names)
        self._add(OrderDependent(code, place, (), text, difference, between))

    def _tell_listing(self, step: Step, apart: Apart, between: str) -> None:
        """A guard, or `over`, lets other things happen: name the first of them."""
        automaton, codec = self._system.automata[step[1]], self._system.codec
        there = {part[1]: part[2] for did in apart.branches for part in did}
        here = {codec.digest(codec.encode(each)): each for each in self._rerun.listed(step)}
        values = [codec.decode(value) for value in step[2]]
        code, place = f"{automaton.service.__name__}, `when` and `over`", automaton.name
        only = [each for digest, each in here.items() if digest not in there]
        text = next((there[digest] for digest in there if digest not in here), automaton.name)
        if only:
            function = automaton.function(only[0], values)
            asked = next(filter(callable, guards_of(automaton, only[0], values)), function)
            code = f"{automaton.service.__name__}.{getattr(function, '__name__', only[0][0])}"
            code = f"{code}, `when` and `over`"
            place = automaton.name if asked is None else place_of(asked)
            text = describe(automaton, only[0], self._system.names)
        difference = "could happen once and once not"
        self._add(OrderDependent(code, place, (), text, difference, between))

    def _tell_verdict(self, known: Judged, apart: Apart) -> None:
        prop = self._system.judged[known.prop]
        ((_, _, verdict),) = apart.branches[0]
        difference = f"gave another verdict: {known.verdict} and {verdict}"
        between = self._between if apart.stable else RUNS
        found = OrderDependent(prop.name, prop.source, (), "the property", difference, between)
        self._add(found)

    def _add(self, found: OrderDependent) -> None:
        self._bridge.orders.add(found)
