"""Several searches of one system at once: what one of them decides first is the result.

Which search is quickest on a system is hard to say beforehand, and for a search by delays, which
scheduler. So one search may take part in several ways. Nothing is shared between them. A
violation, or a search that met everything, ends all others; which one that is may differ from run
to run. Where none decides anything, the first that was named is reported, and what became of the
others is noted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

from presage._results import StopReason
from presage.distribute.farm import Farm, Harvest, Terms
from presage.distribute.pool import Pool
from presage.distribute.search import confirm
from presage.distribute.task import OWN, Checkable, Load, Task, identity_of
from presage.process.program import Program
from presage.search.early import Early
from presage.search.empty import empty_report
from presage.search.findings import saved
from presage.search.report import Report, with_notes
from presage.search.settings import Settings


def search_by_all(
    load: Load,
    system: Checkable,
    given: Settings,
    chosen: Mapping[str, Settings],
    pool: Callable[[], Pool],
) -> Report:
    """Search `system` in each of the ways `chosen`, by name, until one of them decides.

    `given` are limits and files of all of them.
    """
    program = isinstance(system, Program)
    for each in chosen.values():
        each.validated(program=program)
    identity = identity_of(system)
    tasks = [Task(load, identity, replace(each, **OWN), os.getcwd()) for each in chosen.values()]
    whole = given.with_defaults(program=program)
    with whole.budget.watching():
        terms = Terms(whole.budget, False, lambda reports: None, first=True)
        with closing(pool()) as workers:
            harvest = Farm(workers, tasks, terms, Harvest()).run()
        first = next(iter(chosen.values())).with_defaults(program=program)
        report = _decided(harvest, list(chosen), empty_report(system, first))
        confirm(system, report)
    return saved(report, given.traces, Early(given.traces))


def _decided(harvest: Harvest, names: Sequence[str], empty: Report) -> Report:
    """The report of the search that decided, or of the first that came back; else an empty one."""
    if not harvest.reports:
        harvest.refuse()
        report = replace(empty, stopped_by=harvest.ended_by or StopReason.LOST)
        return with_notes(report, ["none of the searches came to an end", *_others(harvest, names)])
    first = min(harvest.reports)
    report = harvest.reports[first]
    if harvest.ended_by is StopReason.INTERRUPT and not report.stopped_by:
        report = replace(report, stopped_by=StopReason.INTERRUPT)
    tried = ", ".join(f"`{name}`" for name in names)
    notes = [f"by `{names[first[0]]}`, of {tried}", *_others(harvest, names)]
    return with_notes(report, notes)


def _others(harvest: Harvest, names: Sequence[str]) -> list[str]:
    """What became of the searches that are not reported."""
    first, others = min(harvest.reports, default=None), []
    for at, name in enumerate(names):
        if (at,) in harvest.lost:
            others.append(f"`{name}` was lost: its workers died each time")
        elif (at,) in harvest.errors:
            fact = str(harvest.errors[at,].error).partition("\n")[0]
            others.append(f"`{name}` could not be done: {fact}")
        elif (at,) in harvest.reports and (at,) != first:
            others.append(f"`{name}` decided nothing either")
    return others
