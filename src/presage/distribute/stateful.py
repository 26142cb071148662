"""`bfs` over shards: for state spaces that do not fit into the memory of one machine.

The driver has a kernel of its own, which searches nothing: it follows what shards found, on the
driver's code, and everything after the search is as in any other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from msgspec import structs

from presage._core import Kernel
from presage._results import Outcome, StopReason
from presage.distribute.kept import Kept
from presage.distribute.levels import Found, Levels, Plan
from presage.distribute.shard import ShardTask
from presage.distribute.task import Load, identity_of
from presage.errors import BadSystem
from presage.limits import Limits
from presage.model.world.system import System
from presage.search.check import check_with
from presage.search.checkpoint.learned import Learned
from presage.search.part import Part
from presage.search.progress import Snapshot
from presage.search.report import Report, with_notes
from presage.search.settings import Settings


def refuse(system: System, settings: Settings) -> None:
    """Refuse what shards cannot do."""
    for conflict in _conflicts(system, settings):
        raise BadSystem(*conflict)


def _conflicts(system: System, settings: Settings) -> Iterator[tuple[str, str, str]]:
    given = {
        "symmetry": settings.symmetry,
        "reduction": settings.reduction not in (None, "none"),
        "causes": settings.causes > 1,
        "known": settings.known,
        "coverage": settings.coverage is not None,
        "spill": settings.spill is not None,
        "memory": settings.memory_mib is not None,
    }
    for name in (name for name, is_given in given.items() if is_given):
        yield (
            f"`{name}` is given together with `cluster`",
            "it needs one process that has all states",
            f"leave out either `--{name}` or `--cluster`",
        )
    if any(node.opaque for node in system.automata):
        yield (
            "a system of real programs is given to a cluster",
            "the state of a real program is its history, which one process has",
            "leave out `--cluster`",
        )
    if settings.exact and any(prop.kind == "eventually" for prop in system.properties):
        yield (
            "an `eventually` is to be examined exactly on a cluster",
            "endless executions are looked for in the graph of all states, which no worker has",
            "`--liveness rest` looks at states where nothing more happens; or leave out"
            " `--cluster`",
        )


def search_states(
    load: Load,
    system: System,
    given: Settings,
    shards: int,
    company: Found,
    kept: Kept | None = None,
) -> Report:
    """Search `system` breadth first, over so many shards that `company` makes.

    `kept`: where levels are written down, and where to go on from.
    """
    refuse(system, given)
    identity = identity_of(system)
    whole = given.with_defaults(program=False)

    def heard(states: int, depth: int, seconds: float) -> None:
        if given.progress is not None:
            facts = {"generated": 0, "frontier": 0, "walks": 0, "handler_runs": 0}
            line = Snapshot(states, depth=depth, properties={}, seconds=seconds, **facts)
            given.progress.update(line)

    def elsewhere(kernel: Kernel, limits: Limits, learned: Learned) -> Outcome:
        alone = structs.replace(limits, threads=1, keep_going=True, seconds=None)
        tasks = [
            ShardTask(load, identity, os.getcwd(), alone, whole.handler_seconds, index, shards)
            for index in range(shards)
        ]
        seconds = given.checkpoint_seconds
        plan = Plan(tasks, company, whole.budget, save_seconds=seconds, heard=heard, kept=kept)
        return Levels(plan, system, limits).run(kernel, learned)

    report = check_with(system, replace(given, part=Part(elsewhere=elsewhere), budget=whole.budget))
    if report.stopped_by is StopReason.LOST:
        report = replace(report, properties=dict.fromkeys(report.properties, "unknown"))
    return with_notes(report, [f"states were shared by {shards} workers"])
