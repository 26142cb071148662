"""One report of the reports of all parts.

Counts of what was done add up. States that were met do not: two parts may have met the same, and
none knows of the other's. So their number is left out. Violations are taken in the order of the
parts, the first of each property; a single worker would have found these.

Nothing is claimed that was not done: if a part did not come back, or time ended before it, what
held elsewhere is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from presage._results import StopReason
from presage.distribute.farm import Harvest
from presage.search.hunt import executions as hunting
from presage.search.report import Hunted, Report, Violation, with_notes
from presage.search.settings import Settings

T = TypeVar("T")
# Of what is said of a property in several parts, the one that counts; what is left out is alike.
STRONGEST = ("error", "violated", "reached", "unknown", "held", "unreached")
SHARED = "states are not counted: each worker knows only those that it met itself"


def merge(harvest: Harvest, settings: Settings, empty: Report) -> Report:
    """The report of all parts. `empty` is one of the same search that has done nothing."""
    reports = harvest.ordered()
    stopped_by = _stopped_by(harvest, reports)
    whole = not harvest.lost and not harvest.undone
    hunts = [each.hunted for each in reports if each.hunted]
    report = replace(
        empty,
        stopped_by=stopped_by,
        generated=sum(each.generated for each in reports),
        depth=max((each.depth for each in reports), default=0),
        executions=sum(each.executions for each in reports),
        handler_runs=sum(each.handler_runs for each in reports),
        property_runs=sum(each.property_runs for each in reports),
        faults=_faults(reports) or empty.faults,
        peak_mib=max((each.peak_mib for each in reports), default=0.0),
        properties=strongest(reports, empty, whole=whole),
        hunted=_hunted(hunts, whole=whole),
        violations=first_of_each(reports),
        errors=once(text for each in reports for text in each.errors),
        orders=once(found for each in reports for found in each.orders),
    )
    notes = [] if report.hunted else [SHARED]
    if report.hunted is not None:
        notes.append(hunting.note(report.hunted, settings.hunt.executions))
    of_parts = {hunting.note(each, settings.hunt.executions) for each in hunts}
    every = (text for each in reports for text in each.notes)
    return with_notes(report, [*notes, *(text for text in every if text not in of_parts)])


def _stopped_by(harvest: Harvest, reports: Sequence[Report]) -> StopReason | None:
    """Why the search is not whole; what was lost is worse than what was not begun."""
    found = [each.stopped_by for each in reports]
    if harvest.lost:
        return StopReason.LOST
    if harvest.ended_by is not None:
        return harvest.ended_by
    return next((each for each in found if each is not None), None)


def first_of_each(reports: Sequence[Report]) -> tuple[Violation, ...]:
    """The first violation of each property."""
    found: dict[str, Violation] = {}
    for report in reports:
        for violation in report.violations:
            found.setdefault(violation.prop, violation)
    return tuple(found.values())


def strongest(reports: Sequence[Report], empty: Report, *, whole: bool) -> dict[str, str]:
    """What became of each property; nothing held if not all was done."""
    merged = dict(empty.properties)
    for name in dict.fromkeys(name for each in (empty, *reports) for name in each.properties):
        said = [each.properties[name] for each in reports if name in each.properties]
        merged[name] = min(said or ["unknown"], key=STRONGEST.index)
        if not whole and merged[name] in ("held", "unreached"):
            merged[name] = "unknown"
    return merged


def _faults(reports: Sequence[Report]) -> dict[str, int]:
    names = dict.fromkeys(name for each in reports for name in each.faults)
    return {name: sum(each.faults.get(name, 0) for each in reports) for name in names}


def _hunted(parts: Sequence[Hunted], *, whole: bool) -> Hunted | None:
    if not parts:
        return None
    return Hunted(
        live=sum(each.live for each in parts),
        rest=sum(each.rest for each in parts),
        long=sum(each.long for each in parts),
        duplicate=sum(each.duplicate for each in parts),
        choices=min(each.choices for each in parts),
        complete=whole and all(each.complete for each in parts),
        delays=min(each.delays for each in parts),
        lengths=tuple(sorted(length for each in parts for length in each.lengths)),
        locating=sum(each.locating for each in parts),
    )


def once(things: Iterable[T]) -> tuple[T, ...]:
    """Each of these once, in their order."""
    found: list[T] = []
    for thing in things:
        if thing not in found:
            found.append(thing)
    return tuple(found)
