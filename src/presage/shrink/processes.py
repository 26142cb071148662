"""Fewer steps of processes, same violation.

Delta debugging over (process, choice): pieces of a run are left out, what is not possible any more
is skipped, and what still breaks the same property in the same way is kept. Every attempt runs on
live processes from the start.

Invariant: what is returned was executed, breaks the same property, and is never longer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence

from presage.execution.confirm import RAISED
from presage.execution.influence import follows
from presage.execution.processes import ProcessExecution, PropertyFailure
from presage.execution.sandbox import Sandbox
from presage.process.channels import is_channelled
from presage.process.ops import Create, Op, Publish, Recv, Send, Sleep, WaitAny
from presage.process.program import Program
from presage.process.world import Choice, Taken
from presage.shrink.delta import minimize
from presage.trace.causes import reachable

STEPS_MAX = 100_000  # live steps spent on one violation
AT_REST = ("no_deadlock", "no_leftovers")

Numbered = tuple[int, Choice]  # a step, and its place in the run that is made shorter


class ProcessShrinker:
    """Attempts to break what `what` says with fewer steps. To be used within a `Fence`."""

    def __init__(
        self, program: Program, sandbox: Sandbox, what: PropertyFailure, in_time: Callable[[], bool]
    ) -> None:
        self._program = program
        self._sandbox = sandbox
        self._what = what
        self._in_time = in_time
        self._spent = 0

    @property
    def go_on(self) -> bool:
        """Whether there is time and patience left."""
        return self._spent < STEPS_MAX and self._in_time()

    def of(self, path: Sequence[Choice]) -> Sequence[Numbered]:
        """The fewest steps of `path` found that do, with their places in it, from 0."""
        return minimize(list(enumerate(path)), self._attempt, lambda: self.go_on)

    def needed(self, path: Sequence[Choice], taken: Sequence[Taken]) -> Sequence[Numbered]:
        """The same for a run in which nothing was chosen: what the last step follows."""
        steps = list(enumerate(path))
        if self._what.prop in AT_REST:  # where nothing can happen, all has happened that can
            return steps
        past = {*reachable(follows(taken, order=False), len(taken)), len(taken)}
        return self._attempt([step for step in steps if step[0] + 1 in past]) or steps

    def _attempt(self, steps: Sequence[Numbered]) -> list[Numbered] | None:
        execution = ProcessExecution(self._program, self._sandbox)
        kept: list[Numbered] = []
        try:
            for at, step in steps:
                if step.choice not in execution.choices(step.process):
                    continue
                kept.append((at, step))
                taken = execution.take(step)
                if self._may_show(taken, execution) and self._shows(execution):
                    return kept
            return kept if self._shows(execution) else None
        finally:
            self._spent += len(kept) + 1
            execution.close()

    def _may_show(self, taken: Taken, execution: ProcessExecution) -> bool:
        """Whether a step can have broken it: asking after every one would take too long."""
        if self._what.prop == "no_exception":
            created = isinstance(taken.op, Create)
            return created or execution.world.members[taken.process].failed is not None
        return isinstance(taken.op, Publish) and self._what.prop not in AT_REST

    def _shows(self, execution: ProcessExecution) -> bool:
        return any(same(self._what, each) for each in execution.failures())


def is_determined(taken: Sequence[Taken], what: PropertyFailure) -> bool:
    """Whether nothing was chosen, so that no other run of the program shows less or more.

    What a process is answered then depends on no order of steps: there are no tests and no choices,
    and each mailbox that is not one of channels has one sender and one receiver.
    """
    ends: defaultdict[tuple[str, type], set[str]] = defaultdict(set)
    for each in taken:
        if each.options != 1 or not _is_blind(each.op, what):
            return False
        if isinstance(each.op, Send | Recv) and not is_channelled(each.op):
            ends[each.op.mailbox, type(each.op)].add(each.process)
    return all(len(processes) == 1 for processes in ends.values())


def _is_blind(op: Op | str, what: PropertyFailure) -> bool:
    """Whether an operation is answered the same whenever it is answered."""
    match op:
        case Send():
            return not (op.may_wait and what.prop in AT_REST)
        case WaitAny():
            return len(op.slots) == 1 and op.timeout is None
        case Publish():
            return what.prop in ("no_exception", *AT_REST)
    return isinstance(op, Recv | Sleep)


def same(one: PropertyFailure, other: PropertyFailure) -> bool:
    """Whether two violations are one: property, kind, and where an exception was raised."""
    if (one.prop, one.kind) != (other.prop, other.kind):
        return False
    found = (re.search(RAISED, each.message) for each in (one, other))
    places = {each and each.groups() for each in found}
    return len(places) == 1
