"""What an exploration of processes found: confirmed on live ones, made shorter, reported.

Nothing is reported on the word of tables alone: the path of each finding is run again from the
start, and what was found has to show itself again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from presage._results import RunFinding
from presage.errors import Nondeterminism
from presage.execution.budget import Deadline
from presage.execution.confirm import RAISED
from presage.execution.nearest_processes import nearest_run
from presage.execution.processes import ProcessExecution, PropertyFailure, follow
from presage.execution.sandbox import Sandbox
from presage.process.histories import Histories
from presage.process.program import Passing, Program
from presage.process.world import Choice
from presage.search.early import Early
from presage.search.findings import LEFT_LONG, good_run
from presage.search.report import Violation
from presage.search.settings import Settings
from presage.shrink.processes import ProcessShrinker, is_determined, same
from presage.shrink.services import SECONDS_MAX
from presage.trace.trace import Trace, plain_parameters


def early_of_runs(program: Program, sandbox: Sandbox, settings: Settings) -> Early:
    """What saves traces while an exploration goes on."""

    def confirmed(histories: Histories, finding: RunFinding) -> Violation:
        run = _confirmed(program, histories, finding, sandbox)
        return violation_of_run(program, settings, *run)

    return Early(settings.traces, confirmed)


def confirmed_run(
    program: Program,
    settings: Settings,
    histories: Histories,
    finding: RunFinding,
    sandbox: Sandbox,
    passing: Callable[[Deadline], Passing],
) -> tuple[Violation, list[str]]:
    """The violation that a finding is, on live processes, with its trace; and notes on it.

    `passing`: what is known of runs that end well.
    """
    deadline = settings.budget.deadline(SECONDS_MAX)
    execution, what = _confirmed(program, histories, finding, sandbox)
    steps = list(execution.path)
    notes: list[str] = []
    if settings.search != "bfs":  # whose runs are the shortest there are
        execution, what, notes = _shorter(program, steps, (execution, what), sandbox, deadline)
    if program.refine is not None:
        known = partial(passing, deadline)
        kind, message = program.refine(what.kind, what.message, execution.taken, known)
        what = PropertyFailure(what.prop, kind, message)
    violation = violation_of_run(program, settings, execution, what)
    live, more = _good_run(program, settings, execution, what, sandbox, deadline)
    execution.close()
    found = len(steps) if len(execution) < len(steps) else None
    delays = finding.delays if settings.by_delays else None
    return replace(violation, found=found, live=live, delays=delays), [*notes, *more]


def _confirmed(
    program: Program, histories: Histories, finding: RunFinding, sandbox: Sandbox
) -> tuple[ProcessExecution, PropertyFailure]:
    """The path of a finding, followed on live processes, and what it breaks."""
    prop, path = _named(program, finding), finding.path
    steps = [Choice(histories.names.kept[process], choice) for process, choice in path]
    execution = follow(program, steps, sandbox)
    matching = [each for each in execution.failures() if each.prop == prop]
    if not matching:
        raise Nondeterminism(f"`{prop}` broke in a run of the program, and not when run again")
    return execution, matching[0]


def _shorter(
    program: Program,
    steps: list[Choice],
    known: tuple[ProcessExecution, PropertyFailure],
    sandbox: Sandbox,
    deadline: Deadline,
) -> tuple[ProcessExecution, PropertyFailure, list[str]]:
    """A shorter run with the same violation, or the one that is known; and notes on it."""
    fewer = ProcessShrinker(program, sandbox, known[1], deadline.allows)
    taken, what = known[0].taken, known[1]
    determined = is_determined(taken, what)
    kept = fewer.needed(steps, taken) if determined else fewer.of(steps)
    notes = [] if determined or fewer.go_on else [LEFT_LONG]
    if len(kept) == len(steps):
        return *known, notes
    known[0].close()
    execution = follow(program, [step for _, step in kept], sandbox)
    found = [each for each in execution.failures() if same(known[1], each)]
    if not found:
        raise Nondeterminism(
            f"`{known[1].prop}` broke in a run that was made shorter, and not when it was run again"
        )
    return execution, found[0], notes


def _good_run(
    program: Program,
    settings: Settings,
    execution: ProcessExecution,
    what: PropertyFailure,
    sandbox: Sandbox,
    deadline: Deadline,
) -> tuple[Trace | None, list[str]]:
    """The nearest run in which nothing breaks; None if none was met."""
    if is_determined(execution.taken, what):
        return None, []  # every run is this one
    path, seconds = execution.path, deadline.remaining()
    found, notes = good_run(lambda: nearest_run(program, path, sandbox, seconds))
    if found is None:
        return None, notes
    good, message, evidence = found
    facts = PropertyFailure(what.prop, "live", message)
    trace = violation_of_run(program, settings, good, facts).trace
    assert trace is not None
    return msgspec.structs.replace(trace, evidence=evidence), notes


def _named(program: Program, finding: RunFinding) -> str:
    """The property that a finding of the kernel breaks."""
    if finding.kind == "property":
        return str(program.properties[finding.detail[0]].name)
    names = {"failure": "no_exception", "deadlock": "no_deadlock"}
    return names.get(finding.kind, "no_leftovers")


def violation_of_run(
    program: Program, settings: Settings, execution: ProcessExecution, what: PropertyFailure
) -> Violation:
    """What a run breaks, with its trace."""
    raised = re.search(RAISED, what.message)
    where = raised.groups() if raised else ("", "")
    claims = {prop.name: (prop.source, prop.signature) for prop in program.properties}
    source, signature = claims.get(what.prop, where)
    facts: dict[str, Any] = {
        "prop": what.prop,
        "kind": what.kind,
        "message": what.message,
        "source": source,
        "signature": signature,
        "step": len(execution),
    }
    trace = Trace(
        target=settings.target,
        parameters=plain_parameters(settings.named),
        system=program.name,
        nodes=tuple(execution.world.members),
        door="process",
        initial=execution.initial,
        steps=execution.trace_steps(),
        **facts,
    )
    return Violation(steps=len(execution), trace=trace, **facts)
