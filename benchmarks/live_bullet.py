"""Bullet': how much longer a file takes with steering, and how many bytes checkpoints cost."""

from __future__ import annotations

import time
from typing import Any

from live_modes import Measured, Pace, checkpoint_kinds, counts, steered

from presage.runtime.shaping import Shape
from presage.runtime.step import Record
from presage.systems import bullet

RATE = 125_000.0  # bytes a second from one node to another: 1 Mbit/s
NETWORK = Shape(delay=0.065, jitter=0.01, loss=0.001, rate=RATE)
PATIENCE = 10_000.0  # seconds after which a download counts as stuck


def run(mode: str, seed: int, nodes: int, blocks: int, size: int, pace: Pace) -> Any:
    """One download by all nodes."""
    system = bullet.system(
        nodes=nodes,
        blocks=blocks,
        size=size,
        keep=False,
        children=3,
        limit=4,
        window=4,
        queue=8,
    )
    cluster = Measured(system, seed=seed, shape=NETWORK)
    whole, done = (1 << blocks) - 1, dict[str, float]()

    def note(name: str, record: Record) -> None:
        automaton = cluster.automata[0]
        at = automaton.positions["have"]
        if name not in done and automaton.codec.decode(record.after[at]) == whole:
            done[name] = cluster.now

    cluster.on_commit.append(note)
    began = time.process_time()
    with steered(cluster, mode, pace) as steering:
        while len(done) < nodes and cluster.now < PATIENCE:
            cluster.run(cluster.now + 1.0)
    traffic, times = cluster.traffic, sorted(done.values())
    added = sum(traffic.size[kind] for kind in checkpoint_kinds())
    return {
        "all": times[-1] if len(times) == nodes else None,
        "median": times[len(times) // 2],
        "checkpoint": traffic.size["CHECKPOINT"] / max(1, traffic.count["CHECKPOINT"]),
        "added": added / (added + traffic.size["MESSAGE"]),
        "rate": added / nodes / times[-1],
        "cpu": time.process_time() - began,
        "counts": {name: count for name, count in counts(steering).items() if count},
    }
