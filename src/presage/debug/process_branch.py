"""One execution of processes on live code, which can be looked at anywhere and gone on with.

Processes cannot be copied: to go back they are run again from the start. So what there is to say
of a moment is kept when it is first come to, and only to go on from it are they run again.

Invariant: `steps[i - 1]` is step i. Of a branch of one's own, steps are written anew
when it goes on, because a message may then have met somebody.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from presage.debug.branch import Branch, Option, Taken, Written, module_names
from presage.errors import Diverged, Nondeterminism
from presage.execution.describe import Words
from presage.execution.influence import past
from presage.execution.process_state import AT, mailboxes_of
from presage.execution.processes import ProcessExecution, expected, failures_in
from presage.execution.protocol import PropertyStatus
from presage.execution.sandbox import NOW, Sandbox
from presage.execution.state import State
from presage.process.fence import Fence
from presage.process.payload import Payloads
from presage.process.program import Program
from presage.process.view import ProgramView
from presage.process.world import Choice, ProcessWorld
from presage.process.world import Taken as ProcessStep
from presage.records import record
from presage.shrink.essential import EssentialSteps
from presage.shrink.processes import ProcessShrinker
from presage.trace.trace import Sent, Trace, TraceStep


@record(frozen=True)
class Due:
    """A step that a process can take: the event of a program."""

    node: str
    kind: str
    label: str
    choice: Choice

    def __str__(self) -> str:
        return self.label


@record(frozen=True)
class Moment:
    """What there is to say of the world after a step."""

    state: State
    said: dict[str, PropertyStatus]
    due: tuple[Due, ...]  # what can happen next
    ended: frozenset[str]  # processes
    place: str  # where the process stood that took the step
    opening: tuple[tuple[str, str], ...]  # what processes printed at their start, as far as begun
    payloads: Payloads
    published: dict[str, dict[str, int]]  # by process and field, numbers of `payloads`


class ProcessBranch(Branch):
    """The steps of one branch of a session on a program."""

    of_services = False

    def __init__(self, program: Program, sandbox: Sandbox, trace: Trace) -> None:
        super().__init__(sandbox, trace)
        self.program = program
        self.properties = program.properties
        self._path: list[Choice | None] = [None] * len(self.steps)
        self._moments: dict[int, Moment] = {}
        self._execution: ProcessExecution | None = None
        self.world(0)

    def begin(self, trace: Trace) -> ProcessBranch:
        return ProcessBranch(self.program, self.sandbox, trace)

    def world(self, step: int) -> ProcessWorld:
        with Fence():
            return self._reach(step).world

    def moment(self, step: int) -> Moment:
        if step not in self._moments:
            self.world(step)
        return self._moments[step]

    def view(self, step: int) -> ProgramView:
        return ProgramView(self.values(step))

    def taken(self, step: int) -> Taken:
        recorded = self.steps[step - 1]
        return Taken(Due(recorded.node, recorded.kind, recorded.label, self.path(step)[-1]))

    def path(self, step: int) -> list[Choice]:
        if None in self._path[:step]:
            self.world(step)
        return [choice for choice in self._path[:step] if choice is not None]

    def happened(self, step: int) -> tuple[ProcessStep, ...]:
        """The steps up to `step` as they were taken."""
        with Fence():
            return self._reach(step).taken

    @property
    def begun(self) -> tuple[str, ...]:
        """The processes that were there as far as this has been looked at."""
        return tuple(self._moments[max(self._moments)].published)

    def extend(self, taken: Taken) -> TraceStep:
        with Fence():
            execution = self._reach(len(self.steps))
            choice: Choice = taken.event.choice
            try:
                execution.take(choice)
                moment = self._moment_of(execution)
            except BaseException:
                self._let_go()
                raise
        self.steps = list(execution.trace_steps())
        self._path.append(choice)
        self._moments[len(self.steps)] = moment
        return self.steps[-1]

    def fork(self, step: int) -> ProcessBranch:
        other = copy(self)
        other._path = list(self.path(step))
        other.steps = self.steps[:step]
        other._moments = {at: moment for at, moment in self._moments.items() if at <= step}
        other._execution = None
        return other

    def redo(self, step: int, origin: int) -> None:
        """Programs have no loops that could be gone round again."""
        raise NotImplementedError

    # -- what is so there --------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        acting = [step.node for step in self.steps]
        return tuple(dict.fromkeys([*self.program.nodes, *self.begun, *acting]))

    def state(self, step: int) -> State:
        return self.moment(step).state

    def values(self, step: int) -> dict[str, dict[str, Any]]:
        moment = self.moment(step)
        return {
            name: {field: moment.payloads.fresh(number) for field, number in fields.items()}
            for name, fields in moment.published.items()
        }

    def channels(self, step: int) -> list[tuple[str, str, list[Any]]]:
        waiting = mailboxes_of(self.moment(step).state)
        return [
            (name, "mailbox", [Written(each) for each in texts])
            for name, texts in waiting.items()
            if isinstance(texts, list)
        ]

    def judge(self, step: int) -> dict[str, PropertyStatus]:
        return self.moment(step).said

    def options(self, step: int, *, calm: bool) -> list[Option]:
        """What can happen after a step; one thing is as likely as another."""
        return [
            Option(each, (), fault=False, idle=False, weight=1.0) for each in self.moment(step).due
        ]

    def place(self, step: int) -> str:
        return self.moment(step).place

    def opening(self) -> list[tuple[str, str]]:
        return list(self.moment(0).opening)

    def posted(self) -> tuple[Sent, ...]:
        """Nothing: what a process sends is a step of its own."""
        return ()

    def known(self, step: int) -> dict[str, Any]:
        names: dict[str, Any] = {}
        for process in self.program.processes.values():
            names |= module_names(process.body)
        moment = self.moment(step)
        places = {
            name: fields[AT]
            for name in moment.published
            if isinstance(fields := moment.state[name], dict)
        }
        return names | {
            "at": places,
            "ended": moment.ended,
            "mailboxes": mailboxes_of(moment.state),
        }

    def past(self, trace: Trace, step: int) -> tuple[int, ...]:
        return past(self.happened(step), step)

    def needed(self, trace: Trace, seconds: float) -> EssentialSteps:
        deadline = NOW() + seconds
        path, every = self.path(trace.step), tuple(range(1, trace.step + 1))
        world = self.world(trace.step)
        with Fence():
            found = [
                each for each in failures_in(world, self.sandbox.run) if each.prop == trace.prop
            ]
            if not found:  # a branch that was saved: nothing breaks
                return EssentialSteps(every, trace.step, (), (), True)
            fewer = ProcessShrinker(self.program, self.sandbox, found[0], lambda: NOW() < deadline)
            kept = fewer.of(path)
            return EssentialSteps(tuple(at + 1 for at, _ in kept), trace.step, (), (), fewer.go_on)

    # -- going there -------------------------------------------------------------------------

    def _reach(self, step: int) -> ProcessExecution:
        assert 0 <= step <= len(self.steps), step
        if self._execution is None or len(self._execution) > step:
            self._let_go()
            self._execution = ProcessExecution(self.program, self.sandbox)
            if self._execution.initial != self.initial:
                raise Diverged("the initial state", self.initial, self._execution.initial)
            self._note(0)
        try:
            while len(self._execution) < step:
                self._advance(self._execution)
        except BaseException:
            self._let_go()  # it may be anywhere
            raise
        return self._execution

    def _advance(self, execution: ProcessExecution) -> None:
        at = len(execution)
        recorded = self.steps[at]
        choice = self._path[at] or execution.resolve(recorded)
        execution.take(choice)
        found = execution.world.fingerprint
        if found != recorded.fingerprint:
            where = f"step {at + 1} (`{recorded.label}` of {recorded.node})"
            first = Diverged(where, recorded.fingerprint, found)
            if self._again([*self.path(at), choice]) == found:
                raise first
            told_twice = f"two replays of one step went different ways: {first}"
            raise Nondeterminism(told_twice)
        self._path[at] = choice
        self._note(at + 1)

    def _again(self, path: Sequence[Choice]) -> int | None:
        """Where `path` leads once more; None if it is not possible any more."""
        execution = ProcessExecution(self.program, self.sandbox)
        try:
            for choice in path:
                if choice.choice not in execution.choices(choice.process):
                    return None
                execution.take(choice)
            return execution.world.fingerprint
        finally:
            execution.close()

    def _let_go(self) -> None:
        if self._execution is not None:
            self._execution.close()
        self._execution = None

    def _note(self, step: int) -> None:
        if step not in self._moments:
            assert self._execution is not None
            self._moments[step] = self._moment_of(self._execution)

    def _moment_of(self, execution: ProcessExecution) -> Moment:
        world = execution.world
        members = world.members.items()
        return Moment(
            execution.state(),
            execution.statuses(),
            tuple(due(world, choice) for choice in execution.options()),
            frozenset(name for name, member in members if member.ended),
            execution.place(),
            tuple((name, line) for name, lines in world.opening.items() for line in lines),
            world.payloads,
            {name: dict(member.published) for name, member in members},
        )


def due(world: ProcessWorld, choice: Choice) -> Due:
    """A step that can be taken, in the words that its trace will have."""
    kind, label, _, _ = Words(world.program).step(expected(world, choice))
    return Due(choice.process, kind, label, choice)
