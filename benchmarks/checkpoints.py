"""How large checkpoints are, and what gathering them costs: RandTree, Chord and Bullet'.

All nodes run in one process on a virtual clock. Each gathers its neighbours every few seconds. Told
are the bytes of a checkpoint by itself, the bytes that were sent for it to somebody who has an
earlier one, and the bytes per second of a node. The numbers are exact: one seed gives one run.

    .venv/bin/python benchmarks/checkpoints.py [--seconds 240] [--every 10]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from statistics import median

from presage import System
from presage.runtime.delta import write
from presage.runtime.neighbours import Neighbours
from presage.runtime.shaping import Shape
from presage.runtime.station import Station
from presage.runtime.virtual import VirtualCluster
from presage.systems import bullet, chord, randtree

SYSTEMS: dict[str, Callable[[], System]] = {
    "RandTree, 25 nodes, degree 5": partial(randtree.system, nodes=25, degree=5, peers="root"),
    "RandTree, 25 nodes, degree 12": partial(randtree.system, nodes=25, degree=12, peers="root"),
    "Chord, 5 nodes": partial(chord.system, nodes=5),
    "Bullet', 10 nodes, 128 blocks": partial(bullet.system, nodes=10, blocks=128, queue=8),
    "Bullet', 20 nodes, 1,280 blocks": partial(bullet.system, nodes=20, blocks=1280, queue=8),
}


class Measured:
    """One run of one system."""

    def __init__(self, system: System, seconds: float, every: float) -> None:
        self.cluster = VirtualCluster(system, seed=1, shape=Shape(delay=0.065, jitter=0.01))
        self.cluster.on_boot.append(self._boot)
        self.neighbours: dict[str, Neighbours] = {}
        self.every = every
        self.seconds = seconds
        for at, name in enumerate(system.names):
            self.cluster.at(every * (1 + at / len(system.names)), partial(self._ask, name))
        self.cluster.run(seconds)

    def _boot(self, station: Station) -> None:
        assert station.host is not None
        self.neighbours[station.name] = Neighbours(station.host)

    def _ask(self, name: str) -> None:
        self.neighbours[name].gather()
        self.cluster.turn(name)
        self.cluster.at(self.cluster.now + self.every, partial(self._ask, name))

    def row(self) -> list[str]:
        """Sizes of a checkpoint, of what is sent for one, and what a node sends in a second."""
        taken = [each.checkpoints.advance() for each in self.neighbours.values()]
        index = self.cluster.system.names.index
        plain = [sum(map(len, checkpoint.local)) for checkpoint in taken]
        whole = [len(write(checkpoint, None, index)) for checkpoint in taken]
        spent = sum(each.gatherer.bucket.spent for each in self.neighbours.values())
        answers = sum(each.gatherer.answers for each in self.neighbours.values())
        rate = spent / self.seconds / len(self.neighbours)
        return [_range(plain), _range(whole), f"{spent / max(answers, 1):,.0f}", f"{rate:,.0f}"]


def _range(sizes: list[int]) -> str:
    return f"{min(sizes):,}-{max(sizes):,}, median {median(sizes):,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=240.0, help="of virtual time")
    parser.add_argument("--every", type=float, default=10.0, help="seconds between gatherings")
    options = parser.parse_args()
    print("| system | local state, B | whole checkpoint, B | sent for one, B | B/s of a node |")
    print("|---|---|---|---|---|")
    for name, make in SYSTEMS.items():
        row = Measured(make(), options.seconds, options.every).row()
        print(f"| {name} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
