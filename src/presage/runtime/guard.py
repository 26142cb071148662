"""The liveness guard: a filter that keeps a system safe by keeping it from ever getting on.

Before a filter is put in force, it is asked what would become of the system if it stayed for ever.
For each `eventually` property that does not hold now: is there, without faults, a way to where it
holds? If there is one without the filter and, as far as is looked, none with it, the filter kills
progress. Both searches begin in the same state and have the same bounds.

Invariant: a filter is refused only if progress was reached without it. That a way exists with it is
a fact; that none does is one only if the search was complete, and otherwise a judgement.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from presage.execution.sandbox import Sandbox
from presage.model.world.faults import Faults
from presage.model.world.filters import Filter
from presage.model.world.snapshot import Snapshot
from presage.model.world.system import System
from presage.props.property import Property, Verdict
from presage.records import NamedTuple
from presage.search.kept_kernels import KERNELS_MAX
from presage.search.predict import Predictor

SECONDS = 0.2  # for each search
UNHURRIED = 60.0  # seconds, for one that is bounded by states
NO_FAULTS = Faults()


class Starved(NamedTuple):
    """A property that a filter would keep from ever holding again."""

    prop: str
    certain: bool  # all that can follow was looked at


class Guard:
    """Judges filters of one system; what it learns of the system stays from one to the next."""

    def __init__(
        self, predictors: Sequence[tuple[str, Predictor]], states: int | None = None
    ) -> None:
        """`states`: that each search may meet, instead of what time allows."""
        self._predictors = predictors
        self._states = states
        self._asked: Any = None  # the snapshot of the last question, the nodes outside, the time
        self._free: dict[str, bool] = {}  # which properties can come true there without filters

    @classmethod
    def of(
        cls,
        system: System,
        sandbox: Sandbox,
        kernels: int = KERNELS_MAX,
        states: int | None = None,
    ) -> Guard:
        """A guard of all `eventually` properties of `system`."""
        return cls(
            [
                (prop.name, Predictor(_reaching(system, prop), sandbox, kernels))
                for prop in system.properties
                if prop.kind == "eventually"
            ],
            states,
        )

    def starves(
        self,
        snapshot: Snapshot,
        filters: Sequence[Filter],
        *,
        outside: Sequence[str] = (),
        seconds: float = SECONDS,
    ) -> Starved | None:
        """The first property that `filters`, in force for ever, would keep from holding."""
        asked = (snapshot, tuple(outside), seconds)
        if asked != self._asked:
            self._asked, self._free = asked, {}
        for name, predictor in self._predictors:
            if name not in self._free:
                self._free[name] = self._reached(predictor, snapshot, (), outside, seconds) is True
            if self._free[name]:
                reached = self._reached(predictor, snapshot, filters, outside, seconds)
                if reached is not True:
                    return Starved(name, reached is False)
        return None

    def _reached(
        self,
        predictor: Predictor,
        snapshot: Snapshot,
        filters: Sequence[Filter],
        outside: Sequence[str],
        seconds: float,
    ) -> bool | None:
        """Whether the property can come true; None: nothing was found, and not all looked at."""
        found = predictor.predict(
            snapshot,
            outside=outside,
            observed=False,
            filters=filters,
            seconds=seconds if self._states is None else UNHURRIED,
            faults=NO_FAULTS,
            threads=1,
            states=self._states,
        )
        if found.path is not None or found.broken:
            return True
        return False if found.complete and not found.unjudged and not outside else None


def _reaching(system: System, prop: Property) -> System:
    """`system` with one property, which breaks where `prop` holds."""

    def not_yet(world: Any) -> Verdict:
        return Verdict(not prop.judge(world).holds)

    derived = copy(system)
    claim = Property(f"no {prop.name}", "always", not_yet, source=prop.source)
    derived.properties = (claim,)
    derived.automata = derived.automata_of()
    return derived
