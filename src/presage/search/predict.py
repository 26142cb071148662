"""Predict: what may go wrong from here, within a deadline.

The search begins in a saved state and goes breadth first, in lanes. In a lane with the bound k each
event that nobody caused (a timer, an action, a call, a write, a fault) is tried at most k times for
each of its effects; k = 1 is consequence prediction (CrystalBall, Yabandeh et al., 2009). It goes
deep in no time and misses what a larger k finds, so k is doubled, and each lane runs to its end.
What is left of the deadline goes to a lane without bound. Neither kind of lane contains the other.
A second thread, where there is one, begins with k = 2, for half of the time, and goes on without.

Invariant: a path is returned only if live code, restored from the state, takes it and breaks the
property. That nothing was found says so much and no more: `exhausted` is true only if a lane ended
and left nothing out.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import count
from threading import Thread
from types import TracebackType
from typing import Any

from presage._core import Halt, Kernel, cores, resident_mib
from presage._results import Finding, Outcome
from presage.execution.confirm import Confirmed, confirm
from presage.execution.origin import saved_origin
from presage.execution.sandbox import NOW, Sandbox
from presage.execution.services import ServiceExecution
from presage.limits import KernelFilter, KernelOrigin, Limits, PredictionPlan
from presage.model.world.faults import Faults
from presage.model.world.filters import Filter
from presage.model.world.origin import channels, links
from presage.model.world.snapshot import Snapshot
from presage.model.world.system import System
from presage.search.findings import traced_violation
from presage.search.kept_kernels import KERNELS_MAX, Kernels, group
from presage.search.kernel.bridge import Bridge
from presage.search.known_paths import Known, replayed
from presage.search.prediction import Lane, Prediction
from presage.search.report import Violation

SECONDS_DEFAULT = 1.0
MEMORY_DEFAULT = 64  # MiB
OWN_EVENTS_MAX = 1 << 20  # the last bound that is tried
CLEAN_MAX = 4096  # states that are remembered
AT_REST = ("eventually", "deadlock")  # kinds of properties that are judged there
KNOWN = "known path"


def predict(
    system: System,
    snapshot: Snapshot,
    *,
    outside: Collection[str] = (),
    observed: bool = True,
    filters: Collection[Filter] = (),
    known: Sequence[Known] = (),
    seconds: float = SECONDS_DEFAULT,
    memory: int = MEMORY_DEFAULT,
    faults: Faults | None = None,
    threads: int | None = None,
) -> Prediction:
    """Look for what may break a property of `system` after `snapshot`; see `Predictor.predict`."""
    with Predictor(system) as predictor:
        return predictor.predict(
            snapshot,
            outside=outside,
            observed=observed,
            filters=filters,
            known=known,
            seconds=seconds,
            memory=memory,
            faults=faults,
            threads=threads,
        )


def traced(
    prediction: Prediction, target: str | None = None, parameters: Mapping[str, Any] | None = None
) -> Violation | None:
    """What is predicted, with a trace that begins where the prediction does; None if nothing is."""
    if prediction.path is None:
        return None
    origin = saved_origin(prediction.system)
    named = {"target": target, "parameters": parameters or {}, "seed": 0, "origin": origin}
    return traced_violation(prediction.system, named, prediction.path)


class Predictor:
    """Predicts again and again: what it has learnt of a system stays from one to the next.

    A context manager, because checked code is watched while it runs.
    """

    def __init__(
        self, system: System, sandbox: Sandbox | None = None, kernels: int = KERNELS_MAX
    ) -> None:
        """`kernels`: how many are kept, one for all systems with the same nodes outside."""
        self.system = system
        self._sandbox = sandbox or Sandbox()
        self._own = sandbox is None
        self._kernels = Kernels(system, self._sandbox, kernels)
        self._clean: OrderedDict[Any, tuple[float, Prediction]] = OrderedDict()
        self._halt = Halt()

    def __enter__(self) -> Predictor:
        if self._own:
            self._sandbox.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._own:
            self._sandbox.__exit__(kind, error, traceback)

    def stop(self) -> None:
        """End the prediction that runs, if one does; for another thread to call."""
        self._halt.set()

    def predict(
        self,
        snapshot: Snapshot,
        *,
        outside: Collection[str] = (),
        observed: bool = True,
        filters: Collection[Filter] = (),
        known: Sequence[Known] = (),
        seconds: float = SECONDS_DEFAULT,
        memory: int = MEMORY_DEFAULT,
        faults: Faults | None = None,
        threads: int | None = None,
        leaving: Collection[str] = (),
        states: int | None = None,
    ) -> Prediction:
        """Look for a path from `snapshot` that breaks a property.

        `outside`: nodes of which nothing is known, `observed`: whether observers are up to date.
        `filters` refuse events. `known` are paths that broke something before: they are tried
        first. `memory`: MiB that this may add to the process. `faults` are those to come; left
        out, each that the system may have, once, and what happens to any stream. `threads`: at
        most 2 are used; left out, as many as there are cores. `leaving`: properties that are not
        looked at. `states`: how many each lane may meet; on one thread, and with time enough, what
        is found then does not depend on the machine.
        """
        began = NOW()
        self._halt = Halt()
        begun = self._kernels.begin(snapshot, outside, observed, filters, faults)
        run = ServiceExecution.begin(begun, self._sandbox, ())
        broken = _broken(begun, run)
        left = frozenset(leaving)
        key = (group(begun), begun.origin.filters, run.initial, left, states)
        remembered = self._recall(key, seconds)
        paths = known if remembered is None or not remembered.complete else ()
        found = self._first(begun, paths, broken | left)
        if found is not None:
            still = tuple(sorted(broken))
            return Prediction(begun, found, KNOWN, broken=still, seconds=NOW() - began)
        if remembered is not None:
            return replace(remembered, system=begun, seconds=NOW() - began, remembered=True)
        race = _Race(self, begun, broken, left, began + seconds, memory, states)
        race.run(min(cores(), 2) if threads is None else threads)
        prediction = race.prediction(began)
        if prediction.path is None and (prediction.complete or not prediction.interrupted):
            self._remember(key, seconds, prediction)
        return prediction

    def _first(self, begun: System, paths: Sequence[Known], broken: set[str]) -> Confirmed | None:
        """The first of some paths that can be taken here, and breaks what is not broken."""
        tried = (replayed(begun, self._sandbox, path, broken) for path in paths)
        return next((found for found in tried if found is not None), None)

    def kernel(self, begun: System) -> tuple[Bridge, Kernel]:
        """The kernel for systems begun like this one, and what answers it."""
        kept = self._kernels.of(begun)
        return kept.bridge, kept.kernel

    @property
    def sandbox(self) -> Sandbox:
        return self._sandbox

    @property
    def halt(self) -> Halt:
        return self._halt

    def _recall(self, key: Any, seconds: float) -> Prediction | None:
        asked, prediction = self._clean.get(key, (0.0, None))
        good = prediction is not None and (prediction.complete or asked >= seconds)
        return prediction if good else None

    def _remember(self, key: Any, seconds: float, prediction: Prediction) -> None:
        self._clean[key] = (seconds, replace(prediction, system=self.system))
        if len(self._clean) > CLEAN_MAX:
            self._clean.popitem(last=False)


class _Race:
    """The lanes of one prediction."""

    def __init__(
        self,
        predictor: Predictor,
        begun: System,
        broken: set[str],
        left: frozenset[str],
        end: float,
        memory: int,
        states: int | None,
    ) -> None:
        """`broken` are properties that do not hold to begin with, `left` those left out."""
        self._begun = begun
        self._broken = broken
        self._left = left
        self._end = end
        self._sandbox = predictor.sandbox
        self._halt = predictor.halt  # ends all of it
        self._over = Halt()  # one lane is enough
        self._bridge, self._kernel = predictor.kernel(begun)
        self._bridge.errors.clear()
        self._unjudged = unjudged(begun, broken | left)
        self._origin = kernel_origin(begun)
        self._filters = [kernel_filter(begun, each) for each in begun.origin.filters]
        self._memory_mib = (resident_mib() or 0) + memory
        self._states = states
        self._bounds = (1 << power for power in count())  # that no lane has had yet
        self._lanes: list[Lane] = []
        self._found: list[tuple[Lane, Finding]] = []
        self._error: BaseException | None = None

    def run(self, threads: int) -> None:
        """Run all lanes, until something is found, all is looked at, or time is over."""
        if threads < 2:
            if not self._doubling(self._half()):
                self._lane(None, self._end)
            return
        second = Thread(target=self._beside, name="presage-predict", daemon=True)
        next(self._bounds)  # the first one is for this thread
        second.start()
        try:
            if not self._doubling(self._end, 1):
                second.join()
        finally:
            self._over.set()
            second.join()
        if self._error is not None:
            raise self._error

    def _half(self) -> float:
        """When half of the time that is left is over."""
        return NOW() + max(0.0, self._end - NOW()) / 2

    def _beside(self) -> None:
        """What the second thread does: the next bound, in half of the time, then none.

        The first lane does not end in a large system, and what the next one finds is often near.
        """
        try:
            done, _ = self._lane(next(self._bounds), self._half())
            if done or self._lane(None, self._end)[0]:
                self._over.set()
        except BaseException as error:
            self._error = error
            self._over.set()

    def _doubling(self, end: float, first: int | None = None) -> bool:
        """Lanes with a bound, one after the other; true if there is nothing more to do."""
        own_events = next(self._bounds) if first is None else first
        while own_events <= OWN_EVENTS_MAX and NOW() < end:
            done, lane = self._lane(own_events, end)
            if done:
                return True
            if lane.stopped_by is not None or self._over.is_set():
                break
            own_events = next(self._bounds)
        return False

    def _lane(self, own_events: int | None, end: float) -> tuple[bool, Lane]:
        """One search; whether it found something or looked at everything, and what it was."""
        plan = PredictionPlan(own_events, self._filters, self._unjudged)
        seconds = max(0.0, end - NOW())
        limits = Limits(seconds=seconds, memory_mib=self._memory_mib, states=self._states)
        outcome = self._kernel.predict(self._origin, plan, limits, [self._halt, self._over])
        lane = _lane_of(own_events, outcome)
        self._lanes.append(lane)
        found = [each for each in outcome.found if self._breaks(each)]
        self._found += [(lane, each) for each in found]
        return bool(found) or lane.complete, lane

    def _breaks(self, finding: Finding) -> bool:
        return not finding.at or self._begun.judged[finding.at - 1].kind != "sometimes"

    def prediction(self, began: float) -> Prediction:
        """What came of it, the shortest path confirmed on live code."""
        path, found_by = None, ""
        if self._found:
            lane, finding = min(self._found, key=lambda each: len(each[1].events))
            path, found_by = confirm(self._begun, self._sandbox, finding), lane.name
        errors = self._bridge.errors
        outside = self._begun.outside
        unjudged = {
            prop.name
            for at, prop in enumerate(self._begun.properties, 1)
            if at in errors or (outside and prop.kind in AT_REST) or prop.name in self._left
        }
        return Prediction(
            self._begun,
            path,
            found_by,
            tuple(self._lanes),
            tuple(sorted(self._broken)),
            tuple(sorted(unjudged)),
            tuple(errors[at] for at in sorted(errors)),
            NOW() - began,
        )


def _lane_of(own_events: int | None, outcome: Outcome) -> Lane:
    return Lane(
        own_events,
        outcome.unique,
        outcome.generated,
        max(0, outcome.depth - 1),
        outcome.seconds,
        outcome.bytes,
        outcome.stopped_by,
        outcome.left_out,
    )


def _broken(begun: System, run: ServiceExecution) -> set[str]:
    """The properties of worlds that do not hold where executions begin."""
    every = (prop for prop in begun.properties if prop.kind == "always")
    return {prop.name for prop in every if run.breaks(prop)}


def unjudged(begun: System, broken: set[str]) -> list[int]:
    """The properties that are not judged: broken ones, and what rest means if some are outside."""
    return [
        at
        for at, prop in enumerate(begun.properties, 1)
        if prop.name in broken or (begun.outside and prop.kind in AT_REST)
    ]


def kernel_origin(begun: System) -> KernelOrigin:
    snapshot = begun.origin.snapshot
    unlimited = float("inf")
    return KernelOrigin(
        locals=snapshot.locals,
        observers=snapshot.observers,
        budgets=[-1 if each == unlimited else int(each) for each in snapshot.budgets],
        partition=snapshot.transport.partition,
        links=list(links(snapshot.transport)),
        mail=channels(begun, snapshot.transport),
    )


def kernel_filter(begun: System, each: Filter) -> KernelFilter:
    source = None if each.source is None else begun.index(each.source)
    return KernelFilter(begun.index(each.node), each.kind, each.name, source)
