"""Several searches of one system at once: what one of them decides first is the result.

Which search is quickest on a system is hard to say beforehand. Nothing is shared between them. A
violation, or a search that met everything, ends all others; which one that is may differ from run
to run. Where none decides anything, the first that was named is reported, and what became of the
others is noted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

from presage._results import StopReason
from presage.distribute.farm import Farm, Harvest, Terms
from presage.distribute.pool import Pool
from presage.distribute.search import confirm
from presage.distribute.task import OWN, Load, Task, identity_of
from presage.errors import BadSystem
from presage.model.world.system import System
from presage.search.early import Early
from presage.search.findings import saved
from presage.search.options import SEARCHES
from presage.search.report import Report, with_notes
from presage.search.settings import Settings


def members(given: Settings, names: Sequence[str]) -> list[Settings]:
    """The settings of each search; refuses what makes no sense for one of them."""
    for name in names:
        if name not in SEARCHES:
            known = ", ".join(f"`{each}`" for each in SEARCHES)
            raise BadSystem(
                f"there is no search `{name}`", "a misspelt name", f"use some of {known}"
            )
    chosen = [replace(given, search=name) for name in dict.fromkeys(names)]
    for each in chosen:
        each.validated(program=False)
    return chosen


def search_by_all(
    load: Load, system: System, given: Settings, names: Sequence[str], pool: Callable[[], Pool]
) -> Report:
    """Search `system` in each of these ways, until one of them decides."""
    chosen, identity = members(given, names), identity_of(system)
    tasks = [Task(load, identity, replace(each, **OWN), os.getcwd()) for each in chosen]
    whole = given.with_defaults(program=False)
    with whole.budget.watching():
        terms = Terms(whole.budget, False, lambda reports: None, first=True)
        with closing(pool()) as workers:
            harvest = Farm(workers, tasks, terms, Harvest()).run()
        report = _decided(harvest, [each.search for each in chosen])
        confirm(system, report)
    return saved(report, given.traces, Early(given.traces))


def _decided(harvest: Harvest, names: Sequence[str]) -> Report:
    """The report of the search that decided, or of the first that came back."""
    if not harvest.reports:
        harvest.refuse()
        raise BadSystem(
            "none of the searches came to an end",
            "their workers died, or the command was interrupted",
            "give them more memory, or a limit such as `--seconds`",
        )
    first = min(harvest.reports)
    report = harvest.reports[first]
    others = []
    for at, name in enumerate(names):
        if (at,) in harvest.lost:
            others.append(f"`{name}` was lost: its workers died each time")
        elif (at,) in harvest.errors:
            fact = str(harvest.errors[at,].error).partition("\n")[0]
            others.append(f"`{name}` could not be done: {fact}")
        elif (at,) in harvest.reports and (at,) != first:
            others.append(f"`{name}` decided nothing either")
    if harvest.ended_by is StopReason.INTERRUPT and not report.stopped_by:
        report = replace(report, stopped_by=StopReason.INTERRUPT)
    tried = ", ".join(f"`{name}`" for name in names)
    return with_notes(report, [f"by `{names[first[0]]}`, of {tried}", *others])
