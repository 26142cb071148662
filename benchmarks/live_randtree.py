"""RandTree under churn, with several historic bugs at once: inconsistent states by mode.

Nodes are killed, or lose power, and start again at once or soon. A step that breaks a property of
its node which held before it enters an inconsistent state. Those that begin with the news of a
broken connection, or with the start of a process, cannot be refused: they are counted apart.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Any

from live_modes import NETWORK, PREDICTING, Measured, Pace, counts, steered

from presage.execution.sandbox import Sandbox
from presage.model.world.snapshot import Local
from presage.model.world.system import System
from presage.runtime.check import can_be_refused
from presage.runtime.foresight import Question
from presage.runtime.step import Record
from presage.runtime.verdicts import Verdicts
from presage.runtime.virtual import Station
from presage.search.predict import Predictor
from presage.systems import randtree
from presage.systems.randtree.bugs import PROFILES

NODES, DEGREE = 25, 2
BUGS = {
    "three": ("CB-RT1", "CB-RT2", "CB-RT4"),
    "five": ("CB-RT1", "CB-RT2", "CB-RT4", "CB-RT6", "CB-RT7"),
}
SETTLED = 30.0  # seconds before the first node is killed
PAUSES = (0.0, 0.05, 0.3, 2.0)  # seconds until it starts again


@dataclass(frozen=True)
class Kill:
    """A node ends, and another process of it starts."""

    at: float
    node: str
    silently: bool  # as by a loss of power: nobody is told
    pause: float


def churn(seed: int, seconds: float, every: float, names: tuple[str, ...]) -> list[Kill]:
    """The schedule of a seed, the same in all modes."""
    chance = random.Random(f"churn {seed}")
    found, at = [], SETTLED
    while at < seconds - max(PAUSES):
        silently = chance.random() < 0.5
        found.append(Kill(at, chance.choice(names), silently, chance.choice(PAUSES)))
        at += every
    return found


def buggy(bugs: tuple[str, ...]) -> System:
    """RandTree without the mendings of all these bugs."""
    lacks = frozenset[str]().union(*(PROFILES[bug] for bug in bugs))
    system = randtree.system(nodes=NODES, degree=DEGREE)
    for service in system.nodes.values():
        service.missing = lacks
    return System(
        nodes=dict(system.nodes),
        streams=system.streams,
        faults=system.faults,
        properties=list(system.properties),
        name=system.name,
    )


class Watching:
    """Counts the inconsistent states that are entered, and how long it takes to join."""

    def __init__(self, cluster: Measured) -> None:
        self.cluster = cluster
        self.steps = self.preventable = self.unpreventable = 0
        self.joins: list[float] = []
        self._verdicts = Verdicts(cluster.system)
        self._began: dict[str, float] = {}
        cluster.on_commit.append(self._committed)
        cluster.on_boot.append(self._boot)

    def _boot(self, station: Station) -> None:
        self._began[station.name] = self.cluster.now

    def _committed(self, name: str, record: Record) -> None:
        self.steps += 1
        if record.before == record.after:
            return
        automaton = self.cluster.node(name).automaton
        at = automaton.positions["phase"]
        joined = automaton.codec.decode(record.after[at]) == "joined"
        if name in self._began and joined:
            self.joins.append(self.cluster.now - self._began.pop(name))
        index = automaton.index
        new = self._broken(index, record.after) - self._broken(index, record.before)
        new |= {"no_exception"} if record.failure else set()
        if can_be_refused(index, record.stimulus):
            self.preventable += len(new)
        else:
            self.unpreventable += len(new)

    def _broken(self, index: int, local: Local) -> set[str]:
        """The properties of one node that do not hold: none of RandTree's needs another node."""
        system, live = self.cluster.system, self.cluster.automata[index].codec
        known: list[Local | None] = [None] * len(system.names)
        values = [live.decode(value) for value in local]
        known[index] = tuple(system.codec.encode_fields(values))
        return {each.prop for each in self._verdicts.broken(known)}


def run(bugs: str, mode: str, seed: int, seconds: float, every: float, pace: Pace) -> Any:
    """One run; what came of it."""
    system = buggy(BUGS[bugs])
    cluster = Measured(system, seed=seed, shape=NETWORK)
    began = time.process_time()
    with steered(cluster, mode, pace) as steering:
        watching = Watching(cluster)
        for kill in churn(seed, seconds, every, system.names):
            end = cluster.vanish if kill.silently else cluster.kill
            cluster.at(kill.at, lambda end=end, node=kill.node: end(node))
            cluster.at(kill.at + kill.pause, lambda node=kill.node: cluster.start(node))
        cluster.run(seconds)
    found = counts(steering)
    changed = found.get("filtered", 0) + found.get("refused", 0)
    joins = sorted(watching.joins)
    traffic = cluster.traffic
    return {
        "steps": watching.steps,
        "preventable": watching.preventable,
        "unpreventable": watching.unpreventable,
        "changed": changed,
        "share": changed / (watching.steps + changed),
        "p50": joins[len(joins) // 2],
        "p95": joins[len(joins) * 95 // 100],
        "checkpoint": traffic.size["CHECKPOINT"] / max(1, traffic.count["CHECKPOINT"]),
        "cpu": time.process_time() - began,
        "counts": {name: count for name, count in found.items() if count},
    }


def depths(seconds: float, deadline: float, samples: int) -> list[Any]:
    """How far one sees from live states of a tree without bugs, cold and warm."""
    system = buggy(())
    cluster = Measured(system, seed=1, shape=NETWORK)
    questions: list[Question] = []
    with steered(cluster, PREDICTING[0], Pace(10.0, 0.001)) as steering:
        assert steering is not None and steering.foresight is not None
        answer = steering.foresight.answer

        def noted(question: Question, node: str) -> Any:
            questions.append(question)
            return answer(question, node)

        steering.foresight.answer = noted  # type: ignore[method-assign]
        for kill in churn(1, seconds, 10.0, system.names):
            cluster.at(kill.at, lambda node=kill.node: cluster.kill(node))
            cluster.at(kill.at + kill.pause, lambda node=kill.node: cluster.start(node))
        cluster.run(seconds)
    chance = random.Random(1)
    late = questions[len(questions) // 3 :]
    found = []
    with Sandbox() as sandbox:
        for question in chance.sample(late, min(samples, len(late))):
            predictor = Predictor(system, sandbox)  # each from a cold kernel
            seen = predictor.predict(
                question.snapshot, outside=question.outside, observed=False, seconds=deadline
            )
            bounded = next((lane for lane in seen.lanes if lane.own_events == 1), None)
            assert bounded is not None and seen.path is None
            found.append(
                {
                    "members": len(system.names) - len(question.outside),
                    "depth": bounded.depth,
                    "states": bounded.states,
                    "bytes": bounded.size,
                    "seconds": bounded.seconds,
                    "whole": bounded.stopped_by is None,
                    "unbounded": max(
                        (lane.depth for lane in seen.lanes if lane.own_events is None), default=0
                    ),
                }
            )
    return found
