"""The coverage of an exploration of processes: which were run, how far, and which ended.

A step of a process is a local state: the responses it got so far, and what it asks next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from presage._core import EXIT
from presage.process.histories import Histories
from presage.process.locals import ROOT
from presage.process.program import Process, body_place
from presage.search.coverage.lines import RAN, Source
from presage.search.coverage.report import Coverage, Ran
from presage.search.coverage.vacuity import Vacuity


def processes_covered(histories: Histories, vacuity: Vacuity, *, exhausted: bool) -> Coverage:
    """What the exploration came to, process by process."""
    steps: Counter[int] = Counter()
    ended: set[int] = set()
    begins: dict[int, Process] = {}
    for number, (process, parent, _, (code, _)) in enumerate(histories.locals.all):
        steps[process] += 1
        if code == EXIT:
            ended.add(process)
        if parent == ROOT:
            begins[process] = histories.locals.begins[number]
    names = histories.names.kept
    ran = [
        Ran(names[process], "process", body_place(begun), steps[process])
        for process, begun in sorted(begins.items())
    ]
    endless = [p for p, begun in sorted(begins.items()) if not begun.daemon and p not in ended]
    never = "was never true" if exhausted else "was not true so far"
    return Coverage(
        ran=ran,
        vacuous=list(_vacuous(histories, vacuity, never)),
        unended=[names[process] for process in endless],
        partial=not exhausted,
    )


def _vacuous(histories: Histories, vacuity: Vacuity, never: str) -> Iterator[tuple[str, str]]:
    """Properties that held and had nothing to say."""
    for at, prop in enumerate(histories.program.properties, 1):
        if not vacuity.asked.get(at):
            yield prop.name, f"`{prop.name}` was asked of nothing: no process published a value"
        for left in vacuity.never_true(at):
            yield prop.name, f"`{prop.name}` holds vacuously: its left side ({left}) {never}"


def _joined(source: Source, others: Sequence[Source]) -> Source:
    """A line ran if it ran in either exploration."""
    for other in others:
        if (other.file, other.first) == (source.file, source.first):
            pairs = zip(source.marks, other.marks, strict=True)
            return replace(source, marks=tuple(b if b == RAN else a for a, b in pairs))
    return source


def merged(one: Coverage | None, other: Coverage | None) -> Coverage | None:
    """The coverage of two explorations of one script."""
    if one is None or other is None:
        return one or other
    steps = Counter({each.name: each.steps for each in one.ran})
    steps.update({each.name: each.steps for each in other.ran})
    every = {each.name: each for each in [*other.ran, *one.ran]}
    return replace(
        one,
        ran=[replace(each, steps=steps[name]) for name, each in every.items()],
        unended=[name for name in one.unended if name in other.unended],
        sources=[_joined(source, other.sources) for source in one.sources],
        partial=one.partial or other.partial,
    )
