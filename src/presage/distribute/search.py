"""A search on a cluster, from settings to a report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from presage.distribute import divide
from presage.distribute.farm import Farm, Harvest, Terms
from presage.distribute.merge import merge
from presage.distribute.pool import Here, Pool
from presage.distribute.ray import Ray, Where
from presage.distribute.stateful import refuse, search_states
from presage.distribute.task import OWN, Load, Task, identity_of
from presage.errors import Nondeterminism
from presage.execution.replay import replay
from presage.execution.sandbox import NOW
from presage.model.world.system import System
from presage.search.early import Early
from presage.search.findings import saved
from presage.search.progress import Snapshot
from presage.search.report import Report, with_notes
from presage.search.settings import Settings
from presage.version import VERSION

WORTH_SECONDS = 30.0  # of work, below which starting Ray takes longer than it saves


def search(load: Load, system: System, given: Settings, where: Where | None) -> Report:
    """Search `system`, which `load` loads anywhere; without `where`, here if that is quicker."""
    began = NOW()
    if given.with_defaults(program=False).search == "bfs":
        return _by_states(load, system, given, where or Where(os.environ.get("RAY_ADDRESS")))
    settings = given.validated(program=False).with_defaults(program=False)
    divide.refuse(settings)
    with settings.budget.watching():
        workers = (where and where.workers) or os.cpu_count() or 1
        identity, bare = identity_of(system), replace(given, **OWN)
        tasks = [
            Task(load, identity, replace(bare, part=part), os.getcwd())
            for part in divide.parts(settings.walks, workers)
        ]
        harvest, notes = _harvest(tasks, settings, where)
        for key in sorted(harvest.errors):
            error = harvest.errors[key].error
            assert error is not None
            raise error
        report = merge(harvest, settings, _empty(system, settings))
        report = replace(report, seconds=NOW() - began)
        report = with_notes(report, [*notes, *_lost(harvest)])
        confirm(system, report)
    return saved(report, settings.traces, Early(settings.traces))


def _by_states(load: Load, system: System, given: Settings, where: Where) -> Report:
    given = given.validated(program=False)
    refuse(system, given)  # before Ray is started
    with closing(Ray(where)) as pool:
        return search_states(load, system, given, pool.workers, pool.company)


def _harvest(
    tasks: Sequence[Task], settings: Settings, where: Where | None
) -> tuple[Harvest, list[str]]:
    """Do all tasks, where it is best."""
    first = Harvest()
    if where is None:
        _run(Here(), tasks[:1], settings, first)
        report = next(iter(first.reports.values()), None)
        if len(tasks) == 1 or report is None or report.violations:
            return first, []
        estimate = report.seconds * (len(tasks) - 1)
        if estimate < WORTH_SECONDS:
            note = f"about {estimate:.0f} s of work: done by this process, not on Ray"
            return _run(Here(), tasks, settings, first), [note]
        where = Where(os.environ.get("RAY_ADDRESS"))
    pool = Ray(where)
    with closing(pool):
        note = f"on Ray, {pool.workers} workers"
        if where.is_local and not pool.is_alone:
            note += "; it may not make a network of its own, and listens on this machine's address"
        return _run(pool, tasks, settings, first), [note]


def _run(pool: Pool, tasks: Sequence[Task], settings: Settings, done: Harvest) -> Harvest:
    """Do those tasks that are not done yet."""
    began = NOW()

    def heard(reports: Sequence[Report]) -> None:
        if settings.progress is not None:
            settings.progress.update(_snapshot(reports, NOW() - began))

    return Farm(pool, tasks, Terms(settings.budget, settings.keep_going, heard), done).run()


def _snapshot(reports: Sequence[Report], seconds: float) -> Snapshot:
    return Snapshot(
        unique=0,
        generated=sum(each.generated for each in reports),
        depth=max((each.depth for each in reports), default=0),
        frontier=0,
        walks=sum(each.executions for each in reports),
        handler_runs=sum(each.handler_runs for each in reports),
        properties={},
        seconds=seconds,
    )


def _empty(system: System, settings: Settings) -> Report:
    return Report(
        presage=VERSION,
        parameters=settings.named,
        target=settings.target,
        search=settings.search,
        seed=settings.seed,
        reduction=settings.reduction,
        symmetry=settings.symmetry,
        calm=settings.calm,
        properties={prop.name: "unknown" for prop in system.properties},
        assumes=tuple(map(str, system.seals)),
        nodes=len(system.nodes),
        system=system.name,
    )


def confirm(system: System, report: Report) -> None:
    """Replay what workers found, on the code of this process."""
    for violation in report.violations:
        if violation.trace is not None and replay(system, violation.trace).message is None:
            raise Nondeterminism(
                f"a worker found that {violation.fact}, and a replay here says otherwise"
            )


def _lost(harvest: Harvest) -> list[str]:
    """What did not come back, by the numbers of its executions."""
    notes = []
    for task in harvest.lost.values():
        part = task.settings.part
        last = "" if part.walks is None else f" to {part.first + part.walks - 1:,}"
        fact = f"executions {part.first:,}{last} were not done: their workers died each time"
        notes.append(f"{fact}; usual cause: memory")
    return notes
