"""`cycles`: endless executions that few delays lead to, found before the whole graph is known.

After Desai, Qadeer, Rajamani, "Iterative cycle detection via delaying explorers", 2015. The search
is the one by delays; the graph that it has met is looked at for cycles again and again.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

from presage._results import CycleOutcome
from presage.errors import BadSystem
from presage.limits import CyclePlan
from presage.model.world.system import System
from presage.props.property import Property
from presage.records import record
from presage.search.settings import Settings
from presage.trace.show import plural

NOT_STRONG = ("ndfs", "indfs", "map")  # know fairness only as far as it is weak
DEPTH_FIRST = ("ndfs", "indfs")


@record(frozen=True)
class Cycled:
    """How cycles were looked for."""

    algorithm: str
    passes: int  # how often the graph was looked at
    checked: int  # how many candidates were examined
    share: float  # of the seconds of the search that this took
    refining: float  # of the seconds of the search: for what the first round of passes left open

    def to_json(self) -> dict[str, Any]:
        return {
            "algorithm": self.algorithm,
            "passes": self.passes,
            "checked": self.checked,
            "share": self.share,
            "refining": self.refining,
        }

    def note(self) -> str:
        """What a report says of it."""
        passes = f"{self.passes:,} pass{'' if self.passes == 1 else 'es'} over the graph"
        text = f"cycles by {self.algorithm}: {passes}, {plural(self.checked, 'candidate')}"
        if self.algorithm in DEPTH_FIRST:  # which look while they explore
            return text
        text = f"{text}, {self.share:.0%} of the time"
        return f"{text}, {self.refining:.0%} for refinement" if self.algorithm == "map" else text


def claims(system: System) -> list[tuple[int, Property]]:
    """What has to hold again and again, by the number that the kernel knows it by."""
    every = enumerate(system.properties, 1)
    return [(at, prop) for at, prop in every if prop.kind == "eventually"]


def prepared(system: System, settings: Settings) -> System:
    """The system with the fairness asked for; refuses what the algorithm cannot look for."""
    if settings.search != "cycles":
        return system
    if settings.fairness is not None:
        system, every = copy(system), system.properties
        system.properties = tuple(replace(prop, fairness=settings.fairness) for prop in every)
    algorithm = settings.algorithm
    if not claims(system):
        raise BadSystem(
            "the search `cycles` is asked for, and the system has no `@eventually`",
            "only such a property says what an endless execution must not do",
            "add one, or use `--search delay`, which judges all others",
        )
    strong = [prop.name for _, prop in claims(system) if prop.fairness == "strong"]
    if algorithm in NOT_STRONG and strong:
        raise BadSystem(
            f"the algorithm `{algorithm}` is given, and `{strong[0]}` assumes strong fairness",
            "it looks for cycles that are fair to what is possible all the time, which is weak",
            "use `--fairness weak`, or `--algorithm scc`, which knows every fairness",
        )
    if algorithm in DEPTH_FIRST:
        _refuse_depth_first(settings)
    return system


def _refuse_depth_first(settings: Settings) -> None:
    """Refuse what one thread that goes depth first to the first cycle cannot do."""
    algorithm = settings.algorithm
    if settings.threads not in ("auto", 1):
        raise BadSystem(
            f"the algorithm `{algorithm}` is given with {settings.threads} threads",
            "it goes depth first, which one thread does",
            "leave out `--threads`, or use `--algorithm map`",
        )
    if settings.keep_going:
        raise BadSystem(
            f"the algorithm `{algorithm}` is given with `--keep-going`",
            "it ends where it finds the first cycle",
            "leave out `--keep-going`, or use `--algorithm map`",
        )
    if algorithm == "ndfs" and settings.delay.delays is not None:
        raise BadSystem(
            "the algorithm `ndfs` is given with a limit of delays",
            "it goes depth first through everything, whatever that costs",
            "leave out `--delays`, or use `--algorithm indfs`",
        )


def plan_of(system: System, settings: Settings) -> CyclePlan | None:
    """What the kernel is to look for; None if it is not to look for cycles."""
    if settings.search != "cycles":
        return None
    wanted = [(at, prop.fairness) for at, prop in claims(system)]
    return CyclePlan(settings.algorithm, wanted)


def cycled(algorithm: str, outcome: CycleOutcome | None, seconds: float) -> Cycled | None:
    """What the report says of a search that took so many seconds."""
    if outcome is None:
        return None
    share, refining = (min(1.0, part / seconds) for part in (outcome.seconds, outcome.refining))
    return Cycled(algorithm, outcome.passes, outcome.checked, share, refining)
