"""A session's questions, asked of a program of processes."""

from __future__ import annotations

from typing import Any

from presage.debug.backend import Written, module_names
from presage.debug.process_branch import Running
from presage.debug.walk import Option
from presage.execution.influence import past
from presage.execution.process_state import AT, mailboxes_of
from presage.execution.processes import failures_in
from presage.execution.protocol import PropertyStatus
from presage.execution.sandbox import NOW, Sandbox
from presage.execution.state import State
from presage.process.fence import Fence
from presage.process.program import Program
from presage.props.property import Property
from presage.shrink.essential import EssentialSteps
from presage.shrink.processes import ProcessShrinker
from presage.trace.trace import Sent, Trace


class ProcessBackend:
    """A program."""

    of_services = False

    def __init__(self, program: Program, sandbox: Sandbox) -> None:
        self.program = program
        self.properties: tuple[Property, ...] = program.properties
        self._sandbox = sandbox

    def begin(self, trace: Trace) -> Running:
        """The execution that a trace tells of."""
        return Running(self.program, self._sandbox, trace.initial, trace.steps)

    def names(self, branch: Running) -> tuple[str, ...]:
        """All processes: those of the program, and those that are created on this branch."""
        acting = [step.node for step in branch.steps]
        return tuple(dict.fromkeys([*self.program.nodes, *branch.begun, *acting]))

    def state(self, branch: Running, step: int) -> State:
        """The state after a step as plain data."""
        return branch.moment(step).state

    def values(self, branch: Running, step: int) -> dict[str, dict[str, Any]]:
        """What every process has published, as fresh objects."""
        moment = branch.moment(step)
        return {
            name: {field: moment.payloads.fresh(number) for field, number in fields.items()}
            for name, fields in moment.published.items()
        }

    def channels(self, branch: Running, step: int) -> list[tuple[str, str, list[Any]]]:
        """What waits at each mailbox, in words."""
        waiting = mailboxes_of(branch.moment(step).state)
        return [
            (name, "mailbox", [Written(each) for each in texts])
            for name, texts in waiting.items()
            if isinstance(texts, list)
        ]

    def judge(self, branch: Running, step: int) -> dict[str, PropertyStatus]:
        """What is claimed of every program, and of this one, after a step."""
        return branch.moment(step).said

    def options(self, branch: Running, step: int, *, calm: bool) -> list[Option]:
        """What can happen after a step; one thing is as likely as another."""
        return [
            Option(each, (), fault=False, idle=False, weight=1.0)
            for each in branch.moment(step).due
        ]

    def place(self, branch: Running, step: int) -> str:
        """The line at which the process stood that took a step."""
        return branch.moment(step).place

    def opening(self, branch: Running) -> list[tuple[str, str]]:
        """What was printed before anything happened: (process, text)."""
        return list(branch.moment(0).opening)

    def posted(self, branch: Running) -> tuple[Sent, ...]:
        """Nothing: what a process sends is a step of its own."""
        return ()

    def known(self, branch: Running, step: int) -> dict[str, Any]:
        """What the modules of the processes call by name; where each is, and what waits."""
        names: dict[str, Any] = {}
        for process in self.program.processes.values():
            names |= module_names(process.body)
        moment = branch.moment(step)
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

    def past(self, trace: Trace, branch: Running, step: int) -> tuple[int, ...]:
        """The steps that led to `step` of `branch`."""
        return past(branch.happened(step), step)

    def needed(self, trace: Trace, branch: Running, seconds: float) -> EssentialSteps:
        """Which steps of the trace that `branch` is matter."""
        deadline = NOW() + seconds
        path, every = branch.path(trace.step), tuple(range(1, trace.step + 1))
        world = branch.world(trace.step)
        with Fence():
            found = [
                each for each in failures_in(world, self._sandbox.run) if each.prop == trace.prop
            ]
            if not found:  # a branch that was saved: nothing breaks
                return EssentialSteps(every, trace.step, (), (), True)
            fewer = ProcessShrinker(self.program, self._sandbox, found[0], lambda: NOW() < deadline)
            kept = fewer.of(path)
            return EssentialSteps(tuple(at + 1 for at, _ in kept), trace.step, (), (), fewer.go_on)
