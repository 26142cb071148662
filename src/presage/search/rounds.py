"""Several causes of violations in one check: search, forgive what was found, search again.

A search reports one violation of a property, the nearest. What else breaks the same property shows
itself once the first cause is forgiven (`execution/causes.py`). Each round is a whole search, so
that each claim of the report is one that a search made; the last round finds nothing new, or the
limits end it, and then a note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from presage._results import StopReason
from presage.execution.causes import Known, Pardon, forgiving
from presage.model.world.system import System
from presage.process.program import Program
from presage.search.report import Report, Violation, with_notes
from presage.search.settings import Settings
from presage.trace.show import plural

C = TypeVar("C", System, Program)


def rounds(search: Callable[[C, Settings], Report], system: C, settings: Settings) -> Report:
    """What `search` finds in `system`, behind all that is known, up to so many causes."""
    known: Known = settings.known or {}
    report = search(forgiving(system, known), settings)
    if settings.causes == 1:
        return report
    found: tuple[Violation, ...] = report.violations
    last: tuple[Violation, ...] = found
    again = replace(settings, coverage=None)
    while last and len(found) < settings.causes and not settings.budget.spent_by:
        known = _with(known, last)
        latest = search(forgiving(system, known), again)
        last = _new(latest.violations, found)
        found = (*found, *last)
        report = _merged(report, latest, last)
    return with_notes(report, [_note(report, settings, looked_at_all=not last)])


def with_known(report: Report, system: System | Program, settings: Settings) -> Report:
    """The report of a search of what forgives something; `known` are those that the user knows."""
    pardon: Pardon | None = system.pardon
    if pardon is None:
        return report
    report = without(report, pardon.known, pardon.met)
    named = _pairs(settings.known or {})
    return replace(report, known=tuple(each for each in report.known if each in named))


def without(report: Report, known: Known, met: Iterable[tuple[str, str]] = ()) -> Report:
    """The report without the violations that are known; what they break does not hold, though."""
    every = _pairs(known)
    again = {_key(each) for each in report.violations} & every
    broken = sorted({*met, *report.known, *again})
    return replace(
        report,
        properties=report.properties | {prop: "violated" for prop, _ in broken},
        violations=tuple(each for each in report.violations if _key(each) not in again),
        known=tuple(broken),
    )


def _pairs(known: Known) -> set[tuple[str, str]]:
    return {(prop, cause) for prop, causes in known.items() for cause in causes}


def _key(violation: Violation) -> tuple[str, str]:
    return violation.prop, violation.cause


def _with(known: Known, violations: Iterable[Violation]) -> Known:
    known = dict(known)
    for prop, cause in map(_key, violations):
        known[prop] = known.get(prop, frozenset()) | {cause}
    return known


def _new(violations: Iterable[Violation], found: Iterable[Violation]) -> tuple[Violation, ...]:
    """Those that are due to something else than what was found."""
    keys = {_key(each) for each in found}
    return tuple(each for each in violations if _key(each) not in keys)


def _merged(report: Report, latest: Report, new: tuple[Violation, ...]) -> Report:
    return replace(
        report,
        violations=(*report.violations, *new),
        properties=report.properties | {each.prop: "violated" for each in new},
        seconds=report.seconds + latest.seconds,
        orders=report.orders or latest.orders,
        exhausted=report.exhausted and latest.exhausted,
        stopped_by=report.stopped_by or latest.stopped_by,
        peak_mib=max(report.peak_mib, latest.peak_mib),
    )


def _note(report: Report, settings: Settings, *, looked_at_all: bool) -> str:
    count = plural(len(report.violations), "cause")
    if looked_at_all and report.stopped_by in (None, StopReason.VIOLATION):
        return f"{count} found; behind them nothing else breaks in what was searched"
    if looked_at_all:
        return f"{count} found; the search behind them was cut by `{report.stopped_by}`"
    why = settings.budget.spent_by or "causes"
    return f"{count} found; there may be more behind them: ended by `{why}`"
