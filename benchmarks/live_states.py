"""From a state in the middle of a calm run, is the violation predicted within a second?

A live system is in such a state before a bug shows: it has run for a while, messages are on their
way, nothing has failed yet. The run is a random walk by MaceMC's weights without faults, of the
version that has the bug. It ends in a live state, at rest, after `STEPS`, or where a safety
property breaks; prediction begins at a random step before that end. Used by `catalogue.py`.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from presage import World
from presage.model.weights import Weights
from presage.model.world.event import FAULT_KINDS, Step
from presage.model.world.snapshot import Snapshot
from presage.search.predict import predict

STEPS = 300  # of a run, at most
SECONDS = 1.0  # for one prediction
WEIGHTS = Weights(call=1)  # as rare as timers: requests come one by one


@dataclass
class Predicted:
    """What predictions of one bug gave."""

    seeds: int = 0
    seconds: list[float] = field(default_factory=list)  # of those that found it
    steps: list[int] = field(default_factory=list)  # from the state to the violation
    lanes: dict[str, int] = field(default_factory=dict)  # which found it
    clean: int = 0  # predictions that looked at all that can follow, and found nothing
    depths: list[int] = field(default_factory=list)  # how far those looked that did not

    def text(self) -> str:
        """As the table has it."""
        if not self.seeds:
            return "–"
        found = len(self.steps)
        seeds = self.seeds - self.clean
        if not found:
            far = f", to depth {median(self.depths):.0f}" if self.depths else ""
            return f"0/{seeds}{far}"
        lane = max(self.lanes, key=lambda each: self.lanes[each])
        far = f"steps {median(self.steps):.0f}, {median(self.seconds):.2f} s"
        return f"{found}/{seeds}, {lane}, {far}"


def live_state(system: Any, seed: int) -> Snapshot:
    """A state in the middle of a calm run."""
    draw = random.Random(seed)
    world = World.initial(system)
    always = [claim for claim in system.properties if claim.kind == "always"]
    live = [claim for claim in system.properties if claim.kind == "eventually"]
    states = [world.save()]
    while len(states) <= STEPS:
        step = _walk(world, draw)
        if step is None or step.failure or not all(claim(world.view()) for claim in always):
            break
        states.append(world.save())
        if live and all(claim(world.view()) for claim in live):
            break
    return states[draw.randrange(len(states))]


def _walk(world: World, draw: random.Random) -> Step | None:
    """One event that is no fault; None if there is none."""
    events = [event for event in world.enabled() if event.kind not in FAULT_KINDS]
    ways = [(event, odds) for event in events if (odds := world.odds(event))]
    if not ways:
        return None
    event, odds = draw.choices(ways, [_weight(world, event) for event, _ in ways])[0]
    runs, shares = zip(*odds, strict=True)
    return world.apply(event, draw.choices(runs, shares)[0])


def _weight(world: World, event: Any) -> float:
    kind = "deliver" if event.kind == "receive" else event.kind
    if kind in ("timer", "action"):
        shape = world.system.automata[world.system.index(event.node)].shape
        declared = (shape.timers if kind == "timer" else shape.actions)[event.name].weight
        return WEIGHTS.of(kind) if declared is None else declared
    return WEIGHTS.of(kind)


def foresee(system: Any, prop: str, seeds: int) -> Predicted:
    """Predict from a live state of each seed; only violations of `prop` count."""
    predicted = Predicted(seeds)
    lanes: Counter[str] = Counter()
    for seed in range(seeds):
        prediction = predict(system, live_state(system, seed), seconds=SECONDS)
        path = prediction.path
        if path is not None and prop == (path.prop.name if path.prop else "no_exception"):
            predicted.seconds.append(prediction.seconds)
            predicted.steps.append(len(path.steps))
            lanes[prediction.found_by] += 1
        elif prediction.exhausted:
            predicted.clean += 1
        else:
            predicted.depths.append(prediction.depth)
    predicted.lanes = dict(lanes)
    return predicted
