"""What a search found, told: confirmed on live code, made shorter, saved.

Nothing is reported on the word of tables alone: each finding is replayed from the start on a live
`World`, every fingerprint compared, and the property asked again there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from presage._core import Suspect
from presage._results import Finding, Progress
from presage.errors import BadTrace, PresageError
from presage.execution.budget import Budget
from presage.execution.confirm import RAISED, Confirmed, confirm
from presage.execution.nearest import nearest
from presage.execution.sandbox import Sandbox
from presage.model.world.system import System
from presage.props.property import Property
from presage.search.early import Early
from presage.search.hunt.critical import Located, locate
from presage.search.hunt.settings import Hunt
from presage.search.hunt.shorten import shortened
from presage.search.report import Report, Violation
from presage.search.summary import remarks
from presage.shrink.services import shrink
from presage.systems import SHIPPED
from presage.trace import codec as trace_codec
from presage.trace import seal
from presage.trace.trace import Trace

T = TypeVar("T")

EXACT = "exact"
COVERAGE_MAX = 500_000  # characters of it in a trace
LEFT_LONG = "the trace may be longer than it need be: there was no time to try all that is shorter"

# Makes what the kernel tells of its progress: how long the suspect is, and the seconds spent.
Teller = Callable[[int, float], Callable[[Progress], None] | None]


def early_of(system: System, sandbox: Sandbox, report: Report, folder: str | Path | None) -> Early:
    """What saves traces while a search goes on; `report` names the target."""

    def confirmed(finding: Finding) -> Violation:
        found = confirm(system, sandbox, finding)
        return violation_of(system, report, found, found.prop)

    return Early(folder, confirmed)


def add(
    system: System,
    sandbox: Sandbox,
    report: Report,
    finding: Finding,
    *,
    shrinks: bool,
    budget: Budget,
) -> None:
    """Confirm a finding on live code; a violation goes into the report with its trace.

    It is made shorter if `shrinks`, as far as the budget allows.
    """
    confirmed = confirm(system, sandbox, finding)
    prop = confirmed.prop
    if prop is not None and prop.kind == "sometimes":
        return
    found = len(confirmed.steps)
    if shrinks:
        confirmed, done = shrink(system, sandbox, confirmed, budget)
        if not done and LEFT_LONG not in report.notes:
            report.notes.append(LEFT_LONG)
    violation = violation_of(system, report, confirmed, prop)
    violation.found = found if len(confirmed.steps) < found else None
    violation.delays = finding.delays if report.search == "delay" else None
    if violation.kind != "liveness":
        violation.live = _good_run(system, sandbox, report, confirmed, budget.remaining())
    report.violations.append(violation)


def good_run(report: Report, look: Callable[[], T | None]) -> T | None:
    """What `look` finds; nothing if it was interrupted, or came to code that cannot be run."""
    try:
        return look()
    except KeyboardInterrupt:
        report.notes.append("interrupted while the nearest good run was looked for")
    except PresageError:  # of code that the search did not come to: it is not what was found
        pass
    return None


def _good_run(
    system: System, sandbox: Sandbox, report: Report, confirmed: Confirmed, seconds: float | None
) -> Trace | None:
    """The nearest execution that keeps what `confirmed` breaks; None if none was met."""
    found = good_run(report, lambda: nearest(system, sandbox, confirmed, seconds))
    if found is None:
        return None
    good, evidence = found
    facts = {"kind": "live", "evidence": evidence}
    return violation_of(system, report, good, good.prop, **facts).trace


def violation_of(
    system: System, report: Report, confirmed: Confirmed, prop: Property | None, **more: Any
) -> Violation:
    kind = {"eventually": "liveness", "deadlock": "deadlock"}
    raised = RAISED.search(confirmed.why)
    where = raised.groups() if raised else ("", "")
    facts: dict[str, Any] = {
        "prop": prop.name if prop else "no_exception",
        "kind": kind.get(prop.kind, "safety") if prop else "exception",
        "message": confirmed.why,
        "evidence": EXACT,
        "loop": confirmed.loop,
        "fairness": prop.fairness if prop and confirmed.loop else None,
        "source": prop.source if prop else where[0],
        "signature": prop.signature if prop else where[1],
        **more,
    }
    trace = Trace.of(
        system,
        confirmed.steps,
        target=report.target,
        parameters=report.parameters,
        seed=report.seed,
        choices=confirmed.choices,
        initial=confirmed.initial,
        **facts,
    )
    length = len(confirmed.steps)
    return Violation(step=length, steps=length, trace=trace, **facts)


def missed(system: System, report: Report, *, exhausted: bool) -> None:
    """A `sometimes` that an exhaustive search did not reach is a violation without a trace."""
    if not exhausted:
        return
    looked_at = f"{report.unique:,} reachable states"
    if report.search == "tree":
        looked_at = f"states that {report.traces:,} executions come to, one of each class,"
    for prop in system.properties:
        if report.properties[prop.name] == "unreached":
            report.violations.append(
                Violation(
                    prop=prop.name,
                    kind="unreached",
                    message=f"none of the {looked_at} satisfies it",
                    evidence=EXACT,
                    source=prop.source,
                    signature=prop.signature,
                )
            )


def save(report: Report, folder: str | Path | None, early: Early) -> None:
    """Save every trace, in the place of what was saved before the search was over."""
    _save_all(report, folder)
    early.settle(report)


def _save_all(report: Report, folder: str | Path | None) -> None:
    told = remarks(report)
    for violation in report.violations:
        if violation.trace is None or folder is None:
            continue
        violation.trace = msgspec.structs.replace(violation.trace, remarks=told)
        try:
            if report.coverage is not None:
                text = "\n".join(report.coverage.text())[:COVERAGE_MAX]
                violation.trace = msgspec.structs.replace(violation.trace, coverage=text)
            if violation.live is not None:
                live = trace_codec.save(violation.live, folder)
                violation.live_path = str(live)
                violation.trace = msgspec.structs.replace(violation.trace, live=live.name)
            violation.trace_path = str(trace_codec.save(violation.trace, folder))
        except BadTrace as error:
            # The finding is worth more than its file: tell it, and that it could not be saved.
            report.notes.append(str(error))
    saved = any(found.trace_path for found in report.violations)
    needs_signing = report.target is not None and report.target not in SHIPPED
    if saved and needs_signing and (why := seal.why_unsigned()) is not None:
        fact = "traces are saved unsigned, so `presage replay` asks for `--trust` or `--target`"
        report.notes.append(f"{fact}: {why}")


def suspected(
    system: System,
    sandbox: Sandbox,
    report: Report,
    suspects: Iterable[Suspect],
    settings: Hunt,
    budget: Budget,
    teller: Teller,
) -> Iterator[Violation]:
    """Find the critical transition of each suspect of a hunt."""
    for suspect in suspects:
        progress = teller(len(suspect), report.seconds + _locating(report))
        located = locate(system, sandbox, suspect, settings, budget, progress)
        located = shortened(system, sandbox, suspect, located, settings, budget, progress)
        if report.hunted is not None:
            spent = report.hunted.locating + located.seconds
            report.hunted = replace(report.hunted, locating=spent)
        violation = _suspect(system, report, located)
        report.properties[violation.prop] = "violated"
        yield violation


def _locating(report: Report) -> float:
    return report.hunted.locating if report.hunted is not None else 0.0


def _suspect(system: System, report: Report, located: Located) -> Violation:
    facts = {
        "critical": located.critical,
        "walked": located.walked,
        "dead": None if located.critical is None else True,
        "recovery": located.recovery,
        "evidence": located.evidence,
    }
    violation = violation_of(system, report, located.confirmed, located.confirmed.prop, **facts)
    violation.found = located.found
    if located.alternate is not None:
        live = {"kind": "live", "evidence": "exact", "critical": None}
        told = violation_of(system, report, located.alternate, located.confirmed.prop, **live)
        violation.live = told.trace
    return violation
