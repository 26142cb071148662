"""What a search found, told: confirmed on live code, made shorter, saved.

Nothing is reported on the word of tables alone: each finding is replayed from the start on a live
`World`, every fingerprint compared, and the property asked again there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from presage._core import Suspect
from presage._results import Finding
from presage.errors import BadSeal, BadTrace, Nondeterminism, PresageError
from presage.execution.confirm import RAISED, Confirmed, confirm, follow
from presage.execution.sandbox import Sandbox
from presage.execution.services import ServiceExecution
from presage.model.world.seals import never_lifted
from presage.model.world.system import System
from presage.search.early import Early
from presage.search.progress import Tell
from presage.search.report import STEPS_TOLD, Report, Violation, with_notes
from presage.search.settings import Settings
from presage.search.summary import remarks
from presage.systems import SHIPPED
from presage.trace import codec as trace_codec
from presage.trace import seal
from presage.trace.show import plural
from presage.trace.trace import Trace

if TYPE_CHECKING:
    from presage.search.hunt.critical import Located

T = TypeVar("T")

EXACT = "exact"
COVERAGE_MAX = 500_000  # characters of it in a trace
LEFT_LONG = "the trace may be longer than it need be: there was no time to try all that is shorter"

# Makes what the kernel tells of its progress: how long the suspect is, and the seconds spent.
Teller = Callable[[int, float], Tell]


def early_of(system: System, sandbox: Sandbox, settings: Settings) -> Early:
    """What saves traces while a search goes on."""

    return Early(
        settings.traces,
        lambda finding: violation_of(system, settings, confirm(system, sandbox, finding)),
    )


def refuse_sealed(system: System, sandbox: Sandbox, findings: Iterable[Finding]) -> None:
    """Raise for a state that is sealed for ever, with the steps that lead there."""
    for finding in findings:
        if finding.at <= len(system.properties):
            continue
        seal, run = (
            system.seals[finding.at - len(system.properties) - 1],
            follow(system, sandbox, finding),
        )
        try:
            run.options()
        except BadSeal:
            raise never_lifted(seal, _steps(run)) from None
        raise Nondeterminism(
            f"the search found that seal `{seal.name}` is never lifted after {len(run.steps)}"
            " steps, and a replay on live code says otherwise"
        )


def _steps(run: ServiceExecution) -> str:
    """Where an execution stands, and how it came there."""
    count, last = len(run.steps), run.steps[-STEPS_TOLD:]
    if not last:
        return ", in the initial state"
    before = [f"... {count - len(last)} before"] if count > len(last) else []
    return "\n    ".join([f", after {plural(count, 'step')}:", *before, *map(str, last)])


def confirmed_findings(
    system: System, sandbox: Sandbox, findings: Iterable[Finding], settings: Settings
) -> tuple[list[Violation], list[str]]:
    """The violations among `findings`, on live code, each with its trace; and notes on them.

    Where the search may have met longer ones, they are made shorter, as far as the budget allows.
    """
    violations, notes = [], []
    for finding in findings:
        confirmed = confirm(system, sandbox, finding)
        prop, length = confirmed.prop, len(confirmed.steps)
        if prop is not None and prop.kind == "sometimes":
            continue
        if settings.search != "bfs":
            from presage.shrink.services import shrink

            confirmed, done = shrink(system, sandbox, confirmed, settings.budget)
            notes += [] if done else [LEFT_LONG]
        violation = violation_of(system, settings, confirmed)
        found = length if len(confirmed.steps) < length else None
        live = None
        if violation.kind != "liveness":
            live, more = _good_run(system, sandbox, settings, confirmed)
            notes += more
        delays = finding.delays if settings.by_delays else None
        violations.append(replace(violation, found=found, live=live, delays=delays))
    return violations, notes


def good_run(look: Callable[[], T | None]) -> tuple[T | None, list[str]]:
    """What `look` finds, and notes; None if it was interrupted, or came to code that fails."""
    try:
        return look(), []
    except KeyboardInterrupt:
        return None, ["interrupted while the nearest good run was looked for"]
    except PresageError:  # of code that the search did not come to: it is not what was found
        return None, []


def _good_run(
    system: System, sandbox: Sandbox, settings: Settings, confirmed: Confirmed
) -> tuple[Trace | None, list[str]]:
    """The nearest execution that keeps what `confirmed` breaks; None if none was met."""
    from presage.execution.nearest import nearest

    seconds = settings.budget.remaining()
    found, notes = good_run(lambda: nearest(system, sandbox, confirmed, seconds))
    if found is None:
        return None, notes
    good, evidence = found
    facts = {"kind": "live", "evidence": evidence}
    return violation_of(system, settings, good, **facts).trace, notes


def violation_of(
    system: System, settings: Settings, confirmed: Confirmed, **more: Any
) -> Violation:
    """What an execution breaks, with its trace."""
    named = {"target": settings.target, "parameters": settings.named, "seed": settings.seed}
    return traced_violation(system, named, confirmed, **more)


def traced_violation(
    system: System, named: Mapping[str, Any], confirmed: Confirmed, **more: Any
) -> Violation:
    """The same, of a search that is `named` by target, parameters, seed, and where it begins."""
    kind, prop = {"eventually": "liveness", "deadlock": "deadlock"}, confirmed.prop
    raised = re.search(RAISED, confirmed.why)
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
    begins: dict[str, Any] = {"choices": confirmed.choices, "initial": confirmed.initial}
    trace = Trace.of(system, confirmed.steps, **named, **begins, **facts)
    length = len(confirmed.steps)
    return Violation(step=length, steps=length, trace=trace, **facts)


def missed(system: System, report: Report) -> list[Violation]:
    """A `sometimes` that an exhaustive search did not reach is a violation without a trace."""
    looked_at = f"{report.unique:,} reachable states"
    if report.search == "tree":
        looked_at = f"states that {report.traces:,} executions come to, one of each class,"
    return [
        Violation(
            prop=prop.name,
            kind="unreached",
            message=f"none of the {looked_at} satisfies it",
            evidence=EXACT,
            source=prop.source,
            signature=prop.signature,
        )
        for prop in system.properties
        if report.properties[prop.name] == "unreached"
    ]


def saved(report: Report, folder: str | Path | None, early: Early) -> Report:
    """The report with every trace saved, in the place of those saved before the search was over."""
    violations, notes, texts = [], [], remarks(report)
    for violation in report.violations:
        if violation.trace is not None and folder is not None:
            trace = msgspec.structs.replace(violation.trace, remarks=texts)
            if report.coverage is not None:
                text = "\n".join(report.coverage.text())[:COVERAGE_MAX]
                trace = msgspec.structs.replace(trace, coverage=text)
            try:
                violation = _saved(violation, trace, folder)
            except BadTrace as error:
                # The finding is worth more than its file: tell it, and that it could not be saved.
                violation = replace(violation, trace=trace)
                notes.append(str(error))
        violations.append(violation)
    needs_signing = report.target is not None and report.target not in SHIPPED
    paths = any(violation.trace_path for violation in violations)
    if paths and needs_signing and (why := seal.why_unsigned()) is not None:
        fact = "traces are saved unsigned, so `presage replay` asks for `--trust` or `--target`"
        notes.append(f"{fact}: {why}")
    report = with_notes(replace(report, violations=tuple(violations)), notes)
    early.settle(report)
    return report


def _saved(violation: Violation, trace: Trace, folder: str | Path) -> Violation:
    live_path = None
    if violation.live is not None:
        live = trace_codec.save(violation.live, folder)
        live_path, trace = str(live), msgspec.structs.replace(trace, live=live.name)
    trace_path = str(trace_codec.save(trace, folder))
    return replace(violation, trace=trace, trace_path=trace_path, live_path=live_path)


def with_suspects(
    system: System,
    sandbox: Sandbox,
    report: Report,
    suspects: Iterable[Suspect],
    settings: Settings,
    teller: Teller,
    early: Early,
) -> Report:
    """The report with the critical transition of each suspect of a hunt."""
    from presage.search.hunt.critical import locate
    from presage.search.hunt.shorten import shortened

    for suspect in suspects:
        assert report.hunted is not None, "who hunts says how executions ended"
        spent = report.hunted.locating
        args = (settings.hunt, settings.budget, teller(len(suspect), report.seconds + spent))
        located = locate(system, sandbox, suspect, *args)
        located = shortened(system, sandbox, suspect, located, *args)
        violation = _suspect(system, settings, located)
        early.keep(violation)
        report = replace(
            report,
            hunted=replace(report.hunted, locating=spent + located.seconds),
            properties=report.properties | {violation.prop: "violated"},
            violations=(*report.violations, violation),
        )
    return report


def _suspect(system: System, settings: Settings, located: Located) -> Violation:
    facts = {
        "critical": located.critical,
        "walked": located.walked,
        "dead": None if located.critical is None else True,
        "recovery": located.recovery,
        "evidence": located.evidence,
    }
    live = None
    if located.alternate is not None:
        alive = {"kind": "live", "evidence": "exact", "critical": None}
        live = violation_of(system, settings, located.alternate, **alive).trace
    violation = violation_of(system, settings, located.confirmed, **facts)
    return replace(violation, found=located.found, live=live)
