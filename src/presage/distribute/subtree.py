"""`tree` in parts: all executions below a node of the tree are a task for a worker.

The driver explores the top of the tree, in passes (`rust/src/reduce/por/apart.rs`). A pass names
parts of which it does not know what they come to; these are explored, and the next pass knows. The
last pass wants none: it is the exploration by one process. Which parts there are, and what each
comes to, depends on the search alone, and so does the report.

A part with too many executions for one task is divided in its turn, and so is one of which the
worker dies. If the worker that explores a part of that dies as well, the part is lost.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from msgspec import structs

from presage._core import Kernel
from presage._results import Outcome, Parts, StopReason
from presage.distribute.farm import Harvest
from presage.distribute.merge import first_of_each, once, strongest
from presage.distribute.task import OWN, Load, Task, identity_of
from presage.errors import BadSystem
from presage.execution.sandbox import NOW
from presage.limits import Limits
from presage.model.world.system import System
from presage.search.check import check_with
from presage.search.checkpoint.learned import Learned
from presage.search.findings import missed
from presage.search.part import Part
from presage.search.progress import progress_callback
from presage.search.report import Report, with_notes
from presage.search.settings import Settings
from presage.search.tree import refusals

LEVELS = 3  # from the root of a part that is divided to those of its parts
FIRST = 16  # executions that the driver explores of each part; less than that is no task
MOST = 20_000  # executions in one task

Do: TypeAlias = Callable[[Sequence[Task]], Harvest]


def refuse(system: System, settings: Settings) -> None:
    """Refuse what parts cannot do."""
    for conflict in _conflicts(settings):
        raise BadSystem(*conflict)


def _conflicts(settings: Settings) -> Iterator[tuple[str, str, str]]:
    given = {
        "walks": settings.walks is not None,
        "reversals": settings.reversals != "stack",
        "causes": settings.causes > 1,
        "known": settings.known,
        "coverage": settings.coverage is not None,
        "memory": settings.memory_mib is not None,
    }
    for name in (name for name, is_given in given.items() if is_given):
        yield (
            f"`{name}` is given together with `cluster`, for the search `tree`",
            "it needs one process that explores all executions, in their order",
            f"leave out either `--{name}` or `--cluster`",
        )


class Passes:
    """The exploration of one tree."""

    def __init__(self, task: Task, settings: Settings, do: Do) -> None:
        self._task = task
        self._settings = settings
        self._do = do
        self._parts = Parts(settings.reduction, LEVELS, FIRST)
        self._frail: list[bytes] = []  # divided since their workers died
        self.reports: list[Report] = []
        self.is_whole = False
        self.lost = 0
        self.stopped_by: StopReason | None = None

    def run(self, system: System, kernel: Kernel, limits: Limits) -> Outcome:
        """Pass after pass, until nothing is wanted or something ends it."""
        tell = progress_callback(system, self._settings.progress)
        while True:
            seconds = self._settings.budget.remaining()
            limits = structs.replace(limits, threads=1, seconds=seconds)
            with refusals():
                outcome, wanted = self._parts.explore(kernel, limits, tell)
            self.is_whole = not wanted and outcome.stopped_by is None
            if not wanted or outcome.stopped_by is not None or not self._explored(wanted):
                return outcome

    def _explored(self, wanted: Sequence[bytes]) -> bool:
        """Have parts explored; false if that ends it."""
        settings = self._task.settings
        harvest = self._do(
            [
                structs.replace(
                    self._task, settings=replace(settings, part=Part(below=part, walks=MOST))
                )
                for part in wanted
            ]
        )
        harvest.refuse()
        self.stopped_by = harvest.ended_by
        for key, report in sorted(harvest.reports.items()):
            self.reports.append(report)
            handed = harvest.handed[key]
            if handed is not None:
                self._parts.learn(wanted[key[0]], handed)
            elif report.stopped_by is None:
                self._parts.divide(wanted[key[0]])
            else:
                self.stopped_by = self.stopped_by or report.stopped_by
        for key in sorted(harvest.lost):
            self._lose(wanted[key[0]])
        return self.stopped_by is None

    def _lose(self, part: bytes) -> None:
        if any(_lies_below(part, frail) for frail in self._frail):
            self.lost += 1
            self.stopped_by = StopReason.LOST
        self._frail.append(part)
        self._parts.divide(part)


def _way(part: bytes) -> tuple[bytes, bytes]:
    """Where executions begin, and the steps from there to the root of a part."""
    count = int.from_bytes(part[16:24], "little")
    return part[:8], part[24 : 24 + 8 * count]


def _lies_below(part: bytes, other: bytes) -> bool:
    (origin, way), (above, beginning) = _way(part), _way(other)
    return origin == above and way.startswith(beginning)


def search_tree(load: Load, system: System, given: Settings, do: Do) -> Report:
    """Explore the executions of `system`; `do` does tasks."""
    began = NOW()
    refuse(system, given)
    settings = given.with_defaults(program=False)
    bare = replace(given, **OWN)
    passes = Passes(Task(load, identity_of(system), bare, os.getcwd()), settings, do)

    def elsewhere(kernel: Kernel, limits: Limits, learned: Learned) -> Outcome:
        return passes.run(system, kernel, limits)

    part = Part(elsewhere=elsewhere, is_whole=False)
    report = check_with(system, replace(given, part=part, traces=None, progress=None))
    return replace(_merged(system, report, passes), seconds=NOW() - began)


def _merged(system: System, report: Report, passes: Passes) -> Report:
    """The report of the last pass, with what was found in parts."""
    every = [report, *passes.reports]
    violations = first_of_each(every)
    orders = once(found for each in every for found in each.orders)
    stopped_by = passes.stopped_by or report.stopped_by
    whole = passes.is_whole
    merged = replace(
        report,
        stopped_by=stopped_by,
        exhausted=whole and stopped_by is None and not orders and not report.is_heuristic,
        properties=strongest(every, report, whole=whole or stopped_by is StopReason.VIOLATION),
        handler_runs=sum(each.handler_runs for each in every),
        property_runs=sum(each.property_runs for each in every),
        peak_mib=max(each.peak_mib for each in every),
        violations=violations,
        errors=once(text for each in every for text in each.errors),
        orders=orders,
    )
    if merged.exhausted:
        merged = replace(merged, violations=(*violations, *missed(system, merged)))
    notes = [f"executions in {len(passes.reports):,} parts"]
    if passes.lost:
        fact = f"{passes.lost} parts were not explored: their workers died each time"
        notes.append(f"{fact}; usual cause: memory")
    return with_notes(merged, notes)
