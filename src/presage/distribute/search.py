"""A search on a cluster, from settings to a report."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

from msgspec import structs

from presage._results import StopReason
from presage.distribute import divide, stateful, subtree
from presage.distribute.farm import Harvest, Terms
from presage.distribute.kept import Kept
from presage.distribute.merge import merge
from presage.distribute.ray import Ray, Where
from presage.distribute.stateful import search_states
from presage.distribute.subtree import search_tree
from presage.distribute.task import OWN, Checkable, Load, Task, identity_of
from presage.distribute.workers import Workers
from presage.errors import BadSystem, Nondeterminism
from presage.execution.replay import replay
from presage.execution.sandbox import NOW
from presage.model.world.system import System
from presage.search.early import Early
from presage.search.empty import empty_report
from presage.search.findings import saved
from presage.search.progress import Snapshot
from presage.search.report import Report, with_notes
from presage.search.settings import Settings


def search(load: Load, system: System, given: Settings, where: Where | None) -> Report:
    """Search `system`, which `load` loads anywhere; without `where`, here if that is quicker."""
    bare = replace(given, checkpoint=None, resume=False, trust=False)
    settings = bare.validated(program=False).with_defaults(program=False)
    if settings.search not in REFUSALS:
        divide.refuse(settings)
    REFUSALS[settings.search](system, bare)
    kept = _kept(system, given, settings)
    bare = replace(bare, budget=settings.budget)
    if settings.search == "bfs":
        where = where or Where(os.environ.get("RAY_ADDRESS"))
        with closing(Ray(where)) as pool:
            report = search_states(load, system, bare, pool.workers, pool.company, kept)
    else:
        report = _by_tasks(load, system, (bare, settings), where, kept)
    if kept is not None:
        report = with_notes(report, kept.notes)
        if report.stopped_by not in GO_ON:
            kept.forget()
    return report


REFUSALS: dict[str, Callable[[System, Settings], None]] = {
    "bfs": stateful.refuse,
    "tree": subtree.refuse,
    **dict.fromkeys(divide.DIVISIBLE, lambda system, settings: divide.refuse(settings)),
}
# After which a search may go on.
GO_ON = (StopReason.INTERRUPT, StopReason.SECONDS, StopReason.LOST, StopReason.MEMORY)


def _kept(system: System, given: Settings, settings: Settings) -> Kept | None:
    """Where the search keeps what was done of it."""
    if given.resume and given.checkpoint is None or given.trust:
        name = "trust" if given.trust else "resume"
        raise BadSystem(
            f"`{name}` is given for a divided search{', and no checkpoint' * (not given.trust)}",
            "it goes on with what this user has signed, in the folder that is named",
            "name the folder with `--checkpoint DIR`, and leave out `--trust`",
        )
    if given.checkpoint is None:
        return None
    options = replace(settings, resume=given.resume)
    return Kept(given.checkpoint, identity_of(system), options)


def _by_tasks(
    load: Load,
    system: System,
    given: tuple[Settings, Settings],
    where: Where | None,
    kept: Kept | None,
) -> Report:
    """Walks, hunts and trees: parts of which nothing is shared."""
    began = NOW()
    bare, settings = given
    with settings.budget.watching(), closing(Workers(where)) as company:
        terms = structs.replace(terms_of(settings), kept=kept)
        if settings.search == "tree":
            report = search_tree(load, system, bare, lambda tasks: company.do(tasks, terms))
        else:
            report = _by_numbers(load, system, given, (company, terms))
        report = replace(with_notes(report, company.notes), seconds=NOW() - began)
        confirm(system, report)
    return saved(report, settings.traces, Early(settings.traces))


def _by_numbers(
    load: Load, system: System, given: tuple[Settings, Settings], how: tuple[Workers, Terms]
) -> Report:
    """Executions by their numbers."""
    (bare, settings), (company, terms) = given, how
    identity, bare = identity_of(system), replace(bare, **OWN)
    tasks = [
        Task(load, identity, replace(bare, part=part), os.getcwd())
        for part in divide.parts(settings.walks, company.number)
    ]
    harvest = company.do(tasks, terms)
    harvest.refuse()
    report = merge(harvest, settings, empty_report(system, settings))
    return with_notes(report, _lost(harvest))


def terms_of(settings: Settings) -> Terms:
    """How parts are done; `progress` hears of what is done."""
    began = NOW()

    def heard(reports: Sequence[Report]) -> None:
        if settings.progress is not None:
            settings.progress.update(_snapshot(reports, NOW() - began))

    return Terms(settings.budget, settings.keep_going, heard)


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


def confirm(system: Checkable, report: Report) -> None:
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
