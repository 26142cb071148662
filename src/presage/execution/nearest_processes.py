"""The nearest good run of a violation in a program of processes: see `nearest`.

A world of processes cannot be gone back in, so every attempt is run from the start: first as the
violation was, up to some step, then by chance until the program is over. It is good if nothing at
all is wrong with it then, or after `LENGTH` more steps of a program that does not end.
"""

from __future__ import annotations

from collections.abc import Sequence

from presage.execution.chance import Dice
from presage.execution.nearest import Attempts, Kept, evidence, longest
from presage.execution.processes import ProcessExecution, follow
from presage.execution.sandbox import Sandbox
from presage.process.ops import Publish
from presage.process.program import Program
from presage.process.world import Choice

LENGTH = 400  # steps after which a program that does not end has kept what it should
STEPS_MAX = 10_000  # live steps spent on one violation
SECONDS_MAX = 3.0


class NearestRun:
    """Attempts to run a program to its end, each with less of a run that breaks something."""

    def __init__(
        self, program: Program, path: Sequence[Choice], sandbox: Sandbox, seconds: float
    ) -> None:
        self._attempts = Attempts(seconds, STEPS_MAX)
        self._program = program
        self._path = path
        self._sandbox = sandbox

    def find(self) -> tuple[ProcessExecution, str, str] | None:
        """The good run, how it kept what it should, and on what evidence."""
        attempts = self._attempts
        found = longest(len(self._path) - 1, lambda at: attempts.at(at, self._walk))
        if found is None:
            return None
        place, (path, kept) = found
        execution = follow(self._program, path, self._sandbox)
        return execution, kept.text, evidence(place, attempts.walks)

    def _walk(self, place: int, dice: Dice) -> tuple[list[Choice], Kept] | None:
        execution = ProcessExecution(self._program, self._sandbox)
        path: list[Choice] = []
        try:
            for step in self._path[:place]:
                execution.take(step)
                path.append(step)
            while len(path) < place + LENGTH:
                due = execution.world.enabled()
                if not due:
                    break
                path.append(due[int(dice.below(len(due)))])
                taken = execution.take(path[-1])
                if isinstance(taken.op, Publish) and execution.failures():
                    return None
                if execution.world.members[taken.process].failed is not None:
                    return None
            if execution.failures():
                return None
            at_rest = execution.world.is_at_rest
            if not at_rest and not execution.world.enabled():
                return None  # a guess did not come true
            return path, Kept(len(path), len(path) - place, at_rest)
        finally:
            self._attempts.spent += len(path) + 1
            execution.close()


def nearest_run(
    program: Program, path: Sequence[Choice], sandbox: Sandbox, seconds: float | None = None
) -> tuple[ProcessExecution, str, str] | None:
    """The good run nearest to one that breaks something; to be used within a `Fence`."""
    if not path:
        return None
    limit = SECONDS_MAX if seconds is None else min(seconds, SECONDS_MAX)
    return NearestRun(program, path, sandbox, limit).find()
