"""The report of a search that has done nothing yet: what is searched, and how."""

from __future__ import annotations

from presage.model.world.system import System
from presage.process.program import Program
from presage.search.report import Report
from presage.search.settings import Settings
from presage.version import VERSION


def empty_report(system: System | Program, settings: Settings) -> Report:
    """What every report begins with; no property was looked at."""
    seals = system.seals if isinstance(system, System) else ()
    nodes = system.nodes if isinstance(system, System) else system.processes
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
        assumes=tuple(map(str, seals)),
        nodes=len(nodes),
        system=system.name,
    )
