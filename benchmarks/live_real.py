"""RandTree as 25 processes under churn: real sockets, SIGKILL, and what the logs say afterwards.

The nodes are those of `presage up`, with the network of the virtual runs emulated in each of them.
Another thread kills and starts them by the commands that people have, after a schedule of the seed.
When all have ended, the log of every node is taken again, step by step, and each state is judged:
so what is counted rests on nothing that steering itself says.
"""

from __future__ import annotations

import contextlib
import os
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from live_modes import NETWORK, Pace
from live_randtree import BUGS, PAUSES, buggy
from msgspec import structs

from presage.errors import CommandRefused, NotRunning
from presage.model.world.snapshot import Local
from presage.model.world.system import System
from presage.runtime import up
from presage.runtime.check import can_be_refused
from presage.runtime.cluster import Cluster, Emulated, Steer
from presage.runtime.control import CONTROL, Request, ask
from presage.runtime.log import STEPS, read, states
from presage.runtime.process import Forked, Task
from presage.runtime.verdicts import Verdicts
from presage.search.checkpoint.code_digest import Definition

REAL_MODES = ("none", "check", "both")
SETTLED = 15.0  # seconds before the first node is killed
QUIET = 5.0  # seconds at the end in which nobody is killed
LOOK_EVERY = 0.5  # seconds; a killed node takes what it counted since with it
NICE = 10


def cluster_of(system: System, data: str, mode: str, seed: int, pace: Pace) -> Cluster:
    """25 addresses of this machine, the emulated network, and how nodes steer."""
    shape = Emulated(2000 * NETWORK.delay, 1000 * NETWORK.jitter, NETWORK.loss, seed=seed)
    steer = None
    if mode != "none":
        steer = Steer(every=pace.every, deadline=pace.deadline, predicts=mode == "both")
    return structs.replace(up.local_cluster(system.names, data), shape=shape, steer=steer)


class Churn:
    """Kills and starts nodes while they run, and notes what they count."""

    def __init__(self, cluster: Cluster, seed: int, seconds: float, every: float) -> None:
        self._cluster = cluster
        self._chance = random.Random(f"real churn {seed}")
        self._end = time.monotonic() + seconds - QUIET
        self._every = every
        self._over = threading.Event()
        self.kills = 0
        self.last: dict[tuple[str, int], dict[str, Any]] = {}  # by node and process

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """Goes on while nodes run."""
        threads = [threading.Thread(target=each) for each in (self._churn, self._watch)]
        for each in threads:
            each.start()
        try:
            yield
        finally:
            self._over.set()
            for each in threads:
                each.join()

    def _churn(self) -> None:
        self._over.wait(SETTLED)
        while not self._over.wait(self._every) and time.monotonic() < self._end:
            node, pause = (
                self._chance.choice(list(self._cluster.nodes)),
                self._chance.choice(PAUSES),
            )
            self._note(node)
            with contextlib.suppress(CommandRefused, NotRunning):
                ask(self._cluster.data / CONTROL, Request("kill", node))
                self.kills += 1
                self._over.wait(pause)
                ask(self._cluster.data / CONTROL, Request("start", node))

    def _watch(self) -> None:
        while not self._over.wait(LOOK_EVERY):
            for node in self._cluster.nodes:
                self._note(node)

    def _note(self, node: str) -> None:
        with contextlib.suppress(CommandRefused, NotRunning):
            found = ask(self._cluster.folder_of(node) / CONTROL, Request("status"))
            self.last[node, found["pid"]] = found

    def totals(self) -> Counter[str]:
        """What all processes counted, as far as it was noted before they ended."""
        total: Counter[str] = Counter()
        for facts in self.last.values():
            total.update({name: facts[name] for name in ("timers_fired", "timers_late")})
            total.update(facts.get("steering", {}))
        return total


class Judged:
    """What the log of each node says: inconsistent states entered, and how long joining took."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._verdicts = Verdicts(system)
        self.steps = self.preventable = self.unpreventable = 0
        self.joins: list[float] = []

    def take(self, path: Path) -> None:
        """All steps of one node."""
        before: Local | None = None
        began, life = 0.0, 0
        for entry, after in states(self._system, read(path)):
            self.steps += 1
            if entry.life != life:
                began, life, before = entry.time, entry.life, None
            index = self._system.index(entry.node)
            automaton = self._system.automata[index]
            phase = self._system.codec.decode(after[automaton.positions["phase"]])
            if began and phase == "joined":
                self.joins.append(entry.time - began)
                began = 0.0
            new = self._broken(index, after) - (self._broken(index, before) if before else set())
            new |= {"no_exception"} if entry.failure else set()
            if can_be_refused(index, entry.stimulus(self._system.codec)):
                self.preventable += len(new)
            else:
                self.unpreventable += len(new)
            before = after

    def _broken(self, index: int, local: Local) -> set[str]:
        known: list[Local | None] = [None] * len(self._system.names)
        known[index] = local
        return {each.prop for each in self._verdicts.broken(known)}


def run(bugs: str, mode: str, seed: int, seconds: float, every: float, pace: Pace) -> Any:
    """One run of 25 processes; what came of it."""
    os.nice(NICE)
    system = buggy(BUGS[bugs])
    said: list[str] = []
    with tempfile.TemporaryDirectory() as data:
        cluster = cluster_of(system, data, mode, seed, pace)
        task = Task(system, Definition(system), cluster, seed, say=lambda text: None)
        churn = Churn(cluster, seed, seconds, every)
        ended = up.run(
            cluster, Forked(task), seconds=seconds, stops=(), say=said.append, beside=churn.beside
        )
        judged = Judged(system)
        for node in system.names:
            judged.take(cluster.folder_of(node) / STEPS)
    total, joins = churn.totals(), sorted(judged.joins)
    changed = total["filtered"] + total["refused"]
    return {
        "steps": judged.steps,
        "kills": churn.kills,
        "preventable": judged.preventable,
        "unpreventable": judged.unpreventable,
        "changed": changed,
        "share": changed / max(1, judged.steps + changed),
        "p50": joins[len(joins) // 2],
        "p95": joins[len(joins) * 95 // 100],
        "late": total["timers_late"] / max(1, total["timers_fired"]),
        "failed": len(ended.failed),
        "said": len(said),
        "counts": {name: count for name, count in total.items() if count},
    }
